//! Who manages whom: claiming objects by label, adopting orphans, letting go of what no longer matches.
//!
//! Models: `pkg/controller/controller_ref_manager.go` (v1.36): `ClaimObject`, `AdoptPod`, `ReleasePod` and their
//! siblings, `metav1.NewControllerRef`.
//! Leaves out: the uncached read of the owner before the first adoption; here the server refuses a stale write instead.

use super::queue::WorkKey;
use crate::api::kind::Kind;
use crate::api::meta::{ObjectKey, ObjectMeta, OwnerReference};
use crate::api::object::Resource;

/// What an owner makes of an object that may be its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is the owner's, and matches.
    Owned,
    /// Nobody manages it and it matches: the owner takes it.
    Adopt,
    /// It is the owner's but matches no longer: the owner lets go of it.
    Release,
    /// None of the owner's business.
    Foreign,
}

/// What `owner` makes of an object with that metadata; `matches` says whether the owner's selector selects it.
pub fn claim(owner: &ObjectMeta, object: &ObjectMeta, matches: bool) -> Claim {
    match object.controller() {
        Some(reference) if reference.uid != owner.uid => Claim::Foreign,
        Some(_) if matches => Claim::Owned,
        Some(_) if owner.is_terminating() => Claim::Foreign,
        Some(_) => Claim::Release,
        None if owner.is_terminating() || object.is_terminating() || !matches => Claim::Foreign,
        None if owner.namespace != object.namespace => Claim::Foreign,
        None => Claim::Adopt,
    }
}

/// The reference by which an object names the owner that manages it.
pub fn controller_reference<R: Resource>(owner: &R) -> OwnerReference {
    OwnerReference {
        api_version: R::KIND.api_version(),
        kind: R::KIND.name().to_string(),
        name: owner.meta().name.clone(),
        uid: owner.meta().uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..OwnerReference::default()
    }
}

/// The key of the owner of that kind that manages an object.
pub fn controller_key(kind: Kind, object: &ObjectMeta) -> Option<WorkKey> {
    let owner = object.controller().filter(|owner| owner.kind == kind.name())?;
    Some(WorkKey::Object(ObjectKey::new(kind, object.namespace.clone(), owner.name.clone())))
}

/// Makes `owner` manage the object.
pub fn adopt<R: Resource>(owner: &R, object: &mut ObjectMeta) {
    adopt_by(controller_reference(owner), object);
}

/// Makes the owner of that reference manage the object.
pub fn adopt_by(reference: OwnerReference, object: &mut ObjectMeta) {
    object.owner_references.retain(|known| known.uid != reference.uid);
    object.owner_references.push(reference);
}

/// Takes the owner's reference out of the object.
pub fn release(owner: &ObjectMeta, object: &mut ObjectMeta) {
    object.owner_references.retain(|reference| reference.uid != owner.uid);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::apps::ReplicaSet;
    use crate::api::time::Timestamp;

    fn meta(uid: &str, controller: Option<&str>, terminating: bool) -> ObjectMeta {
        let owner_references = controller
            .into_iter()
            .map(|uid| OwnerReference {
                uid: uid.into(),
                controller: Some(true),
                ..OwnerReference::default()
            })
            .collect();
        ObjectMeta {
            uid: uid.into(),
            namespace: "demo".into(),
            owner_references,
            deletion_timestamp: terminating.then_some(Timestamp(1)),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn objects_are_claimed() {
        use Claim::{Adopt, Foreign, Owned, Release};
        let table = [
            ("a matching orphan is adopted", false, None, true, false, Adopt),
            ("an orphan that does not match stays", false, None, false, false, Foreign),
            ("an owner on its way out adopts nothing", true, None, true, false, Foreign),
            ("an owner on its way out keeps its own", true, Some("me"), true, false, Owned),
            ("an owner on its way out releases nothing", true, Some("me"), false, false, Foreign),
            ("another's object stays, though it matches", false, Some("other"), true, false, Foreign),
            ("an own object that matches no longer is released", false, Some("me"), false, false, Release),
            ("an orphan on its way out is not adopted", false, None, true, true, Foreign),
            ("an own object on its way out stays claimed", false, Some("me"), true, true, Owned),
        ];
        for (sentence, owner_terminating, controller, matches, terminating, expected) in table {
            let owner = meta("me", None, owner_terminating);
            assert_eq!(claim(&owner, &meta("it", controller, terminating), matches), expected, "{sentence}");
        }
    }

    #[test]
    fn an_object_of_another_namespace_is_not_adopted() {
        let mut elsewhere = meta("it", None, false);
        elsewhere.namespace = "other".into();
        assert_eq!(claim(&meta("me", None, false), &elsewhere, true), Claim::Foreign);
    }

    #[test]
    fn adoption_and_release_undo_each_other() {
        let mut owner = ReplicaSet::default();
        owner.meta.uid = "me".into();
        let before = meta("it", None, false);
        let mut object = before.clone();
        adopt(&owner, &mut object);
        assert!(object.is_controlled_by(&owner.meta.uid));
        assert_eq!(object.owner_references[0].block_owner_deletion, Some(true));
        release(&owner.meta, &mut object);
        assert_eq!(object, before);
    }
}
