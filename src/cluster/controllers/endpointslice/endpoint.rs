//! From a Pod to an endpoint: whether it counts, in which condition, at which ports.
//!
//! Models: `staging/src/k8s.io/endpointslice/utils.go: podToEndpoint, getEndpointPorts`,
//! `util/controller_utils.go: ShouldPodBeInEndpoints`, `trafficdist/trafficdist.go` (v1.36).
//! Leaves out: IPv6, hints of mode `Auto`.

use serde_json::{Value, json};

use crate::api::kinds::cluster::Node;
use crate::api::kinds::networking::{Endpoint, EndpointConditions, EndpointPort, Service, ServicePort};
use crate::api::kinds::pod::Pod;
use crate::cluster::service_target::{address_of, find_port, host_name_of, reference_to};

const ZONE: &str = "topology.kubernetes.io/zone";

/// What becomes of a Pod that the selector selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It takes requests.
    Ready,
    /// It is listed, but takes no requests.
    NotReady,
    /// It is listed, on its way out.
    Terminating,
    /// It has no address yet.
    NoAddress,
    /// It has ended.
    Finished,
}

/// What becomes of a Pod that the selector selects.
pub fn standing_of(service: &Service, pod: &Pod) -> Standing {
    match () {
        () if pod.is_finished() => Standing::Finished,
        () if address_of(pod).is_none() => Standing::NoAddress,
        () if service.spec.publish_not_ready_addresses => Standing::Ready,
        () if pod.meta.is_terminating() => Standing::Terminating,
        () if pod.is_ready() => Standing::Ready,
        () => Standing::NotReady,
    }
}

/// The endpoint of a Pod that counts; `None` for one that does not.
pub fn endpoint_of(service: &Service, pod: &Pod, node: Option<&Node>) -> Option<Endpoint> {
    let standing = standing_of(service, pod);
    if matches!(standing, Standing::NoAddress | Standing::Finished) {
        return None;
    }
    let zone = node.and_then(|node| node.meta.labels.get(ZONE)).cloned().unwrap_or_default();
    let mut endpoint = Endpoint {
        addresses: vec![address_of(pod)?.to_string()],
        conditions: EndpointConditions {
            ready: Some(standing == Standing::Ready),
            serving: Some(pod.is_ready()),
            terminating: Some(pod.meta.is_terminating()),
            ..EndpointConditions::default()
        },
        hostname: host_name_of(service, pod).to_string(),
        target_ref: Some(reference_to(pod)),
        node_name: pod.node_name.clone(),
        zone,
        ..Endpoint::default()
    };
    endpoint.rest.set("hints", hints(service, &endpoint));
    Some(endpoint)
}

/// Where clients are to prefer the endpoint, if the Service asks for closeness.
fn hints(service: &Service, endpoint: &Endpoint) -> Option<Value> {
    let distribution = service.spec.rest.get("trafficDistribution").and_then(Value::as_str)?;
    if !endpoint.is_ready() || endpoint.zone.is_empty() {
        return None;
    }
    let zones = json!([{"name": endpoint.zone}]);
    match distribution {
        "PreferClose" | "PreferSameZone" => Some(json!({"forZones": zones})),
        "PreferSameNode" => Some(json!({"forZones": zones, "forNodes": [{"name": &*endpoint.node_name}]})),
        _ => None,
    }
}

