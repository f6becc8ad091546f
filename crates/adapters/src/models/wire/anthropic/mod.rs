//! Anthropic's messages: <https://platform.claude.com/docs/en/api/messages>.

mod block;
mod decode;
mod encode;
mod messages;
mod stream;

pub use self::decode::decode;
pub(super) use self::encode::VERSION;
pub use self::encode::encode;
pub use self::stream::Stream;
