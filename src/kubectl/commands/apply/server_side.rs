//! `kubectl apply --server-side`: the server lays the file over the live object and keeps who manages what.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/apply/apply.go`, `k8s.io/client-go/util/csaupgrade/upgrade.go` (v1.36).
//! Leaves out: keeping the annotation of client-side applies up to date.

use serde_json::{Value, json};

use super::DryRun;
use crate::cluster::server::managed::{self, Manager};
use crate::cluster::server::request::{Request, Response, Verb};
use crate::kubectl::commands::Call;
use crate::kubectl::commands::create::field_validation;
use crate::kubectl::commands::files::Described;
use crate::kubectl::failure::Failure;

/// The manager of what was applied without the server's help.
const CLIENT_SIDE: &str = "kubectl-client-side-apply";

const ADVICE: &str = "\
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

/// Applies one object; hands back what it is now, and the word for it.
pub(super) fn apply(
    call: &mut Call,
    described: &Described,
    dry_run: DryRun,
) -> Result<(Value, &'static str), Failure> {
    super::check_name(described)?;
    let mut response = send(call, described, dry_run)?;
    call.pass_on(&response.warnings);
    if dry_run == DryRun::No
        && let Some(managers) = taken_over(call, &response.object)
    {
        let patch = json!({"metadata": {
            "managedFields": managed::write(managers),
            "resourceVersion": response.object["metadata"]["resourceVersion"],
        }});
        let mut request =
            Request::new(Verb::MergePatch, described.kind, &described.namespace, &described.name, patch);
        request.options.field_validation = field_validation(call);
        call.host.ask(request).map_err(|status| Failure::server(&status))?;
        response = send(call, described, dry_run)?;
    }
    if response.object["metadata"].get("deletionTimestamp").is_some() {
        call.warn(format!(
            "Warning: Detected changes to resource {} which is currently being deleted.",
            described.name
        ));
    }
    Ok((response.object, "serverside-applied"))
}

fn send(call: &mut Call, described: &Described, dry_run: DryRun) -> Result<Response, Failure> {
    let mut request = Request::new(
        Verb::Apply,
        described.kind,
        &described.namespace,
        &described.name,
        described.value.clone(),
    );
    request.options.dry_run = dry_run == DryRun::Server;
    request.options.force = call.flags.on("force-conflicts");
    request.options.field_validation = field_validation(call);
    call.host.ask(request).map_err(|status| match status.reason {
        "Conflict" => Failure::error(format!("{}\n{ADVICE}", status.message)),
        _ => Failure::server(&status),
    })
}

/// The managers when what was applied without the server's help becomes this manager's; `None` when nothing was.
fn taken_over(call: &Call, object: &Value) -> Option<Vec<Manager>> {
    let mut managers = managed::read(object["metadata"].get("managedFields"));
    let is_old = |manager: &Manager| {
        manager.name == CLIENT_SIDE && manager.operation == "Update" && manager.subresource.is_empty()
    };
    let old = managers.remove(managers.iter().position(is_old)?);
    let name = call.flags.text("field-manager").filter(|name| !name.is_empty()).unwrap_or("kubectl");
    let own = managers.iter_mut().find(|manager| manager.name == name && manager.operation == "Apply")?;
    own.fields = own.fields.union(&old.fields);
    Some(managers)
}
