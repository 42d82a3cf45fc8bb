//! The kinds that the cluster knows, and those that somebody added.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};

/// How a kind is called and addressed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindInfo {
    /// `Deployment`.
    pub name: &'static str,
    /// `apps`; empty for the core group.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
    /// `deployments`.
    pub plural: &'static str,
    /// `deployment`.
    pub singular: &'static str,
    /// `deploy`.
    pub short_names: &'static [&'static str],
    /// Whether its objects stand in a namespace.
    pub namespaced: bool,
    /// Whether `kubectl get all` lists it.
    pub in_all: bool,
    /// Whether anything in the cluster acts on it; if not, its objects are judged and stored, and nothing more.
    pub simulated: bool,
}

/// A kind that somebody added: how it is called and addressed. Two are the same when they are called the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "CustomNames", into = "CustomNames")]
pub struct CustomKind(&'static Added);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Added {
    info: KindInfo,
    api_version: &'static str,
    short_list: &'static str,
}

impl CustomKind {
    /// `stable.example.com/v1`.
    pub fn api_version(self) -> &'static str {
        self.0.api_version
    }

    /// Its short names, separated by commas.
    pub fn short_list(self) -> &'static str {
        self.0.short_list
    }
}

/// What a kind that somebody added is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CustomNames {
    /// `CronTab`.
    pub name: String,
    /// `stable.example.com`.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// `crontabs`.
    pub plural: String,
    /// `crontab`.
    pub singular: String,
    /// `ct`.
    pub short_names: Vec<String>,
    /// Whether its objects stand in a namespace.
    pub namespaced: bool,
}

/// The most kinds that are remembered; what comes after them shares one.
const MAX_CUSTOM_KINDS: usize = 10_000;

impl From<CustomNames> for CustomKind {
    /// Names are remembered for as long as the program runs, each once.
    fn from(names: CustomNames) -> Self {
        static KNOWN: Mutex<Vec<&'static Added>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_same = |added: &&&'static Added| CustomNames::from(CustomKind(added)) == names;
        if let Some(added) = known.iter().find(is_same) {
            return Self(added);
        }
        let names = if known.len() < MAX_CUSTOM_KINDS { names } else { CustomNames::default() };
        let keep = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let api_version = keep(format!("{}/{}", names.group, names.version));
        let short_list = keep(names.short_names.join(","));
        let short_names: Vec<&'static str> = names.short_names.into_iter().map(keep).collect();
        let info = KindInfo {
            name: keep(names.name),
            group: keep(names.group),
            version: keep(names.version),
            plural: keep(names.plural),
            singular: keep(names.singular),
            short_names: Box::leak(short_names.into_boxed_slice()),
            namespaced: names.namespaced,
            in_all: false,
            simulated: false,
        };
        let added: &'static Added = Box::leak(Box::new(Added { info, api_version, short_list }));
        known.push(added);
        Self(added)
    }
}

impl From<CustomKind> for CustomNames {
    fn from(CustomKind(added): CustomKind) -> Self {
        let info = &added.info;
        Self {
            name: info.name.to_string(),
            group: info.group.to_string(),
            version: info.version.to_string(),
            plural: info.plural.to_string(),
            singular: info.singular.to_string(),
            short_names: info.short_names.iter().map(ToString::to_string).collect(),
            namespaced: info.namespaced,
        }
    }
}

