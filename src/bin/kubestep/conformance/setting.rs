//! What a recorder had set up beside the steps that it wrote down, read off the first state that shows it.

use serde_json::{Value, json};

use super::stage::Stage;

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn listed<'v>(step: &'v Value, kind: &str) -> impl Iterator<Item = &'v Value> {
    step.pointer(&format!("/state/{kind}")).and_then(Value::as_array).into_iter().flatten()
}

/// The entries `Kind/name` that a step says were created in it.
fn created(step: &Value) -> Vec<(&str, &str)> {
    let list = step.pointer("/state/created_this_step").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|entry| entry.as_str()?.split_once('/')).collect()
}

/// Whether the step itself makes that object.
fn makes(step: &Value, kind: &str, name: &str) -> bool {
    let manifest = text(step, "manifest");
    manifest.contains(&format!("kind: {kind}\n")) && manifest.contains(&format!("name: {name}\n"))
}

fn workload(kind: &str, name: &str, replicas: &Value, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": image}]},
            },
        },
    })
}

/// The objects that were there before the step began, though no step made them.
pub fn objects_before(stage: &Stage, step: &Value, about: &str) -> Vec<Value> {
    let image = listed(step, "Pod").map(|pod| text(pod, "image")).find(|image| !image.is_empty());
    let image = image.unwrap_or("nginx:1.27");
    let created = created(step);
    let mut objects = Vec::new();
    for set in listed(step, "StatefulSet") {
        let name = text(set, "name");
        if created.contains(&("StatefulSet", name)) && !makes(step, "StatefulSet", name) {
            let mut object = workload("StatefulSet", name, &set["replicas"], image);
            object["spec"]["serviceName"] = json!(name);
            if about.contains("OnDelete") {
                object["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
            }
            if about.contains("Parallel") {
                object["spec"]["podManagementPolicy"] = json!("Parallel");
            }
            if let Some(partition) = number_after(about, "partition ") {
                object["spec"]["updateStrategy"] =
                    json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
            }
            objects.push(object);
        }
    }
    for (name, replicas) in scaled_deployments(step) {
        let key = kubestep::api::meta::ObjectKey::new(
            kubestep::api::kind::Kind::Deployment,
            super::stage::NAMESPACE,
            name,
        );
        if stage.cluster.store.object(&key).is_none() && !makes(step, "Deployment", name) {
            objects.push(workload("Deployment", name, &json!(replicas), image));
        }
    }
    for (kind, name) in &created {
        if *kind == "ConfigMap" && !makes(step, "ConfigMap", name) && text(step, "do") != "start" {
            let entry = listed(step, "ConfigMap").find(|map| text(map, "name") == *name);
            let finalizers = entry.and_then(|map| map.get("finalizers")).cloned().unwrap_or(json!([]));
            objects.push(json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "finalizers": finalizers},
            }));
            continue;
        }
        let is_numbered = |set: &Value| name.starts_with(&format!("{}-", text(set, "name")));
        let is_bare = *kind == "Pod" && !name.contains('<') && !listed(step, "StatefulSet").any(is_numbered);
        if !is_bare || makes(step, "Pod", name) || matches!(text(step, "do"), "pod" | "create_pod" | "pod_up")
        {
            continue;
        }
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": image}]},
        });
        if let Some(claim) = text(step, "object").strip_prefix("persistentvolumeclaim/") {
            pod["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
        }
        objects.push(pod);
    }
    objects.extend(classes_in(text(step, "note")));
    objects.extend(volumes_in(step));
    objects
}

/// Deployments that a step's events say were scaled up from nothing, with their sizes.
fn scaled_deployments(step: &Value) -> Vec<(&str, u64)> {
    let events = step.pointer("/state/events").and_then(Value::as_array);
    let scaled = |event: &'_ Value| -> Option<(usize, usize)> {
        let line = event.as_str()?;
        line.find("Deployment/").zip(line.find(" ScalingReplicaSet: Scaled up replica set"))
    };
    let mut found = Vec::new();
    for event in events.into_iter().flatten() {
        let (Some((start, end)), Some(line)) = (scaled(event), event.as_str()) else { continue };
        let name = &line[start + "Deployment/".len()..end];
        if let Some(replicas) = number_after(line, " from 0 to ")
            && listed(step, "Pod").any(|pod| text(pod, "name").starts_with(&format!("{name}-")))
        {
            found.push((name, replicas));
        }
    }
    found
}

