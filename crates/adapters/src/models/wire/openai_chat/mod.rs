//! OpenAI's chat completions, and what others made of them.

mod chunk;
mod decode;
mod encode;
mod messages;
mod stream;
mod usage;

pub use self::decode::decode;
pub use self::encode::encode;
pub(super) use self::messages::{Source, check as check_images, size as size_of};
pub use self::stream::Stream;
