//! Admission: what the cluster's own rules add to an object or refuse.
//!
//! Models: the plugins NamespaceLifecycle, ServiceAccount, DefaultTolerationSeconds, DefaultIngressClass, Priority,
//! LimitRanger, PodSecurity and ResourceQuota, and what the
//! registries of Pod and Service fill in on creation (phase, QoS class, cluster IP, node ports).
//! Leaves out: what the plugins' own files say.

mod limits;
mod pod_security;
mod quota;

use std::sync::Arc;

use serde_json::{Value, json};

use super::status::{Cause, Status};
use super::transaction::Transaction;
use super::validate;
use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::ResourceList;
use crate::api::kinds::batch::Job;
use crate::api::kinds::cluster::{Namespace, Node};
use crate::api::kinds::networking::{Ingress, IngressClass, Service};
use crate::api::kinds::pod::{Pod, PodCondition, PodSpec, Toleration};
use crate::api::kinds::policy::ResourceQuota;
use crate::api::kinds::storage::{PersistentVolumeClaim, StorageClass};
use crate::api::kinds::stored::{LimitRange, PriorityClass, RuntimeClass, ServiceAccount};
use crate::api::kinds::workloads::DaemonSet;
use crate::api::meta::{ObjectKey, ObjectMeta};
use crate::api::object::{Object, Resource};
use crate::cluster::store::Store;
use crate::cluster::usage;

/// Fills in what the server owns of a new object.
///
/// # Errors
/// What the rules refuse.
pub fn on_create(transaction: &mut Transaction<'_>, object: &mut Object) -> Result<(), Status> {
    match object {
        Object::Pod(pod) => admit_pod(transaction, Arc::make_mut(pod))?,
        Object::Service(service) => admit_service(transaction, Arc::make_mut(service))?,
        Object::PersistentVolume(volume) => {
            let volume = Arc::make_mut(volume);
            volume.status.last_phase_transition_time = Some(transaction.now);
        }
        Object::PersistentVolumeClaim(claim) => {
            let claim = Arc::make_mut(claim);
            admit_claim(transaction.store, claim);
            for range in transaction.store.list_in::<LimitRange>(&claim.meta.namespace) {
                if let Some(why) = limits::refusal_of_claim(&range.encode(), claim) {
                    return Err(Status::forbidden(Kind::PersistentVolumeClaim, &claim.meta.name, &why));
                }
            }
        }
        Object::Job(job) => name_pods_of(Arc::make_mut(job)),
        Object::Namespace(namespace) => {
            let namespace = Arc::make_mut(namespace);
            refuse_labels(&namespace.meta.name, &pod_security::problems(&namespace.meta.labels))?;
            namespace.spec.finalizers = vec!["kubernetes".to_string()];
            namespace.status.phase = "Active".to_string();
            let name = namespace.meta.name.to_string();
            namespace.meta.labels.insert("kubernetes.io/metadata.name".to_string(), name);
        }
        Object::Deployment(deployment) => Arc::make_mut(deployment).status = Default::default(),
        Object::ReplicaSet(replicaset) => Arc::make_mut(replicaset).status = Default::default(),
        Object::ReplicationController(found) => Arc::make_mut(found).status = Default::default(),
        Object::Ingress(ingress) => {
            let ingress = Arc::make_mut(ingress);
            ingress.status = Default::default();
            name_class(transaction.store, ingress);
        }
        _ => {}
    }
    check_quotas(transaction, object)
}

/// Gives an Ingress that names no class the default one.
///
/// Models: `plugin/pkg/admission/network/defaultingressclass/admission.go` (v1.36).
fn name_class(store: &Store, ingress: &mut Ingress) {
    const IS_DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";
    const OLD_WAY: &str = "kubernetes.io/ingress.class";
    if ingress.spec.ingress_class_name.is_some() || ingress.meta.annotations.contains_key(OLD_WAY) {
        return;
    }
    let is_default = |class: &&Arc<IngressClass>| {
        class.meta.annotations.get(IS_DEFAULT).is_some_and(|value| value == "true")
    };
    // The youngest default wins, then the first by name.
    let classes = store.list::<IngressClass>().filter(is_default);
    let best = classes.min_by_key(|class| std::cmp::Reverse(class.meta.creation_timestamp));
    ingress.spec.ingress_class_name = best.map(|class| class.meta.name.to_string());
}

