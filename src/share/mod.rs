//! What leaves the page and comes back: links, and sessions as text. Pure: nothing is uploaded.

pub mod error;
pub mod link;
pub mod replay;
pub mod session;

pub use error::ShareError;
pub use replay::Replay;
pub use session::Shared;
