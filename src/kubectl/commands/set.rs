//! `kubectl set`: one feature of objects.

pub mod env;
pub mod image;
pub mod resources;
pub mod selector;
mod template;

use super::{Command, NOTHING, Run, later};

/// The commands below `set`.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "env",
        about: "Update environment variables on a pod template",
        flags: env::FLAGS,
        run: Run::Does(env::run),
        ..NOTHING
    },
    Command {
        name: "image",
        about: "Update the image of a pod template",
        flags: image::FLAGS,
        run: Run::Does(image::run),
        ..NOTHING
    },
    Command {
        name: "resources",
        about: "Update resource requests/limits on objects with pod templates",
        flags: resources::FLAGS,
        run: Run::Does(resources::run),
        ..NOTHING
    },
    Command {
        name: "selector",
        about: "Set the selector on a resource",
        flags: selector::FLAGS,
        run: Run::Does(selector::selector),
        ..NOTHING
    },
    Command {
        name: "serviceaccount",
        aliases: &["sa"],
        about: "Update the service account of a resource",
        flags: selector::FLAGS,
        run: Run::Does(selector::service_account),
        ..NOTHING
    },
    later("subject", "Update the user, group, or service account in a role binding or cluster role binding"),
];
