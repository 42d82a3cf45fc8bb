//! What objects look like on a terminal.

pub mod describe;
pub mod format;
pub mod row;
pub mod table;
pub mod tabs;
pub mod value;

pub use format::Format;