/// The ports of the Service as this Pod has them; a named port that the Pod lacks is left out.
pub fn ports_of(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let port = |port: &ServicePort| {
        Some(EndpointPort {
            name: port.name.clone(),
            protocol: port.protocol.clone(),
            port: Some(find_port(pod, port)?),
            app_protocol: port.app_protocol.clone(),
            ..EndpointPort::default()
        })
    };
    service.spec.ports.iter().filter_map(port).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::codec::Codec;

    fn service(value: Value) -> Service {
        Service::decode(json!({"metadata": {"name": "web"}, "spec": value})).unwrap()
    }

    /// A Pod with an address; words: `ready`, `terminating`, `no-address`, a phase.
    fn pod(words: &str) -> Pod {
        let mut pod = Pod::default();
        pod.status.phase = "Running".into();
        pod.status.pod_ip = "10.1.0.1".into();
        for word in words.split_whitespace() {
            match word {
                "ready" => pod.status.conditions.push(crate::api::kinds::pod::PodCondition {
                    condition_type: "Ready".into(),
                    status: "True".into(),
                    ..Default::default()
                }),
                "terminating" => pod.meta.deletion_timestamp = Some(Default::default()),
                "no-address" => pod.status.pod_ip = Default::default(),
                phase => pod.status.phase = phase.into(),
            }
        }
        pod
    }

    #[test]
    fn conditions_follow_readiness_and_deletion() {
        let table = [
            ("ready", "ready", false, Some([true, true, false])),
            ("not ready", "", false, Some([false, false, false])),
            ("not ready, but published", "", true, Some([true, false, false])),
            ("ready and terminating", "ready terminating", false, Some([false, true, true])),
            ("terminating, but published", "ready terminating", true, Some([true, true, true])),
            ("not ready and terminating", "terminating", false, Some([false, false, true])),
            ("pending with an address", "Pending", false, Some([false, false, false])),
            ("without an address", "ready no-address", false, None),
            ("ended well", "Succeeded", false, None),
            ("ended badly", "Failed", true, None),
        ];
        for (sentence, words, published, expected) in table {
            let service = service(json!({"publishNotReadyAddresses": published}));
            let got = endpoint_of(&service, &pod(words), None).map(|endpoint| {
                let conditions = endpoint.conditions;
                [conditions.ready, conditions.serving, conditions.terminating].map(Option::unwrap)
            });
            assert_eq!(got, expected, "{sentence}");
        }
    }

    #[test]
    fn a_target_port_is_looked_up_in_the_pod() {
        let port = |name: &str, number: i32| json!({"name": name, "containerPort": number});
        let sidecar = json!({"name": "s", "restartPolicy": "Always", "ports": [port("a", 80)]});
        let table = [
            ("a number needs no declaration", json!(93), json!({"containers": []}), Some(93)),
            ("a name that nobody declares", json!("p"), json!({"containers": [{"ports": []}]}), None),
            (
                "a name in the second container",
                json!("q"),
                json!({"containers": [{}, {"ports": [port("p", 22), port("q", 33)]}]}),
                Some(33),
            ),
            (
                "another protocol is another port",
                json!("a"),
                json!({"containers": [{"ports": [{"name": "a", "containerPort": 11, "protocol": "UDP"}]}]}),
                None,
            ),
            ("a sidecar counts", json!("a"), json!({"initContainers": [sidecar.clone()]}), Some(80)),
            (
                "a plain init container does not",
                json!("a"),
                json!({"initContainers": [{"ports": [port("a", 80)]}]}),
                None,
            ),
            (
                "a container counts before a sidecar",
                json!("a"),
                json!({"initContainers": [sidecar], "containers": [{"ports": [port("a", 81)]}]}),
                Some(81),
            ),
        ];
        for (sentence, target, spec, expected) in table {
            let service = service(json!({"ports": [{"port": 80, "protocol": "TCP", "targetPort": target}]}));
            let mut pod = pod("ready");
            pod.spec = Arc::new(Codec::decode(spec).unwrap());
            let got = ports_of(&service, &pod).first().and_then(|port| port.port);
            assert_eq!(got, expected, "{sentence}");
        }
    }

    #[test]
    fn an_endpoint_has_a_host_name_only_in_its_own_service() {
        let spec = |subdomain: &str| json!({"containers": [], "hostname": "db-0", "subdomain": subdomain});
        for (subdomain, expected) in [("web", "db-0"), ("other", ""), ("", "")] {
            let mut pod = pod("ready");
            pod.spec = Arc::new(Codec::decode(spec(subdomain)).unwrap());
            let endpoint = endpoint_of(&service(json!({})), &pod, None).unwrap();
            assert_eq!(endpoint.hostname, expected, "{subdomain}");
        }
    }
}
