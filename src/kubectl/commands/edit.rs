//! `kubectl edit`: an object in the editor.
//!
//! The object is opened as a file; applying that file carries the change out, since the terminal does not wait for the
//! editor to be closed.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/edit/edit.go`, `pkg/cmd/util/editor` (v1.36).
//! Leaves out: several objects in one file, `--output-patch`, `--windows-line-endings`.

use super::{Call, Pending};
use crate::api::manifest;
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format;
use crate::kubectl::resources;

/// The flags of `edit`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::OUTPUT,
    flags::VALIDATE,
    flags::FIELD_MANAGER,
    flags::SAVE_CONFIG,
    &[
        Flag::long("output-patch", Takes::Nothing),
        Flag::long("subresource", Takes::Text),
        Flag::long("windows-line-endings", Takes::Nothing),
    ],
];

/// Opens objects in the editor.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let (objects, failures) = resources::targets(call)?;
    if let Some(failure) = Failure::all(failures) {
        return Err(failure);
    }
    for object in objects {
        let (kind, name) = (object.kind().printed(), object.meta().name.to_string());
        let file = format!("{}-{name}.yaml", object.kind().info().singular);
        let mut value = format::shown(&object);
        if let Some(map) = value.as_object_mut() {
            map.remove("status");
        }
        let text = manifest::to_yaml(&value);
        if !call.host.open(&file, &text) {
            return Err(Failure::error("unable to launch the editor \"vi\""));
        }
        call.say(format!("{kind}/{name} opened as {file}; change it, then run: kubectl apply -f {file}"));
    }
    Ok(None)
}