macro_rules! kinds {
    ($( $(#[$doc:meta])* $name:ident: $group:literal $version:literal $plural:literal $singular:literal [$($short:literal),*] $scope:ident $($flag:ident)*; )*) => {
        /// A kind of object, in a fixed order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Kind {
            $( $(#[$doc])* $name, )*
            /// A kind that somebody added.
            Custom(CustomKind),
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[ $( Self::$name ),* ];

            /// How the kind is called and addressed.
            pub fn info(self) -> &'static KindInfo {
                match self { $( Self::$name => {
                    const INFO: KindInfo = KindInfo {
                    name: stringify!($name), group: $group, version: $version, plural: $plural, singular: $singular,
                    short_names: &[$($short),*], namespaced: kinds!(@scope $scope), in_all: false $(|| kinds!(@all $flag))*,
                    simulated: true $(&& kinds!(@simulated $flag))*,
                    };
                    &INFO
                } )*
                    Self::Custom(custom) => &custom.0.info,
                }
            }
        }
    };
    (@scope namespaced) => { true };
    (@scope cluster) => { false };
    (@all all) => { true };
    (@all stored) => { false };
    (@simulated all) => { true };
    (@simulated stored) => { false };
}

kinds! {
    /// A namespace.
    Namespace: "" "v1" "namespaces" "namespace" ["ns"] cluster;
    /// A node.
    Node: "" "v1" "nodes" "node" ["no"] cluster;
    /// A Pod.
    Pod: "" "v1" "pods" "pod" ["po"] namespaced all;
    /// A Service.
    Service: "" "v1" "services" "service" ["svc"] namespaced all;
    /// A Deployment.
    Deployment: "apps" "v1" "deployments" "deployment" ["deploy"] namespaced all;
    /// A ReplicaSet.
    ReplicaSet: "apps" "v1" "replicasets" "replicaset" ["rs"] namespaced all;
    /// A ConfigMap.
    ConfigMap: "" "v1" "configmaps" "configmap" ["cm"] namespaced;
    /// An event.
    Event: "" "v1" "events" "event" ["ev"] namespaced;
    /// A lease, the heartbeat of a node.
    Lease: "coordination.k8s.io" "v1" "leases" "lease" [] namespaced;
    /// A slice of a Service's endpoints.
    EndpointSlice: "discovery.k8s.io" "v1" "endpointslices" "endpointslice" [] namespaced;
    /// An Ingress.
    Ingress: "networking.k8s.io" "v1" "ingresses" "ingress" ["ing"] namespaced;
    /// A class of Ingresses.
    IngressClass: "networking.k8s.io" "v1" "ingressclasses" "ingressclass" [] cluster;
    /// A Service's endpoints in one object, as before EndpointSlices.
    Endpoints: "" "v1" "endpoints" "endpoints" ["ep"] namespaced;
    /// What a StatefulSet or DaemonSet looked like.
    ControllerRevision: "apps" "v1" "controllerrevisions" "controllerrevision" [] namespaced;

    // From here on: judged and stored, but nothing acts on them yet.
    /// A Secret.
    Secret: "" "v1" "secrets" "secret" [] namespaced stored;
    /// A service account.
    ServiceAccount: "" "v1" "serviceaccounts" "serviceaccount" ["sa"] namespaced;
    /// A limit on the sum of a namespace.
    ResourceQuota: "" "v1" "resourcequotas" "resourcequota" ["quota"] namespaced;
    /// Limits and defaults for single containers of a namespace.
    LimitRange: "" "v1" "limitranges" "limitrange" ["limits"] namespaced stored;
    /// A claim on a volume.
    PersistentVolumeClaim: "" "v1" "persistentvolumeclaims" "persistentvolumeclaim" ["pvc"] namespaced;
    /// A volume.
    PersistentVolume: "" "v1" "persistentvolumes" "persistentvolume" ["pv"] cluster;
    /// A StatefulSet.
    StatefulSet: "apps" "v1" "statefulsets" "statefulset" ["sts"] namespaced all;
    /// A DaemonSet.
    DaemonSet: "apps" "v1" "daemonsets" "daemonset" ["ds"] namespaced all;
    /// A Job.
    Job: "batch" "v1" "jobs" "job" [] namespaced all;
    /// A CronJob.
    CronJob: "batch" "v1" "cronjobs" "cronjob" ["cj"] namespaced all;
    /// A HorizontalPodAutoscaler.
    HorizontalPodAutoscaler: "autoscaling" "v2" "horizontalpodautoscalers" "horizontalpodautoscaler" ["hpa"] namespaced all;
    /// A PodDisruptionBudget.
    PodDisruptionBudget: "policy" "v1" "poddisruptionbudgets" "poddisruptionbudget" ["pdb"] namespaced;
    /// A NetworkPolicy.
    NetworkPolicy: "networking.k8s.io" "v1" "networkpolicies" "networkpolicy" ["netpol"] namespaced stored;
    /// A class of volumes.
    StorageClass: "storage.k8s.io" "v1" "storageclasses" "storageclass" ["sc"] cluster;
    /// A class of priorities.
    PriorityClass: "scheduling.k8s.io" "v1" "priorityclasses" "priorityclass" ["pc"] cluster stored;
    /// Rights in a namespace.
    Role: "rbac.authorization.k8s.io" "v1" "roles" "role" [] namespaced stored;
    /// Who has the rights of a role in a namespace.
    RoleBinding: "rbac.authorization.k8s.io" "v1" "rolebindings" "rolebinding" [] namespaced stored;
    /// Rights in the whole cluster.
    ClusterRole: "rbac.authorization.k8s.io" "v1" "clusterroles" "clusterrole" [] cluster stored;
    /// Who has the rights of a role in the whole cluster.
    ClusterRoleBinding: "rbac.authorization.k8s.io" "v1" "clusterrolebindings" "clusterrolebinding" [] cluster stored;
    /// What ReplicaSets were before they had that name.
    ReplicationController: "" "v1" "replicationcontrollers" "replicationcontroller" ["rc"] namespaced all stored;
    /// A template of Pods on its own.
    PodTemplate: "" "v1" "podtemplates" "podtemplate" [] namespaced stored;
    /// A class of container runtimes.
    RuntimeClass: "node.k8s.io" "v1" "runtimeclasses" "runtimeclass" [] cluster stored;

    // From here on: kinds without a type of their own; see `api::kinds::stored::Plain`.
    /// A rule that changes what is asked.
    MutatingAdmissionPolicy: "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicies" "mutatingadmissionpolicy" [] cluster stored;
    /// Where a rule that changes holds.
    MutatingAdmissionPolicyBinding: "admissionregistration.k8s.io" "v1" "mutatingadmissionpolicybindings" "mutatingadmissionpolicybinding" [] cluster stored;
    /// Servers that may change what is asked.
    MutatingWebhookConfiguration: "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" "mutatingwebhookconfiguration" [] cluster stored;
    /// A rule that judges what is asked.
    ValidatingAdmissionPolicy: "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies" "validatingadmissionpolicy" [] cluster stored;
    /// Where a rule that judges holds.
    ValidatingAdmissionPolicyBinding: "admissionregistration.k8s.io" "v1" "validatingadmissionpolicybindings" "validatingadmissionpolicybinding" [] cluster stored;
    /// Servers that judge what is asked.
    ValidatingWebhookConfiguration: "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" "validatingwebhookconfiguration" [] cluster stored;
    /// A kind that somebody adds.
    CustomResourceDefinition: "apiextensions.k8s.io" "v1" "customresourcedefinitions" "customresourcedefinition" ["crd", "crds"] cluster stored;
    /// A group that another server serves.
    APIService: "apiregistration.k8s.io" "v1" "apiservices" "apiservice" [] cluster stored;
    /// A wish for a certificate.
    CertificateSigningRequest: "certificates.k8s.io" "v1" "certificatesigningrequests" "certificatesigningrequest" ["csr"] cluster stored;
    /// Which requests flow together.
    FlowSchema: "flowcontrol.apiserver.k8s.io" "v1" "flowschemas" "flowschema" [] cluster stored;
    /// How many requests run at once.
    PriorityLevelConfiguration: "flowcontrol.apiserver.k8s.io" "v1" "prioritylevelconfigurations" "prioritylevelconfiguration" [] cluster stored;
    /// An address that is taken.
    IPAddress: "networking.k8s.io" "v1" "ipaddresses" "ipaddress" ["ip"] cluster stored;
    /// A range of addresses for Services.
    ServiceCIDR: "networking.k8s.io" "v1" "servicecidrs" "servicecidr" [] cluster stored;
    /// A class of devices.
    DeviceClass: "resource.k8s.io" "v1" "deviceclasses" "deviceclass" [] cluster stored;
    /// A claim on devices.
    ResourceClaim: "resource.k8s.io" "v1" "resourceclaims" "resourceclaim" [] namespaced stored;
    /// A template of claims on devices.
    ResourceClaimTemplate: "resource.k8s.io" "v1" "resourceclaimtemplates" "resourceclaimtemplate" [] namespaced stored;
    /// Devices of a node.
    ResourceSlice: "resource.k8s.io" "v1" "resourceslices" "resourceslice" [] cluster stored;
    /// A driver of volumes.
    CSIDriver: "storage.k8s.io" "v1" "csidrivers" "csidriver" [] cluster stored;
    /// The drivers of a node.
    CSINode: "storage.k8s.io" "v1" "csinodes" "csinode" [] cluster stored;
    /// How much a driver has left.
    CSIStorageCapacity: "storage.k8s.io" "v1" "csistoragecapacities" "csistoragecapacity" [] namespaced stored;
    /// A volume attached to a node.
    VolumeAttachment: "storage.k8s.io" "v1" "volumeattachments" "volumeattachment" [] cluster stored;
    /// A class of attributes that a volume can change.
    VolumeAttributesClass: "storage.k8s.io" "v1" "volumeattributesclasses" "volumeattributesclass" ["vac"] cluster stored;
}

impl Kind {
    /// `Deployment`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// `deployments`.
    pub fn plural(self) -> &'static str {
        self.info().plural
    }

    /// `apps`; empty for the core group.
    pub fn group(self) -> &'static str {
        self.info().group
    }

    /// `v1`.
    pub fn version(self) -> &'static str {
        self.info().version
    }

    /// Whether its objects stand in a namespace.
    pub fn is_namespaced(self) -> bool {
        self.info().namespaced
    }

    /// `apps/v1`, or `v1` for the core group.
    pub fn api_version(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.version.to_string()
        } else {
            format!("{}/{}", info.group, info.version)
        }
    }

    /// `deployments.apps`, or `pods` for the core group.
    pub fn group_resource(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.plural.to_string()
        } else {
            format!("{}.{}", info.plural, info.group)
        }
    }

    /// `deployment.apps`, or `pod` for the core group: how kubectl names an object.
    pub fn printed(self) -> String {
        let info = self.info();
        if info.group.is_empty() {
            info.singular.to_string()
        } else {
            format!("{}.{}", info.singular, info.group)
        }
    }

    /// The kind of a manifest's `apiVersion` and `kind`.
    pub fn from_manifest(api_version: &str, kind: &str) -> Option<Self> {
        let api_version = match (api_version, kind) {
            // Still served in its first form; see `api::versions`.
            ("autoscaling/v1", "HorizontalPodAutoscaler") => "autoscaling/v2",
            _ => api_version,
        };
        Self::ALL.iter().copied().find(|k| k.name() == kind && k.api_version() == api_version)
    }

    /// The kind that a person means by `po`, `pod`, `pods`, `Deployment` or `deployments.apps`.
    pub fn from_resource(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::ALL.iter().copied().find(|kind| kind.is_called(&word))
    }

    /// Whether a word in small letters means it: `po`, `pods`, `deployments.apps`, `deployments.v1.apps`.
    pub fn is_called(self, word: &str) -> bool {
        let info = self.info();
        let plain = match word.split_once('.') {
            None => word,
            Some((plain, group)) if group == info.group => plain,
            Some((plain, rest))
                if rest.strip_prefix(info.version).and_then(|r| r.strip_prefix('.')) == Some(info.group) =>
            {
                plain
            }
            Some(_) => return false,
        };
        plain == info.plural || plain == info.singular || info.short_names.contains(&plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_kind_is_the_same_wherever_it_is_named() {
        let names = CustomNames {
            name: "Boat".to_string(),
            group: "example.com".to_string(),
            version: "v1".to_string(),
            plural: "boats".to_string(),
            short_names: vec!["bt".to_string()],
            ..CustomNames::default()
        };
        let (one, other) = (Kind::Custom(names.clone().into()), Kind::Custom(names.into()));
        assert_eq!(one, other);
        assert!(one.is_called("boats.example.com") && one.is_called("bt") && !one.is_called("pods"));
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Kind>(&text).unwrap(), one);
        assert!(one > Kind::Pod, "they come after the others");
    }

    #[test]
    fn a_resource_word_names_its_kind() {
        for (word, kind) in [
            ("po", Some(Kind::Pod)),
            ("Pod", Some(Kind::Pod)),
            ("deployments.apps", Some(Kind::Deployment)),
            ("deployments.v1.apps", Some(Kind::Deployment)),
            ("deployments.batch", None),
            ("boats", None),
        ] {
            assert_eq!(Kind::from_resource(word), kind, "{word}");
        }
    }
}
