//! `kubectl cluster-info`, `kubectl api-versions` and `kubectl top`: what the server says of itself.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/clusterinfo/clusterinfo.go`, `pkg/cmd/apiresources/apiversions.go` (v1.36).
//! Leaves out: the logs at the end of `cluster-info dump`, its files.

use super::{Call, Command, NOTHING, Pending, Run, config, raw};
use crate::api::kind::Kind;
use crate::api::manifest;
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources::{self, Narrowing};

/// Says where the control plane and the Services of the system are.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let narrowing = Narrowing {
        namespace: Some("kube-system".to_string()),
        labels: Some("kubernetes.io/cluster-service=true".to_string()),
        fields: None,
    };
    let found = resources::list(&*call.host, Kind::Service, &narrowing);
    let services = found.map_err(|status| Failure::server(&status))?;
    call.say(format!("Kubernetes control plane is running at {}", config::SERVER));
    for object in services {
        let name = object.meta().labels.get("kubernetes.io/name").cloned();
        let service = &object.meta().name;
        let port = match &object {
            crate::api::object::Object::Service(service) => {
                service.spec.ports.first().map(|port| port.name.clone()).unwrap_or_default()
            }
            _ => String::new(),
        };
        let target = if port.is_empty() { service.to_string() } else { format!("{service}:{port}") };
        call.say(format!(
            "{} is running at {}/api/v1/namespaces/kube-system/services/{target}/proxy",
            name.unwrap_or_else(|| service.to_string()),
            config::SERVER
        ));
    }
    call.say("\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.");
    Ok(None)
}

/// The commands below `cluster-info`.
pub const COMMANDS: &[Command] = &[Command {
    name: "dump",
    about: "Dump relevant information for debugging and diagnosis",
    flags: &[
        flags::OUTPUT,
        flags::ALL_NAMESPACES,
        &[Flag::long("namespaces", Takes::List), Flag::long("output-directory", Takes::Text)],
    ],
    run: Run::Does(dump),
    ..NOTHING
}];

/// Prints what the cluster holds of the kinds that matter, namespace after namespace.
fn dump(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let mut namespaces = call.flags.list("namespaces");
    if call.flags.on("all-namespaces") {
        namespaces =
            call.host.store().objects_of(Kind::Namespace).map(|it| it.meta().name.to_string()).collect();
    } else if namespaces.is_empty() {
        namespaces = vec!["kube-system".to_string(), call.namespace().to_string()];
        namespaces.dedup();
    }
    let mut addresses = vec!["/api/v1/nodes".to_string()];
    for namespace in &namespaces {
        for (group, kinds) in [
            ("api/v1", "events,replicationcontrollers,services"),
            ("apis/apps/v1", "daemonsets,deployments,replicasets"),
            ("api/v1", "pods"),
        ] {
            addresses.extend(kinds.split(',').map(|kind| format!("/{group}/namespaces/{namespace}/{kind}")));
        }
    }
    let as_yaml = call.flags.text("output") == Some("yaml");
    for address in addresses {
        let answer = raw::answer(&mut *call.host, 0, &address).map_err(|status| Failure::server(&status))?;
        if let raw::Answer::Json(value) = answer {
            let text = if as_yaml { manifest::to_yaml(&value) } else { manifest::to_json_pretty(&value) };
            call.output.stdout.push_str(&text);
        }
    }
    Ok(None)
}

/// The versions that the server speaks.
const VERSIONS: &str = "admissionregistration.k8s.io/v1
apiextensions.k8s.io/v1
apiregistration.k8s.io/v1
apps/v1
authentication.k8s.io/v1
authorization.k8s.io/v1
autoscaling/v1
autoscaling/v2
batch/v1
certificates.k8s.io/v1
coordination.k8s.io/v1
discovery.k8s.io/v1
events.k8s.io/v1
flowcontrol.apiserver.k8s.io/v1
networking.k8s.io/v1
node.k8s.io/v1
policy/v1
rbac.authorization.k8s.io/v1
resource.k8s.io/v1
scheduling.k8s.io/v1
storage.k8s.io/v1
v1";

/// Lists the versions that the server speaks.
pub fn versions(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("unexpected arguments: [{}]", call.args.join(" "))));
    }
    call.say(VERSIONS);
    Ok(None)
}
