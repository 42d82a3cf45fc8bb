//! What runs on nodes: the registry of images, the processes of containers, the applications they are.

pub mod applications;
pub mod node;
pub mod process;
pub mod registry;
pub mod script;
