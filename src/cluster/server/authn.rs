//! The stage that finds out who is asking.
//!
//! Models: `apiserver/pkg/authentication`, `apiserver/pkg/endpoints/filters/impersonation.go` (v1.36).
//! Leaves out: certificates and tokens, since a client of the page is who its context says; extra fields.

use serde::{Deserialize, Serialize};

use super::authz::{self, Access};
use super::status::Status;
use crate::cluster::settings::{Settings, UserSetup};
use crate::cluster::store::Store;

/// The group whose members may do everything, whatever the roles say.
pub const MASTERS: &str = "system:masters";
/// The group of everybody who is known.
pub const AUTHENTICATED: &str = "system:authenticated";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// What a client shows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Credentials {
    /// The user of its context; empty for the cluster's first user.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// As whom it wants to be treated (`--as`); empty for nobody else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub acts_as: String,
    /// In which groups it wants to be treated (`--as-group`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acts_in_groups: Vec<String>,
    /// With which uid it wants to be treated (`--as-uid`); empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub acts_as_uid: String,
}

impl Credentials {
    /// Whether it is the cluster's first user, acting for himself.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Somebody whom the server knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The uid, as the credentials give it; may be empty.
    pub uid: String,
    /// The groups, with those that the server adds.
    pub groups: Vec<String>,
}

impl Identity {
    /// Somebody of that name in those groups, who is thereby authenticated.
    fn known(name: &str, uid: &str, mut groups: Vec<String>) -> Self {
        if !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_string());
        }
        Self { name: name.to_string(), uid: uid.to_string(), groups }
    }

    /// Whether no role is asked for.
    pub fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }
}

/// Who is behind the credentials: the user of the context.
///
/// # Errors
/// 401 when the cluster does not know the user.
pub fn authenticate(settings: &Settings, credentials: &Credentials) -> Result<Identity, Status> {
    let is_meant = |user: &&UserSetup| credentials.user.is_empty() || user.name == credentials.user;
    let user = settings.users.iter().find(is_meant).ok_or_else(Status::unauthorized)?;
    Ok(Identity::known(&user.name, &user.uid, user.groups.clone()))
}

/// As whom the request is judged: the user, or whom he may act as.
///
/// # Errors
/// 403 when the user may not act as that one.
pub fn impersonate(store: &Store, user: Identity, credentials: &Credentials) -> Result<Identity, Status> {
    if credentials.acts_as.is_empty() {
        if credentials.acts_in_groups.is_empty() {
            return Ok(user);
        }
        return Err(Status::internal(
            "requested [{Group  ".to_string()
                + &credentials.acts_in_groups.join(" ")
                + "}] without impersonating a user",
        ));
    }
    let (resource, namespace, name) = match service_account(&credentials.acts_as) {
        Some((namespace, name)) => ("serviceaccounts", namespace, name),
        None => ("users", "", credentials.acts_as.as_str()),
    };
    let access = Access { verb: "impersonate", resource, namespace, name, ..Access::default() };
    authz::authorize(store, &user, &access)?;
    for group in &credentials.acts_in_groups {
        let access = Access { verb: "impersonate", resource: "groups", name: group, ..Access::default() };
        authz::authorize(store, &user, &access)?;
    }
    if !credentials.acts_as_uid.is_empty() {
        let (group, name) = ("authentication.k8s.io", credentials.acts_as_uid.as_str());
        let access = Access { verb: "impersonate", group, resource: "uids", name, ..Access::default() };
        authz::authorize(store, &user, &access)?;
    }
    let mut groups = credentials.acts_in_groups.clone();
    if let Some((namespace, _)) = service_account(&credentials.acts_as)
        && groups.is_empty()
    {
        groups = vec!["system:serviceaccounts".to_string(), format!("system:serviceaccounts:{namespace}")];
    }
    Ok(Identity::known(&credentials.acts_as, &credentials.acts_as_uid, groups))
}

/// Namespace and name of the service account that such a user name stands for.
pub fn service_account(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')
}

/// Who asks, all in all.
///
/// # Errors
/// 401 or 403.
pub fn identify(store: &Store, settings: &Settings, credentials: &Credentials) -> Result<Identity, Status> {
    impersonate(store, authenticate(settings, credentials)?, credentials)
}
