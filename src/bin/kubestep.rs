//! The command line of Kubestep.
fn main() {}