/// The number behind those words.
pub fn number_after(text: &str, words: &str) -> Option<u64> {
    let rest = &text[text.find(words)? + words.len()..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// `StorageClass fast: provisioner example.com/disk, Immediate`; `the same` means the provisioner of the recordings.
fn classes_in(note: &str) -> Option<Value> {
    let (name, rest) = note.strip_prefix("StorageClass ")?.split_once(": ")?;
    let (provisioner, mode) = rest.split_once(", ")?;
    let provisioner = provisioner.strip_prefix("provisioner ").unwrap_or("example.com/disk");
    Some(json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode,
    }))
}

/// `three PVs: big 10Gi, small 1Gi`: volumes like the one of the manifest.
fn volumes_in(step: &Value) -> Vec<Value> {
    let Some((_, list)) = text(step, "note").split_once(" PVs: ") else { return Vec::new() };
    let read = kubestep::api::manifest::parse(text(step, "manifest"));
    let Some(like) = read.documents.into_iter().next() else { return Vec::new() };
    let pairs = list.split(", ").filter_map(|pair| pair.split_once(' '));
    let volume = |(name, size): (&str, &str)| {
        let mut volume = like.value.clone();
        volume["metadata"]["name"] = json!(name);
        volume["spec"]["capacity"]["storage"] = json!(size);
        volume
    };
    pairs.filter(|(name, _)| !makes(step, "PersistentVolume", name)).map(volume).collect()
}

/// The nodes that a DaemonSet's Pods are found on once all of them are placed: these carry the labels it asks for.
pub fn nodes_of_daemons(later: &[Value]) -> Vec<String> {
    let placed = |step: &&Value| {
        let mut pods = listed(step, "Pod").peekable();
        pods.peek().is_some() && pods.all(|pod| !text(pod, "node").is_empty())
    };
    let mut nodes: Vec<String> = later
        .iter()
        .find(placed)
        .into_iter()
        .flat_map(|step| listed(step, "Pod"))
        .map(|pod| text(pod, "node").to_string())
        .collect();
    nodes.sort();
    nodes.dedup();
    nodes
}

/// The steps with the nodes in other places, for a case in which it is chance which node comes first: as recorded, then
/// every other order.
pub fn orders_of_nodes(steps: &[Value]) -> Vec<Vec<Value>> {
    let mut nodes = nodes_of_daemons(steps);
    nodes.truncate(4);
    let zone_of = |node: &str| {
        let entries = steps.iter().flat_map(|step| listed(step, "Pod"));
        let mut on_node = entries.filter(|pod| text(pod, "node") == node);
        on_node.find_map(|pod| pod.pointer("/labels/topology.kubernetes.io~1zone").cloned())
    };
    let zones: Vec<Option<Value>> = nodes.iter().map(|node| zone_of(node)).collect();
    let mut orders = Vec::new();
    permute(&mut (0..nodes.len()).collect::<Vec<_>>(), 0, &mut |order| {
        let mut steps = steps.to_vec();
        for step in &mut steps {
            let Some(Value::Array(pods)) = step.pointer_mut("/state/Pod") else { continue };
            for pod in pods {
                let Some(place) = nodes.iter().position(|node| *node == text(pod, "node")) else { continue };
                let other = order[place];
                pod["node"] = json!(nodes[other]);
                if let Some(zone) = &zones[other] {
                    pod["labels"]["topology.kubernetes.io/zone"] = zone.clone();
                }
            }
        }
        orders.push(steps);
    });
    orders
}

fn permute(items: &mut Vec<usize>, from: usize, visit: &mut impl FnMut(&[usize])) {
    if from >= items.len() {
        visit(items);
        return;
    }
    for place in from..items.len() {
        items.swap(from, place);
        permute(items, from + 1, visit);
        items.swap(from, place);
    }
}