/// Refuses what would exceed a quota of its namespace.
fn check_quotas(transaction: &Transaction<'_>, object: &Object) -> Result<(), Status> {
    let namespace = &object.meta().namespace;
    let store = &transaction.store;
    let mut others: Option<Vec<(&Object, usage::Usage)>> = None;
    for one in store.list_in::<ResourceQuota>(namespace) {
        let one = one.encode();
        if !usage::covers(&one, object) {
            continue;
        }
        let others = others.get_or_insert_with(|| {
            store.objects_in(object.kind(), namespace).map(|other| (other, usage::usage_of(other))).collect()
        });
        let counted: Vec<&usage::Usage> =
            others.iter().filter(|(other, _)| usage::covers(&one, other)).map(|(_, usage)| usage).collect();
        if let Some(why) = quota::refusal(&one, object, &counted) {
            return Err(Status::forbidden(object.kind(), &object.meta().name, &why));
        }
    }
    Ok(())
}

/// Fills in what the server owns of a changed object.
///
/// # Errors
/// What the rules refuse.
pub fn on_update(transaction: &mut Transaction<'_>, old: &Object, new: &mut Object) -> Result<(), Status> {
    match (old, &*new) {
        (Object::Namespace(old), Object::Namespace(namespace)) => {
            let problems = pod_security::problems(&namespace.meta.labels);
            if problems != pod_security::problems(&old.meta.labels) {
                refuse_labels(&namespace.meta.name, &problems)?;
            }
        }
        (Object::PersistentVolumeClaim(old), Object::PersistentVolumeClaim(claim)) => {
            if !may_grow(transaction.store, old, claim) {
                let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
                return Err(Status::forbidden(Kind::PersistentVolumeClaim, &claim.meta.name, why));
            }
        }
        (Object::Pod(old), Object::Pod(pod)) if old.spec != pod.spec => {
            let namespace = transaction.store.get::<Namespace>("", &pod.meta.namespace);
            if let Some(why) = namespace.and_then(|namespace| pod_security::refusal(namespace, pod)) {
                return Err(Status::forbidden(Kind::Pod, &pod.meta.name, &why));
            }
        }
        _ => {}
    }
    if let (Object::DaemonSet(old), Object::DaemonSet(new)) = (old, &mut *new) {
        count_templates(old, Arc::make_mut(new));
    }
    if let (Object::Service(old), Object::Service(new)) = (old, new) {
        let new = Arc::make_mut(new);
        let takes_address = |service: &Service| service.spec.service_type != "ExternalName";
        if takes_address(old) && takes_address(new) && new.spec.cluster_ip.is_empty() {
            new.spec.cluster_ip = old.spec.cluster_ip.clone();
            new.spec.cluster_ips = old.spec.cluster_ips.clone();
        }
        let had = &old.spec.ports;
        if matches!(new.spec.service_type.as_str(), "NodePort" | "LoadBalancer") {
            for port in &mut new.spec.ports {
                if port.node_port == 0
                    && let Some(same) =
                        had.iter().find(|p| p.port == port.port && p.protocol == port.protocol)
                {
                    port.node_port = same.node_port;
                }
            }
        }
        return admit_service(transaction, new);
    }
    Ok(())
}

/// What admission warns of although it lets the object pass.
pub fn warnings(store: &Store, old: Option<&Object>, object: &Object) -> Vec<String> {
    pod_security::warnings(store, old, object)
}

/// Refuses a namespace whose labels mean no level of Pod security.
fn refuse_labels(name: &str, problems: &[validate::FieldError]) -> Result<(), Status> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(Kind::Namespace, name, problems.iter().map(validate::FieldError::cause).collect()))
}

/// Whether a claim that asks for more than before may have it: its class must allow that.
///
/// Models: `plugin/pkg/admission/storage/persistentvolume/resize/admission.go` (v1.36).
fn may_grow(store: &Store, old: &PersistentVolumeClaim, new: &PersistentVolumeClaim) -> bool {
    let size = |claim: &PersistentVolumeClaim| {
        let spec = claim.spec.encode();
        let text = spec["resources"]["requests"]["storage"].as_str().map(str::to_string);
        text.and_then(|text| crate::api::quantity::Quantity::parse(&text).ok()).unwrap_or_default()
    };
    if size(new) <= size(old) {
        return true;
    }
    let class = new.spec.storage_class_name.as_deref().unwrap_or_default();
    let class = store.get::<StorageClass>("", class);
    class.is_some_and(|class| class.encode()["allowVolumeExpansion"] == true)
}

