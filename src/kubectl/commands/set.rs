//! `kubectl set`: one feature of objects.

pub mod image;

use super::{Command, NOTHING, Run, later};

/// The commands below `set`.
pub const COMMANDS: &[Command] = &[
    later("env", "Update environment variables on a pod template"),
    Command {
        name: "image",
        about: "Update the image of a pod template",
        flags: image::FLAGS,
        run: Run::Does(image::run),
        ..NOTHING
    },
    later("resources", "Update resource requests/limits on objects with pod templates"),
    later("selector", "Set the selector on a resource"),
    later("serviceaccount", "Update the service account of a resource"),
    later("subject", "Update the user, group, or service account in a role binding or cluster role binding"),
];
