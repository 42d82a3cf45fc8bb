//! `kubectl cluster-info`, `kubectl api-versions` and `kubectl top`: what the server says of itself.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/clusterinfo/clusterinfo.go`, `pkg/cmd/apiresources/apiversions.go` (v1.36).
//! Leaves out: `cluster-info dump`.

use super::{Call, Pending, config};
use crate::api::kind::Kind;
use crate::kubectl::failure::Failure;
use crate::kubectl::resources::{self, Narrowing};

/// Says where the control plane and the Services of the system are.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if let Some(word) = call.args.first() {
        let word = word.clone();
        return Err(Failure::error(format!("{} {word} is not in this release of Kubestep", call.path)));
    }
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