/// Refuses to delete what must stay.
///
/// # Errors
/// 403 for the namespaces `default`, `kube-system` and `kube-public`.
pub fn on_delete(key: &ObjectKey) -> Result<(), Status> {
    let must_stay =
        key.kind == Kind::Namespace && matches!(&*key.name, "default" | "kube-system" | "kube-public");
    if must_stay {
        return Err(Status::forbidden(key.kind, &key.name, "this namespace may not be deleted"));
    }
    Ok(())
}

fn admit_pod(transaction: &mut Transaction<'_>, pod: &mut Pod) -> Result<(), Status> {
    pod.status = Default::default();
    pod.status.phase = "Pending".into();
    pod.status.qos_class = qos_class(&pod.spec).into();
    if pod.spec.has_scheduling_gates() {
        pod.status.conditions.push(PodCondition {
            condition_type: "PodScheduled".into(),
            status: "False".into(),
            reason: "SchedulingGated".into(),
            message: "Scheduling is blocked due to non-empty scheduling gates".into(),
            observed_generation: pod.meta.generation,
            ..PodCondition::default()
        });
    }
    if pod.is_bound() {
        add_topology_labels(transaction.store, pod);
    }
    if transaction.settings.service_account_admission {
        add_service_account(transaction, pod)?;
    }
    if let Some(class) = pod.spec.rest.get("runtimeClassName").and_then(Value::as_str) {
        let Some(class) = transaction.store.get::<RuntimeClass>("", class).cloned() else {
            let why = format!("pod rejected: RuntimeClass \"{class}\" not found");
            return Err(Status::forbidden(Kind::Pod, name_so_far(&pod.meta), &why));
        };
        add_runtime_class(pod, &class)?;
    } else if !pod.spec.overhead.is_empty() {
        let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(Status::forbidden(Kind::Pod, &pod.meta.name, why));
    }
    let lacks_default = default_tolerations().any(|toleration| !has_toleration(&pod.spec, &toleration.key));
    if lacks_default || pod.spec.priority.is_none() {
        let spec = Arc::make_mut(&mut pod.spec);
        for toleration in default_tolerations() {
            if !has_toleration(spec, &toleration.key) {
                spec.tolerations.push(toleration);
            }
        }
        if spec.priority.is_none() {
            let (priority, preemption) = priority_of(transaction, name_so_far(&pod.meta), spec)?;
            spec.priority = Some(priority);
            spec.rest.set("preemptionPolicy", Some(json!(preemption)));
        }
        if spec.rest.get("enableServiceLinks").is_none() {
            spec.rest.set("enableServiceLinks", Some(Value::Bool(true)));
        }
    }
    let ranges: Vec<Value> =
        transaction.store.list_in::<LimitRange>(&pod.meta.namespace).map(|range| range.encode()).collect();
    for range in &ranges {
        limits::fill(range, pod);
    }
    for range in &ranges {
        if let Some(why) = limits::refusal(range, pod) {
            return Err(Status::forbidden(Kind::Pod, &pod.meta.name, &why));
        }
    }
    if !ranges.is_empty() {
        // What a LimitRange fills in is judged together with what was there.
        let schema = crate::api::schema::root("", "v1", "Pod");
        let value = Object::Pod(Arc::new(pod.clone())).to_value();
        let errors = schema.map(|schema| validate::validate_create(schema, &value)).unwrap_or_default();
        if !errors.is_empty() {
            let causes = errors.iter().map(validate::FieldError::cause).collect();
            return Err(Status::invalid(Kind::Pod, &pod.meta.name, causes));
        }
        pod.status.qos_class = qos_class(&pod.spec).into();
    }
    share_spec(transaction.store, pod);
    let namespace = transaction.store.get::<Namespace>("", &pod.meta.namespace);
    match namespace.and_then(|namespace| pod_security::refusal(namespace, pod)) {
        Some(why) => Err(Status::forbidden(Kind::Pod, &pod.meta.name, &why)),
        None => Ok(()),
    }
}

