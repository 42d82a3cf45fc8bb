//! `kubectl create token`: a token that a Pod of the account could have.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_token.go` (v1.36). Leaves out: bound objects; the signature is none.

use base64::Engine;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::super::{Call, Pending};
use super::form;
use crate::api::kind::Kind;
use crate::api::manifest;
use crate::api::time::Timestamp;
use crate::cluster::server::authz::Access;
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `create token`.
pub const FLAGS: &[&[Flag]] = &[
    flags::OUTPUT,
    &[
        Flag::long("audience", Takes::Texts),
        Flag::long("duration", Takes::Duration),
        Flag::long("bound-object-kind", Takes::Text),
        Flag::long("bound-object-name", Takes::Text),
        Flag::long("bound-object-uid", Takes::Text),
    ],
];

/// Who issues tokens, and whom they are for.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// How long a token is good for.
const USUAL_SECONDS: i64 = 3600;

/// The shortest time that the server gives a token.
const LEAST_SECONDS: i64 = 600;

/// Prints a token.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let namespace = call.namespace().to_string();
    let format = Format::of(&call.flags, false)?;
    let seconds = call.flags.seconds("duration").filter(|seconds| *seconds != 0).unwrap_or(USUAL_SECONDS);
    let failed = |why: &str| Failure::error(format!("failed to create token: {why}"));
    if seconds < LEAST_SECONDS {
        let why = "may not specify a duration less than 10 minutes";
        return Err(failed(&format!(
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: {seconds}: {why}"
        )));
    }
    let access =
        Access { subresource: "token", ..Access::to("create", Kind::ServiceAccount, &namespace, &name) };
    let account = resources::may(&*call.host, &access)
        .and_then(|()| resources::stored(&*call.host, Kind::ServiceAccount, &namespace, &name))
        .map_err(|status| failed(&status.message))?;
    let now = call.host.now();
    let mut audiences: Vec<String> = call.flags.texts("audience").to_vec();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_string());
    }
    let claims = json!({
        "aud": audiences, "exp": now.0 + seconds, "iat": now.0, "iss": ISSUER,
        "kubernetes.io": {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": &*account.meta().uid},
        },
        "nbf": now.0, "sub": format!("system:serviceaccount:{namespace}:{name}"),
    });
    let part = |text: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let head = json!({"alg": "RS256", "kid": "kubestep"}).to_string();
    let told = [part(head.as_bytes()), part(claims.to_string().as_bytes())].join(".");
    let token = format!("{told}.{}", part(&Sha256::digest(told.as_bytes())));
    match format {
        Format::Plain => call.say(token),
        _ => {
            let request = json!({
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "metadata": {"creationTimestamp": now.to_string(), "name": name, "namespace": namespace},
                "spec": {"audiences": audiences, "boundObjectRef": null, "expirationSeconds": seconds},
                "status": {"expirationTimestamp": Timestamp(now.0 + seconds).to_string(), "token": token},
            });
            let text = match call.flags.text("output") {
                Some("json") => manifest::to_json_pretty(&request),
                _ => manifest::to_yaml(&request),
            };
            call.output.stdout.push_str(&text);
        }
    }
    Ok(None)
}
