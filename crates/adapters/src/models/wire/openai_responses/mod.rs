//! OpenAI's responses. Nothing is stored there: the conversation is sent whole, with the encrypted reasoning of its
//! own turn.

mod decode;
mod encode;
mod input;
mod item;
mod stream;

pub use self::decode::decode;
pub use self::encode::encode;
pub use self::stream::Stream;