/// Pods of one owner mostly have the same spec: they share one, so that a thousand of them do not cost a thousand.
fn share_spec(store: &Store, pod: &mut Pod) {
    let Some(owner) = pod.meta.controller() else { return };
    let sibling = store.owned_by(&owner.uid).find_map(Pod::from_object);
    if let Some(sibling) = sibling.filter(|sibling| sibling.spec == pod.spec) {
        pod.spec = Arc::clone(&sibling.spec);
    }
}

/// A changed template of a DaemonSet has a number of its own.
fn count_templates(old: &DaemonSet, new: &mut DaemonSet) {
    const GENERATION: &str = "deprecated.daemonset.template.generation";
    let before: i64 = old.meta.annotations.get(GENERATION).and_then(|text| text.parse().ok()).unwrap_or(0);
    let changed = i64::from(old.spec.template != new.spec.template);
    new.meta.annotations.insert(GENERATION.to_string(), (before + changed).to_string());
}

/// Where its node stands, as labels of the Pod.
///
/// Models: `plugin/pkg/admission/podtopologylabels`.
pub fn add_topology_labels(store: &Store, pod: &mut Pod) {
    const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];
    let Some(node) = store.get::<Node>("", &pod.node_name) else { return };
    for key in TOPOLOGY {
        if let Some(value) = node.meta.labels.get(key) {
            pod.meta.labels.insert(key.to_string(), value.clone());
        }
    }
}

/// What protects a claim, and its class if it names none.
///
/// Models: `plugin/pkg/admission/storage/storageobjectinuseprotection`, `storageclass/setdefault`.
fn admit_claim(store: &Store, claim: &mut PersistentVolumeClaim) {
    const PROTECTION: &str = "kubernetes.io/pvc-protection";
    const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
    if !claim.meta.finalizers.iter().any(|finalizer| finalizer == PROTECTION) {
        claim.meta.finalizers.push(PROTECTION.to_string());
    }
    claim.status.phase = "Pending".into();
    claim.spec.volume_mode.get_or_insert_with(|| "Filesystem".to_string());
    if claim.spec.storage_class_name.is_none() {
        let is_default = |class: &&Arc<StorageClass>| {
            class.meta.annotations.get(DEFAULT_CLASS).is_some_and(|value| value == "true")
        };
        // The youngest default wins, then the first by name.
        let classes = store.list::<StorageClass>().filter(is_default);
        let best = classes.min_by_key(|class| std::cmp::Reverse(class.meta.creation_timestamp));
        claim.spec.storage_class_name = best.map(|class| class.meta.name.to_string());
    }
}

/// What a Job made by a controller leaves out, and the selector and labels by which a Job finds its Pods.
fn name_pods_of(job: &mut Job) {
    let spec = &mut job.spec;
    if spec.completions.is_none() && spec.parallelism.is_none() {
        spec.completions = Some(1);
    }
    let limit = if spec.backoff_limit_per_index.is_some() { i32::MAX } else { 6 };
    spec.parallelism.get_or_insert(1);
    spec.backoff_limit.get_or_insert(limit);
    spec.suspend.get_or_insert(false);
    if spec.completion_mode.is_empty() {
        spec.completion_mode = "NonIndexed".to_string();
    }
    if spec.pod_replacement_policy.is_empty() {
        let policy = if spec.pod_failure_policy.is_null() { "TerminatingOrFailed" } else { "Failed" };
        spec.pod_replacement_policy = policy.to_string();
    }
    let is_manual = job.spec.rest.get("manualSelector") == Some(&Value::Bool(true));
    if is_manual || job.spec.selector.is_some() {
        return;
    }
    let labels = &mut job.spec.template.meta.labels;
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", &job.meta.uid),
        ("controller-uid", &job.meta.uid),
        ("batch.kubernetes.io/job-name", &job.meta.name),
        ("job-name", &job.meta.name),
    ] {
        labels.insert(key.to_string(), value.to_string());
    }
    if job.meta.labels.is_empty() {
        job.meta.labels = labels.clone();
    }
    let selector = job.spec.selector.get_or_insert_default();
    let uid = job.meta.uid.to_string();
    selector.match_labels.insert("batch.kubernetes.io/controller-uid".to_string(), uid);
}

