//! Small objects for the tests of this folder.

use crate::api::codec::Codec;
use crate::api::int_or_string::IntOrString;
use crate::api::kinds::networking::{
    Endpoint, EndpointPort, EndpointSlice, Ingress, ObjectReference, Service, ServicePort,
};
use crate::api::kinds::pod::Pod;
use crate::api::object::Object;
use crate::cluster::actor::Actor;
use crate::cluster::fact::FactId;
use crate::cluster::settings::Settings;
use crate::cluster::store::Store;
use crate::cluster::world::World;

/// A store with those objects, each with a uid and a revision.
pub fn store(objects: impl IntoIterator<Item = Object>) -> Store {
    let mut store = Store::default();
    for object in objects {
        put(&mut store, object);
    }
    store
}

/// Stores one more object.
pub fn put(store: &mut Store, mut object: Object) {
    if object.meta().uid.is_empty() {
        object.meta_mut().uid = format!("uid-{}", object.key()).into();
    }
    store.put(object, &Actor::Installer, FactId(0));
}

/// An object from JSON.
pub fn object(kind: crate::api::kind::Kind, value: serde_json::Value) -> Object {
    Object::decode(kind, value).expect("a well-formed object")
}

/// A Service with ports (name, port, target port) and the selector `app: NAME`.
pub fn service(namespace: &str, name: &str, ports: &[(&str, i32, i32)]) -> Service {
    let mut service = Service::default();
    service.meta.namespace = namespace.into();
    service.meta.name = name.into();
    service.meta.uid = format!("uid-Service {namespace}/{name}").into();
    service.spec.service_type = "ClusterIP".to_string();
    service.spec.cluster_ip = "10.96.0.50".to_string();
    service.spec.selector = [("app".to_string(), name.to_string())].into();
    service.spec.ports = ports
        .iter()
        .map(|&(name, port, target)| ServicePort {
            name: name.to_string(),
            protocol: "TCP".to_string(),
            port,
            target_port: IntOrString::Int(target),
            ..ServicePort::default()
        })
        .collect();
    service
}

/// A ready endpoint whose address is its Pod's name, on a node.
pub fn endpoint(pod: &str, node: &str) -> Endpoint {
    let target = ObjectReference {
        kind: "Pod".to_string(),
        namespace: "demo".into(),
        name: pod.into(),
        ..ObjectReference::default()
    };
    Endpoint {
        addresses: vec![pod.to_string()],
        node_name: node.into(),
        target_ref: Some(target),
        ..Endpoint::default()
    }
}

/// A slice of a Service, owned by it.
pub fn slice(service: &Service, ports: &[(&str, i32)], endpoints: Vec<Endpoint>) -> EndpointSlice {
    let mut slice = EndpointSlice { address_type: "IPv4".to_string(), endpoints, ..EndpointSlice::default() };
    slice.meta.namespace = service.meta.namespace.clone();
    slice.meta.name = format!("{}-abcde", service.meta.name).into();
    slice.meta.labels =
        [("kubernetes.io/service-name".to_string(), service.meta.name.to_string())].into_iter().collect();
    slice.meta.owner_references = vec![crate::api::meta::OwnerReference {
        kind: "Service".to_string(),
        name: service.meta.name.clone(),
        uid: service.meta.uid.clone(),
        controller: Some(true),
        ..crate::api::meta::OwnerReference::default()
    }]
    .into();
    slice.ports = ports
        .iter()
        .map(|&(name, port)| EndpointPort {
            name: name.to_string(),
            protocol: "TCP".to_string(),
            port: Some(port),
            ..EndpointPort::default()
        })
        .collect();
    slice
}

/// A running, ready Pod on a node with one container of that image.
pub fn pod(namespace: &str, name: &str, node: &str, ip: &str, image: &str) -> Pod {
    let value = serde_json::json!({
        "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-Pod {namespace}/{name}"), "labels": {"app": "api"}},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": image}]},
        "status": {
            "phase": "Running", "podIP": ip,
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0, "image": image, "imageID": "", "state": {"running": {}}}],
        },
    });
    Pod::decode(value).expect("a well-formed Pod")
}

/// An Ingress of class nginx with rules (host, path, path type, Service, port).
pub fn ingress(namespace: &str, name: &str, rules: &[(&str, &str, &str, &str, i32)]) -> Ingress {
    let rules: Vec<_> = rules
        .iter()
        .map(|(host, path, path_type, service, port)| {
            serde_json::json!({"host": host, "http": {"paths": [{
                "path": path, "pathType": path_type, "backend": {"service": {"name": service, "port": {"number": port}}},
            }]}})
        })
        .collect();
    let value = serde_json::json!({
        "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-Ingress {namespace}/{name}")},
        "spec": {"ingressClassName": "nginx", "rules": rules},
    });
    Ingress::decode(value).expect("a well-formed Ingress")
}

/// What a view borrows beside the store.
pub fn surroundings() -> (Settings, World) {
    (Settings::default(), World::default())
}
