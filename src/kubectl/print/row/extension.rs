//! The kinds that extend a cluster: their columns, and where in the object each cell stands.
//!
//! Models: `kubernetes/pkg/printers/internalversion/printers.go`, `kube-aggregator`'s and `apiextensions-apiserver`'s
//! own tables (v1.36).

use serde_json::Value;

use super::{Column, always};
use crate::api::kind::Kind;
use crate::kubectl::duration;
use crate::kubectl::print::value::{items, or, text, truth};

const NAME: Column = always("NAME");
const AGE: Column = always("AGE");

/// What a cell holds.
#[derive(Clone, Copy)]
enum Cell {
    /// The age.
    Age,
    /// The text of a field, or the other text when it is absent.
    Text(&'static str, &'static str),
    /// How many items a list has.
    Count(&'static str),
    /// The items of a list; the other text when there are none.
    Joined(&'static str, &'static str),
    /// A number of seconds.
    Lasting(&'static str),
    /// A parameter's kind with its version.
    Parameter,
    /// Who serves a group, or whether anybody does.
    Served(&'static str),
    /// How a wish for a certificate stands.
    Wish,
    /// How a claim on devices stands.
    Claim,
}

use Cell::{Age, Claim, Count, Joined, Lasting, Parameter, Served, Text, Wish};

/// The columns of each kind.
pub(super) const COLUMNS: &[(Kind, &[Column])] = &[
    (Kind::MutatingAdmissionPolicy, &[NAME, always("MUTATIONS"), always("PARAMKIND"), AGE]),
    (Kind::MutatingAdmissionPolicyBinding, &[NAME, always("POLICYNAME"), always("PARAMREF"), AGE]),
    (Kind::MutatingWebhookConfiguration, &[NAME, always("WEBHOOKS"), AGE]),
    (Kind::ValidatingAdmissionPolicy, &[NAME, always("VALIDATIONS"), always("PARAMKIND"), AGE]),
    (Kind::ValidatingAdmissionPolicyBinding, &[NAME, always("POLICYNAME"), always("PARAMREF"), AGE]),
    (Kind::ValidatingWebhookConfiguration, &[NAME, always("WEBHOOKS"), AGE]),
    (Kind::CustomResourceDefinition, &[NAME, always("CREATED AT")]),
    (Kind::APIService, &[NAME, always("SERVICE"), always("AVAILABLE"), AGE]),
    (
        Kind::CertificateSigningRequest,
        &[
            NAME,
            AGE,
            always("SIGNERNAME"),
            always("REQUESTOR"),
            always("REQUESTEDDURATION"),
            always("CONDITION"),
        ],
    ),
    (
        Kind::FlowSchema,
        &[
            NAME,
            always("PRIORITYLEVEL"),
            always("MATCHINGPRECEDENCE"),
            always("DISTINGUISHERMETHOD"),
            AGE,
            always("MISSINGPL"),
        ],
    ),
    (
        Kind::PriorityLevelConfiguration,
        &[
            NAME,
            always("TYPE"),
            always("NOMINALCONCURRENCYSHARES"),
            always("QUEUES"),
            always("HANDSIZE"),
            always("QUEUELENGTHLIMIT"),
            AGE,
        ],
    ),
    (Kind::IPAddress, &[NAME, always("PARENTREF")]),
    (Kind::ServiceCIDR, &[NAME, always("CIDRS"), AGE]),
    (Kind::ResourceClaim, &[NAME, always("STATE"), AGE]),
    (Kind::ResourceSlice, &[NAME, always("NODE"), always("DRIVER"), always("POOL"), AGE]),
    (
        Kind::CSIDriver,
        &[
            NAME,
            always("ATTACHREQUIRED"),
            always("PODINFOONMOUNT"),
            always("STORAGECAPACITY"),
            always("TOKENREQUESTS"),
            always("REQUIRESREPUBLISH"),
            always("MODES"),
            AGE,
        ],
    ),
    (Kind::CSINode, &[NAME, always("DRIVERS"), AGE]),
    (Kind::CSIStorageCapacity, &[NAME, always("STORAGECLASSNAME"), always("CAPACITY"), AGE]),
    (
        Kind::VolumeAttachment,
        &[NAME, always("ATTACHER"), always("PV"), always("NODE"), always("ATTACHED"), AGE],
    ),
    (Kind::VolumeAttributesClass, &[NAME, always("DRIVERNAME"), AGE]),
];

fn cells_of(kind: Kind) -> &'static [Cell] {
    match kind {
        Kind::MutatingAdmissionPolicy => &[Count("/spec/mutations"), Parameter, Age],
        Kind::ValidatingAdmissionPolicy => &[Count("/spec/validations"), Parameter, Age],
        Kind::MutatingAdmissionPolicyBinding | Kind::ValidatingAdmissionPolicyBinding => {
            &[Text("/spec/policyName", ""), Text("/spec/paramRef/name", "<unset>"), Age]
        }
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => {
            &[Count("/webhooks"), Age]
        }
        Kind::CustomResourceDefinition => &[Text("/metadata/creationTimestamp", "")],
        Kind::APIService => &[Served("SERVICE"), Served("AVAILABLE"), Age],
        Kind::CertificateSigningRequest => &[
            Age,
            Text("/spec/signerName", "<none>"),
            Text("/spec/username", ""),
            Lasting("/spec/expirationSeconds"),
            Wish,
        ],
        Kind::FlowSchema => &[
            Text("/spec/priorityLevelConfiguration/name", ""),
            Text("/spec/matchingPrecedence", "0"),
            Text("/spec/distinguisherMethod/type", "<none>"),
            Age,
            Text("/status/conditions/0/status", "?"),
        ],
        Kind::PriorityLevelConfiguration => &[
            Text("/spec/type", ""),
            Text("/spec/limited/nominalConcurrencyShares", "<none>"),
            Text("/spec/limited/limitResponse/queuing/queues", "<none>"),
            Text("/spec/limited/limitResponse/queuing/handSize", "<none>"),
            Text("/spec/limited/limitResponse/queuing/queueLengthLimit", "<none>"),
            Age,
        ],
        Kind::IPAddress => &[Text("/spec/parentRef/name", "<none>")],
        Kind::ServiceCIDR => &[Joined("/spec/cidrs", ""), Age],
        Kind::ResourceClaim => &[Claim, Age],
        Kind::ResourceSlice => {
            &[Text("/spec/nodeName", ""), Text("/spec/driver", ""), Text("/spec/pool/name", ""), Age]
        }
        Kind::CSIDriver => &[
            Text("/spec/attachRequired", "true"),
            Text("/spec/podInfoOnMount", "false"),
            Text("/spec/storageCapacity", "false"),
            Joined("/spec/tokenRequests", "<unset>"),
            Text("/spec/requiresRepublish", "false"),
            Joined("/spec/volumeLifecycleModes", "<none>"),
            Age,
        ],
        Kind::CSINode => &[Count("/spec/drivers"), Age],
        Kind::CSIStorageCapacity => &[Text("/storageClassName", ""), Text("/capacity", "<unset>"), Age],
        Kind::VolumeAttachment => &[
            Text("/spec/attacher", ""),
            Text("/spec/source/persistentVolumeName", ""),
            Text("/spec/nodeName", ""),
            Text("/status/attached", "false"),
            Age,
        ],
        Kind::VolumeAttributesClass => &[Text("/driverName", ""), Age],
        _ => &[Age],
    }
}

/// An object's cells behind its name.
pub(super) fn cells(kind: Kind, object: &Value, age: &str) -> Vec<String> {
    let at = |path: &str| object.pointer(path).unwrap_or(&Value::Null);
    let cell = |cell: &Cell| match *cell {
        Age => age.to_string(),
        Text(path, otherwise) => or(at(path), otherwise),
        Lasting(path) => at(path).as_i64().map_or("<none>".to_string(), duration::human),
        Count(path) => items(at(path)).len().to_string(),
        Joined(path, otherwise) => {
            let name = |item: &Value| if item.is_object() { text(&item["audience"]) } else { text(item) };
            let texts: Vec<String> = items(at(path)).iter().map(name).collect();
            if texts.is_empty() { otherwise.to_string() } else { texts.join(",") }
        }
        Parameter => match at("/spec/paramKind") {
            Value::Null => "<unset>".to_string(),
            kind => format!("{}/{}", text(&kind["apiVersion"]), text(&kind["kind"])),
        },
        Served("SERVICE") => match at("/spec/service") {
            Value::Null => "Local".to_string(),
            service => format!("{}/{}", text(&service["namespace"]), text(&service["name"])),
        },
        Served(_) => {
            let is_meant = |condition: &&Value| condition["type"] == "Available";
            match items(at("/status/conditions")).iter().find(is_meant) {
                None => "Unknown".to_string(),
                Some(condition) if condition["status"] == "True" => truth(&Value::Bool(true)).to_string(),
                Some(condition) => format!("{} ({})", text(&condition["status"]), text(&condition["reason"])),
            }
        }
        Wish => {
            let mut said: Vec<String> =
                items(at("/status/conditions")).iter().map(|condition| text(&condition["type"])).collect();
            if said.is_empty() {
                said.push("Pending".to_string());
            }
            if !at("/status/certificate").is_null() {
                said.push("Issued".to_string());
            }
            said.join(",")
        }
        Claim => match (at("/status/allocation"), at("/status/reservedFor")) {
            (Value::Null, _) => "pending".to_string(),
            (_, Value::Null) => "allocated".to_string(),
            _ => "allocated,reserved".to_string(),
        },
    };
    cells_of(kind).iter().map(cell).collect()
}