/// What a class of runtimes adds to a Pod: the overhead, and the nodes that have such a runtime.
///
/// Models: `plugin/pkg/admission/runtimeclass` (v1.36).
fn add_runtime_class(pod: &mut Pod, class: &RuntimeClass) -> Result<(), Status> {
    let overhead = class.rest.get("overhead").map_or(Value::Null, |overhead| overhead["podFixed"].clone());
    let overhead =
        if overhead.is_null() { Ok(ResourceList::default()) } else { ResourceList::decode(overhead) };
    let overhead = overhead.unwrap_or_default();
    let refuse = |why: &str| Err(Status::forbidden(Kind::Pod, &pod.meta.name, why));
    if !pod.spec.overhead.is_empty() && pod.spec.overhead != overhead {
        return refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    let scheduling = class.rest.get("scheduling").cloned().unwrap_or_default();
    let selected = scheduling["nodeSelector"].as_object().cloned().unwrap_or_default();
    let tolerations = Vec::<Toleration>::decode(scheduling["tolerations"].clone()).unwrap_or_default();
    let conflict = selected
        .iter()
        .find(|(key, value)| pod.spec.node_selector.get(*key).is_some_and(|own| value.as_str() != Some(own)));
    if let Some((key, _)) = conflict {
        let class = &class.meta.name;
        return refuse(&format!(
            "pod rejected: conflict: runtimeClass.scheduling.nodeSelector[{key}] = {} of {class}; pod.spec.nodeSelector[{key}] = {}",
            selected[key].as_str().unwrap_or_default(),
            pod.spec.node_selector[key]
        ));
    }
    let spec = Arc::make_mut(&mut pod.spec);
    spec.overhead = overhead;
    for (key, value) in selected {
        spec.node_selector.insert(key, value.as_str().unwrap_or_default().to_string());
    }
    for toleration in tolerations {
        if !spec.tolerations.contains(&toleration) {
            spec.tolerations.push(toleration);
        }
    }
    Ok(())
}

/// A Pod's priority and whether it may displace others, by its priority class or the default one.
fn priority_of(transaction: &Transaction<'_>, name: &str, spec: &PodSpec) -> Result<(i32, String), Status> {
    let class_name = spec.rest.get("priorityClassName").and_then(Value::as_str).unwrap_or_default();
    let built_in = match class_name {
        "system-node-critical" => Some(2_000_001_000),
        "system-cluster-critical" => Some(2_000_000_000),
        _ => None,
    };
    if let Some(priority) = built_in {
        return Ok((priority, "PreemptLowerPriority".to_string()));
    }
    let is_meant = |class: &&Arc<PriorityClass>| match class_name {
        "" => class.rest.get("globalDefault") == Some(&Value::Bool(true)),
        _ => *class.meta.name == *class_name,
    };
    match transaction.store.list::<PriorityClass>().find(is_meant) {
        Some(class) => {
            let priority =
                class.rest.get("value").and_then(Value::as_i64).and_then(|value| value.try_into().ok());
            let preemption = class.rest.get("preemptionPolicy").and_then(Value::as_str);
            Ok((priority.unwrap_or(0), preemption.unwrap_or("PreemptLowerPriority").to_string()))
        }
        None if class_name.is_empty() => Ok((0, "PreemptLowerPriority".to_string())),
        None => {
            let why = format!("no PriorityClass with name {class_name} was found");
            Err(Status::forbidden(Kind::Pod, name, &why))
        }
    }
}

/// What a Pod is called before its name is made up, which is done between the admission that changes it and the one that checks.
fn name_so_far(meta: &ObjectMeta) -> &str {
    let is_made_up = !meta.generate_name.is_empty() && meta.name.starts_with(&*meta.generate_name);
    if is_made_up { &meta.generate_name } else { &meta.name }
}

/// What every Pod puts up with for five minutes, so that a short absence of its node costs nothing.
pub(super) fn default_tolerations() -> impl Iterator<Item = Toleration> {
    ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].into_iter().map(|key| Toleration {
        key: key.to_string(),
        operator: "Exists".to_string(),
        effect: "NoExecute".to_string(),
        toleration_seconds: Some(300),
        ..Toleration::default()
    })
}

fn has_toleration(spec: &PodSpec, key: &str) -> bool {
    let covers = |t: &Toleration| {
        (t.key == key || t.key.is_empty()) && (t.effect == "NoExecute" || t.effect.is_empty())
    };
    spec.tolerations.iter().any(covers)
}

/// The account, by default `default`, the secrets it pulls images with, and the volume with its token.
///
/// Models: `plugin/pkg/admission/serviceaccount/admission.go` (v1.36).
fn add_service_account(transaction: &mut Transaction<'_>, pod: &mut Pod) -> Result<(), Status> {
    const DEFAULT: &str = "default";
    let namespace = pod.meta.namespace.clone();
    if pod.spec.service_account_name.is_empty() {
        let spec = Arc::make_mut(&mut pod.spec);
        spec.service_account_name = DEFAULT.to_string();
        spec.rest.set("serviceAccount", Some(json!(DEFAULT)));
    }
    let name = pod.spec.service_account_name.clone();
    let account = transaction.store.get::<ServiceAccount>(&namespace, &name);
    // Every namespace has the account `default`, whether a controller has written it down or not.
    if account.is_none() && name != DEFAULT {
        let why = format!(
            "error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"
        );
        return Err(Status::forbidden(Kind::Pod, name_so_far(&pod.meta), &why));
    }
    let of_account = |field: &str| account.and_then(|account| account.rest.get(field)).cloned();
    let own = pod.spec.rest.get("automountServiceAccountToken").cloned();
    let mounts = own.or_else(|| of_account("automountServiceAccountToken")) != Some(Value::Bool(false));
    let secrets = of_account("imagePullSecrets");
    if mounts {
        let volume = format!("kube-api-access-{}", transaction.stream.name_suffix(5));
        mount_token(Arc::make_mut(&mut pod.spec), &volume);
    }
    if let (None, Some(secrets)) = (pod.spec.rest.get("imagePullSecrets"), secrets) {
        Arc::make_mut(&mut pod.spec).rest.set("imagePullSecrets", Some(secrets));
    }
    Ok(())
}

/// The volume with the token of a Pod's account, in every container that has nothing else there.
fn mount_token(spec: &mut PodSpec, volume: &str) {
    const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
    let mut volumes = spec.rest.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
    volumes.push(json!({
        "name": volume,
        "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
        ]},
    }));
    spec.rest.set("volumes", Some(Value::Array(volumes)));
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        let mut mounts =
            container.rest.get("volumeMounts").and_then(Value::as_array).cloned().unwrap_or_default();
        if mounts.iter().any(|mount| mount["mountPath"] == MOUNT_PATH) {
            continue;
        }
        mounts.push(json!({"name": volume, "readOnly": true, "mountPath": MOUNT_PATH}));
        container.rest.set("volumeMounts", Some(Value::Array(mounts)));
    }
}

/// `Guaranteed`, `Burstable` or `BestEffort`.
///
/// Models: `pkg/apis/core/v1/helper/qos.ComputePodQOS`.
fn qos_class(spec: &PodSpec) -> &'static str {
    let amounts = |list: &ResourceList| {
        ["cpu", "memory"].map(|name| list.get(name).filter(|amount| !amount.is_zero()).cloned())
    };
    let mut is_best_effort = true;
    let mut is_guaranteed = true;
    let mut count = |requests: &ResourceList, limits: &ResourceList| {
        let (requests, limits) = (amounts(requests), amounts(limits));
        is_best_effort &= requests.iter().chain(&limits).all(Option::is_none);
        is_guaranteed &= (0..2).all(|index| {
            limits[index].is_some() && (requests[index].is_none() || requests[index] == limits[index])
        });
    };
    match spec.rest.get("resources") {
        // What the Pod asks for as a whole stands in for what its containers ask for.
        Some(whole) if !whole["requests"].is_null() || !whole["limits"].is_null() => {
            let list = |name: &str| ResourceList::decode(whole[name].clone()).unwrap_or_default();
            count(&list("requests"), &list("limits"));
        }
        _ => spec
            .init_containers
            .iter()
            .chain(&spec.containers)
            .for_each(|container| count(&container.resources.requests, &container.resources.limits)),
    }
    match (is_best_effort, is_guaranteed) {
        (true, _) => "BestEffort",
        (false, true) => "Guaranteed",
        (false, false) => "Burstable",
    }
}

const NODE_PORTS: std::ops::Range<u32> = 30_000..32_768;

/// Allocates the cluster's address and node ports of a Service.
fn admit_service(transaction: &mut Transaction<'_>, service: &mut Service) -> Result<(), Status> {
    let service_type = service.spec.service_type.clone();
    if service_type == "ExternalName" {
        return Ok(());
    }
    let own_key = ObjectKey::new(Kind::Service, service.meta.namespace.clone(), service.meta.name.clone());
    let others = |transaction: &Transaction<'_>| -> Vec<Arc<Service>> {
        let is_other = |other: &&Arc<Service>| {
            other.meta.name != own_key.name || other.meta.namespace != own_key.namespace
        };
        transaction.store.list::<Service>().filter(is_other).cloned().collect()
    };
    if service.spec.cluster_ip.is_empty() {
        service.spec.cluster_ip = loop {
            let number = 256 + transaction.stream.below(65_536 - 512);
            let address = format!("10.96.{}.{}", number / 256, number % 256);
            // A change of a Service that has no address yet may meet itself, with none.
            if !transaction.store.list::<Service>().any(|other| other.spec.cluster_ip == address) {
                break address;
            }
        };
    } else if service.spec.cluster_ip != "None" {
        let address = service.spec.cluster_ip.clone();
        let is_in_range =
            address.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.octets()[..2] == [10, 96]);
        if !is_in_range {
            let cause = Cause {
                reason: "FieldValueInvalid",
                message: format!(
                    "Invalid value: [\"{address}\"]: failed to allocate IP {address}: the provided network does not match the current range"
                ),
                field: "spec.clusterIPs".to_string(),
            };
            return Err(Status::invalid(Kind::Service, &service.meta.name, vec![cause]));
        }
        if others(transaction).iter().any(|other| other.spec.cluster_ip == address) {
            let cause = Cause {
                reason: "FieldValueInvalid",
                message: format!(
                    "Invalid value: [\"{address}\"]: failed to allocate IP {address}: provided IP is already allocated"
                ),
                field: "spec.clusterIPs".to_string(),
            };
            return Err(Status::invalid(Kind::Service, &service.meta.name, vec![cause]));
        }
    }
    service.spec.cluster_ips = vec![service.spec.cluster_ip.clone()];
    for (field, value) in [("ipFamilies", json!(["IPv4"])), ("ipFamilyPolicy", json!("SingleStack"))] {
        if service.spec.rest.get(field).is_none() {
            service.spec.rest.set(field, Some(value));
        }
    }
    let wants_ports = service.spec.rest.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false));
    if service_type == "NodePort" || service_type == "LoadBalancer" {
        let mut taken: std::collections::BTreeSet<i32> = others(transaction)
            .iter()
            .flat_map(|other| other.spec.ports.iter().map(|port| port.node_port))
            .collect();
        for (index, port) in service.spec.ports.iter_mut().enumerate() {
            if port.node_port != 0 {
                if !NODE_PORTS.contains(&u32::try_from(port.node_port).unwrap_or(0)) {
                    let cause = Cause {
                        reason: "FieldValueInvalid",
                        message: format!(
                            "Invalid value: {}: provided port is not in the valid range. The range of valid ports is {}-{}",
                            port.node_port,
                            NODE_PORTS.start,
                            NODE_PORTS.end - 1
                        ),
                        field: format!("spec.ports[{index}].nodePort"),
                    };
                    return Err(Status::invalid(Kind::Service, &service.meta.name, vec![cause]));
                }
                if !taken.insert(port.node_port) {
                    let cause = Cause {
                        reason: "FieldValueInvalid",
                        message: format!(
                            "Invalid value: {}: provided port is already allocated",
                            port.node_port
                        ),
                        field: format!("spec.ports[{index}].nodePort"),
                    };
                    return Err(Status::invalid(Kind::Service, &service.meta.name, vec![cause]));
                }
                continue;
            }
            if service_type == "LoadBalancer" && !wants_ports {
                continue;
            }
            port.node_port = loop {
                let drawn = NODE_PORTS.start + transaction.stream.below(NODE_PORTS.end - NODE_PORTS.start);
                let drawn = i32::try_from(drawn).expect("node ports are below 32768");
                if taken.insert(drawn) {
                    break drawn;
                }
            };
        }
        let is_local = service.spec.external_traffic_policy == "Local";
        if service_type == "LoadBalancer"
            && is_local
            && service.spec.rest.get("healthCheckNodePort").is_none()
        {
            let drawn = loop {
                let drawn = NODE_PORTS.start + transaction.stream.below(NODE_PORTS.end - NODE_PORTS.start);
                let drawn = i32::try_from(drawn).expect("node ports are below 32768");
                if taken.insert(drawn) {
                    break drawn;
                }
            };
            service.spec.rest.set("healthCheckNodePort", Some(json!(drawn)));
        }
    }
    Ok(())
}
