//! A person's request through all stages of the API server.
//!
//! Models: `apiserver/pkg/endpoints/handlers` (create, update, patch, delete). Leaves out: watch over the wire.

use std::sync::Arc;

use serde_json::{Value, json};

use super::authn::{self, Identity};
use super::authz::{self, Access};
use super::request::{FieldValidation, Request, Response, Verb};
use super::select::Selection;
use super::status::Status;
use super::transaction::{Transaction, Written};
use super::write::Operation;
use super::{admit, custom, decode, default, eviction, managed, patch, prepare, scale, validate};
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::api::{discovery, schema, versions};
use crate::cluster::actor::Actor;
use crate::cluster::diff::{FieldChange, diff};
use crate::cluster::fact::Stage;
use crate::cluster::store::Store;

/// What the stages said, in order; the last one is the refusal if there was one.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// Each stage that was reached, with its refusal and its notes.
    pub stages: Vec<(Stage, Option<Arc<Status>>, Vec<String>)>,
    /// Whether the values need no check: they are the installation's own, and a build with debug assertions, which every
    /// test is, has checked them. So the page need not fetch the checks before somebody asks for something.
    is_proven: bool,
}

impl Passage {
    /// The way of a request of that actor.
    pub fn of(actor: &Actor) -> Self {
        let is_proven = *actor == Actor::Installer && !cfg!(debug_assertions);
        Passage { stages: Vec::new(), is_proven }
    }

    pub(super) fn pass(&mut self, stage: Stage) {
        self.stages.push((stage, None, Vec::new()));
    }

    pub(super) fn note(&mut self, stage: Stage, notes: Vec<String>) {
        self.stages.push((stage, None, notes));
    }

    pub(super) fn check<T>(&mut self, stage: Stage, result: Result<T, Status>) -> Result<T, Status> {
        if let Err(status) = &result {
            self.stages.push((stage, Some(Arc::new(status.clone())), Vec::new()));
        }
        result
    }
}

/// Runs a request. With `dry_run` nothing is stored, and the response shows what would be.
///
/// # Errors
/// The refusal of the stage that is last in `passage`.
pub fn run(
    transaction: &mut Transaction<'_>,
    request: &Request,
    passage: &mut Passage,
) -> Result<(Response, Written), Status> {
    let result = authn::authenticate(transaction.settings, &request.credentials);
    let user = passage.check(Stage::Authenticate, result)?;
    passage.pass(Stage::Authenticate);
    let result = authorize(transaction, request, user);
    let identity = passage.check(Stage::Authorize, result)?;
    passage.pass(Stage::Authorize);
    let identity = &identity;
    if request.options.dry_run {
        let (mut store, mut stream) = (transaction.store.clone(), transaction.stream.clone());
        let mut rehearsal = Transaction { store: &mut store, stream: &mut stream, ..*transaction };
        let stored = rehearsal.store.object(&request.key()).map(|object| object.meta().resource_version);
        let (mut response, written) = carry_out(&mut rehearsal, request, identity, passage)?;
        if let Some(meta) = response.object.get_mut("metadata").and_then(Value::as_object_mut) {
            // Nothing was stored, so the object has the revision it had before, or none.
            match stored {
                Some(revision) => meta.insert("resourceVersion".to_string(), revision.0.to_string().into()),
                None => meta.remove("resourceVersion"),
            };
        }
        return Ok((response, written));
    }
    carry_out(transaction, request, identity, passage)
}

/// The deletions that a deletion of many comes to, in the order of the objects' names, once it is known that whoever asks
/// may do that. Each of them is then [`delete_one`].
///
/// Models: `apiserver/pkg/endpoints/handlers/delete.go: DeleteCollection`, `registry/generic/registry/store.go`.
///
/// # Errors
/// 401, 403, 405 for kinds that are deleted one by one only, 400 for selectors that cannot be read.
pub fn collection(
    transaction: &Transaction<'_>,
    request: &Request,
    passage: &mut Passage,
) -> Result<Vec<Request>, Status> {
    let result = authn::authenticate(transaction.settings, &request.credentials);
    let user = passage.check(Stage::Authenticate, result)?;
    passage.pass(Stage::Authenticate);
    let result = authorize(transaction, request, user);
    passage.check(Stage::Authorize, result)?;
    passage.pass(Stage::Authorize);
    let options = &request.options;
    let result = match deletes_collections(request.kind) {
        true => Selection::parse(request.kind, &options.label_selector, &options.field_selector)
            .map_err(Status::bad_request),
        false => Err(Status::method_not_allowed()),
    };
    let selection = passage.check(Stage::Decode, result)?;
    passage.pass(Stage::Decode);
    let part = |object: &Object| {
        let mut part = request.clone();
        part.verb = Verb::Delete;
        part.namespace = object.meta().namespace.clone();
        part.name = object.meta().name.clone();
        part
    };
    let store = &transaction.store;
    Ok(match (request.kind.is_namespaced(), &*request.namespace) {
        (true, namespace) if !namespace.is_empty() => store
            .objects_in(request.kind, namespace)
            .filter(|object| selection.keeps(object))
            .map(part)
            .collect(),
        _ => store.objects_of(request.kind).filter(|object| selection.keeps(object)).map(part).collect(),
    })
}

/// Deletes one object of a collection: whether that may be was asked already.
///
/// # Errors
/// The refusal of the stage that is last in `passage`.
pub fn delete_one(
    transaction: &mut Transaction<'_>,
    request: &Request,
    passage: &mut Passage,
) -> Result<(Response, Written), Status> {
    carry_out(transaction, request, &Identity::default(), passage)
}

/// Whether the server deletes many objects of the kind in one request.
fn deletes_collections(kind: Kind) -> bool {
    let is_custom = matches!(kind, Kind::Custom(_));
    is_custom
        || discovery::find(kind.plural())
            .is_some_and(|found| found.verbs.split(',').any(|verb| verb == "deletecollection"))
}

/// As whom the request is judged, if that one may make it.
fn authorize(transaction: &Transaction<'_>, request: &Request, user: Identity) -> Result<Identity, Status> {
    let identity = authn::impersonate(transaction.store, user, &request.credentials)?;
    let access = Access::of(request);
    authz::authorize(transaction.store, &identity, &access)?;
    // Applying what does not exist yet creates it.
    if request.verb == Verb::Apply && transaction.store.object(&request.key()).is_none() {
        authz::authorize(transaction.store, &identity, &Access { verb: "create", ..access })?;
    }
    Ok(identity)
}

fn carry_out(
    transaction: &mut Transaction<'_>,
    request: &Request,
    identity: &Identity,
    passage: &mut Passage,
) -> Result<(Response, Written), Status> {
    if request.subresource == "scale" {
        let result = current(transaction, request);
        let stored = passage.check(Stage::Store, result)?;
        return scale::run(transaction, request, &stored, passage);
    }
    if request.subresource == "binding" && request.verb == Verb::Create {
        passage.pass(Stage::Decode);
        let result = bind(transaction, request);
        let written = passage.check(Stage::Admit, result)?;
        passage.pass(Stage::Admit);
        passage.pass(Stage::Store);
        let object = written.new.as_ref().map_or(Value::Null, Object::to_value);
        return Ok((Response { object, changed: true, warnings: Vec::new() }, written));
    }
    if request.subresource == "eviction" && request.verb == Verb::Create {
        passage.pass(Stage::Decode);
        let result = eviction::evict(transaction, request);
        let written = passage.check(Stage::Admit, result)?;
        passage.pass(Stage::Admit);
        passage.pass(Stage::Store);
        let success =
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        return Ok((Response { object: success, changed: true, warnings: Vec::new() }, written));
    }
    let (written, warnings) = match request.verb {
        Verb::Create => create(transaction, request, identity, passage, request.body.clone())?,
        Verb::Update => {
            let result = current(transaction, request);
            let stored = passage.check(Stage::Store, result)?;
            replace(transaction, request, identity, passage, &stored, request.body.clone())?
        }
        Verb::MergePatch | Verb::StrategicPatch | Verb::JsonPatch => {
            let result = current(transaction, request);
            let stored = passage.check(Stage::Store, result)?;
            let result = patched(request, &stored);
            let body = passage.check(Stage::Decode, result)?;
            replace(transaction, request, identity, passage, &stored, body)?
        }
        Verb::Apply => {
            let stored = transaction.store.object(&request.key()).cloned();
            let live = stored.as_ref().map(managed::with_managers);
            let result = match (request.kind, &live) {
                // Who manages what of such an object is not written down.
                (Kind::Custom(_), live) => {
                    let mut body = live.clone().unwrap_or_else(|| Value::Object(Default::default()));
                    patch::merge(&mut body, &request.body);
                    Ok(body)
                }
                (_, live) => managed::applied(request, live.as_ref(), transaction.now),
            };
            let body = passage.check(Stage::Decode, result)?;
            match stored {
                Some(stored) => replace(transaction, request, identity, passage, &stored, body)?,
                None => create(transaction, request, identity, passage, body)?,
            }
        }
        Verb::Delete => {
            passage.pass(Stage::Decode);
            let options = &request.options;
            let uid = options.uid.as_deref().map(Into::into);
            let result =
                transaction.delete(&request.key(), uid.as_ref(), options.grace_seconds, options.propagation);
            (passage.check(Stage::Store, result)?, Vec::new())
        }
        // The machine asks for each object of a collection by itself.
        Verb::DeleteCollection => {
            return passage.check(Stage::Decode, Err(Status::method_not_allowed()));
        }
    };
    if request.verb != Verb::Delete {
        passage.pass(Stage::Admit);
    }
    passage.pass(Stage::Store);
    let shown = written.new.as_ref().or(written.old.as_ref());
    let mut object = shown.map_or(Value::Null, managed::with_managers);
    // The answer is in the version that the request was in.
    if request.body["apiVersion"] == "autoscaling/v1" {
        versions::downgrade(&mut object);
    }
    Ok((Response { object, changed: !written.is_nothing(), warnings }, written))
}

/// Binds a Pod to the node that a `Binding` names.
fn bind(transaction: &mut Transaction<'_>, request: &Request) -> Result<Written, Status> {
    let target = request.body.pointer("/target/name").and_then(Value::as_str).unwrap_or_default();
    if target.is_empty() {
        return Err(Status::bad_request("a Binding names its target's node"));
    }
    transaction.execute(Operation::Bind { pod: request.key(), node: target.into() })
}

fn current(transaction: &Transaction<'_>, request: &Request) -> Result<Object, Status> {
    let stored = transaction.store.object(&request.key()).cloned();
    stored.ok_or_else(|| Status::not_found(request.kind, &request.name))
}

fn create(
    transaction: &mut Transaction<'_>,
    request: &Request,
    identity: &Identity,
    passage: &mut Passage,
    mut body: Value,
) -> Result<(Written, Vec<String>), Status> {
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        // The server names a new object's uid; a Job's labels are made from it.
        metadata.remove("uid");
        if request.kind == Kind::Job {
            metadata.insert("uid".to_string(), Value::String(transaction.stream.uuid()));
        }
    }
    if request.kind == Kind::CertificateSigningRequest
        && let Some(Value::Object(spec)) = body.get_mut("spec")
    {
        // Who asks for a certificate is written down by the server.
        spec.insert("username".to_string(), Value::from(identity.name.clone()));
        spec.insert("uid".to_string(), Value::from(identity.uid.clone()));
        spec.insert("groups".to_string(), Value::from(identity.groups.clone()));
        spec.remove("extra");
    }
    if request.kind == Kind::Pod
        && transaction.settings.service_account_admission
        && let Some(Value::Object(spec)) = body.get_mut("spec")
    {
        // The plugin names the account before the Pod is judged.
        let is_named = |name: &str| spec.get(name).is_some_and(|value| !value.is_null() && value != "");
        if !is_named("serviceAccountName") && !is_named("serviceAccount") {
            spec.insert("serviceAccountName".to_string(), Value::from("default"));
        }
    }
    let (object, mut warnings) = match request.kind {
        Kind::Custom(_) => read_custom(transaction.store, request, body, None, passage)?,
        _ => read(request, body, None, transaction.now, passage)?,
    };
    warnings.extend(admit::warnings(transaction.store, None, &object));
    let result = authz::refuse_escalation(transaction.store, identity, None, &object)
        .and_then(|()| transaction.create(object));
    let written = passage.check(Stage::Admit, result)?;
    if let (Kind::CustomResourceDefinition, Some(created), false) =
        (request.kind, &written.new, request.options.dry_run)
    {
        // The server's own controllers take the new names at once; who asked is answered before.
        let established = custom::established(created, transaction.now);
        let result = transaction.update_status(established);
        passage.check(Stage::Store, result)?;
    }
    Ok((written, warnings))
}

fn replace(
    transaction: &mut Transaction<'_>,
    request: &Request,
    identity: &Identity,
    passage: &mut Passage,
    stored: &Object,
    body: Value,
) -> Result<(Written, Vec<String>), Status> {
    let (object, mut warnings) = match request.kind {
        Kind::Custom(_) => read_custom(transaction.store, request, body, Some(stored), passage)?,
        _ => read(request, body, Some(stored), transaction.now, passage)?,
    };
    if request.subresource.is_empty() {
        warnings.extend(admit::warnings(transaction.store, Some(stored), &object));
    }
    let result =
        authz::refuse_escalation(transaction.store, identity, Some(stored), &object).and_then(|()| {
            match request.subresource.as_str() {
                "status" | "approval" => transaction.update_status(object),
                _ => transaction.update(object),
            }
        });
    Ok((passage.check(Stage::Admit, result)?, warnings))
}

/// Decodes, defaults and validates a body.
fn read(
    request: &Request,
    body: Value,
    stored: Option<&Object>,
    now: Timestamp,
    passage: &mut Passage,
) -> Result<(Object, Vec<String>), Status> {
    let mut body = body;
    versions::upgrade(&mut body);
    let result = address(request, &mut body);
    passage.check(Stage::Decode, result)?;
    let kind = request.kind;
    let schema = schema::root(kind.group(), kind.version(), kind.name());
    let schema =
        schema.ok_or_else(|| Status::bad_request(decode::no_match(&kind.api_version(), kind.name())));
    let schema = passage.check(Stage::Decode, schema)?;
    let result = registered(kind, &body).and_then(|()| {
        decode::decode(schema, &body, request.options.field_validation)
            .map_err(|error| undecodable(request, &error))
    });
    let decoded = passage.check(Stage::Decode, result)?;
    passage.pass(Stage::Decode);
    if let (Some(stored), Verb::Update) = (stored, request.verb) {
        let result = same_uid(request, &body, stored);
        passage.check(Stage::Store, result)?;
    }
    let mut warnings: Vec<String> = match request.options.field_validation {
        FieldValidation::Warn => decoded.dropped.into_iter().map(|problem| problem.text).collect(),
        _ => Vec::new(),
    };
    let mut value = decoded.value;
    let sent = value.clone();
    default::default(schema, &mut value);
    passage.note(Stage::Default, filled_in(&sent, &value));
    let errors = match stored {
        None => {
            prepare::prepare_for_create(schema, &mut value);
            if passage.is_proven { Vec::new() } else { validate::validate_create(schema, &value) }
        }
        Some(stored) if request.subresource.is_empty() => {
            let old = stored.to_value();
            prepare::prepare_for_update(schema, &old, &mut value);
            validate::validate_update(schema, &old, &value)
        }
        Some(stored) if (kind, &*request.subresource) == (Kind::Pod, "ephemeralcontainers") => {
            // Whatever else the body says, nothing but these is changed.
            let old = stored.to_value();
            let added = std::mem::replace(&mut value, old.clone())["spec"]["ephemeralContainers"].take();
            if !added.is_null() {
                value["spec"]["ephemeralContainers"] = added;
            }
            prepare::prepare_for_update(schema, &old, &mut value);
            validate::validate_ephemeral(&old, &value)
        }
        Some(stored) if (kind, &*request.subresource) == (Kind::Pod, "resize") => {
            let old = stored.to_value();
            let asked = std::mem::replace(&mut value, old.clone());
            resized(&mut value, &asked);
            prepare::prepare_for_update(schema, &old, &mut value);
            validate::validate_resize(&old, &value)
        }
        Some(_) => Vec::new(),
    };
    if !errors.is_empty() {
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        let status = Status::invalid(kind, name, errors.iter().map(validate::FieldError::cause).collect());
        passage.check(Stage::Validate, Err(status))?;
    }
    passage.pass(Stage::Validate);
    let old = stored.map(managed::with_managers);
    if !passage.is_proven {
        warnings.extend(validate::warnings(schema, old.as_ref(), &value));
    }
    managed::updated(request, schema, old.as_ref(), &mut value, now);
    let decoded = Object::decode(kind, value).map_err(|error| Status::bad_request(error.to_string()));
    let mut object = passage.check(Stage::Decode, decoded)?;
    managed::settle(stored, &mut object);
    Ok((object, warnings))
}

/// Gives the containers of a Pod what another version of it asks for, and nothing else of it.
fn resized(pod: &mut Value, asked: &Value) {
    for list in ["containers", "initContainers"] {
        let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let mut others = asked["spec"][list].as_array().into_iter().flatten();
            if let Some(other) = others.find(|other| other["name"] == container["name"]) {
                for field in ["resources", "resizePolicy"] {
                    match other.get(field) {
                        Some(value) => container[field] = value.clone(),
                        None => drop(container.as_object_mut().and_then(|members| members.remove(field))),
                    }
                }
            }
        }
    }
}

/// Decodes, defaults and validates a body of a kind that somebody added, by the schema of its definition.
fn read_custom(
    store: &Store,
    request: &Request,
    mut body: Value,
    stored: Option<&Object>,
    passage: &mut Passage,
) -> Result<(Object, Vec<String>), Status> {
    let kind = request.kind;
    let result = address(request, &mut body).and_then(|()| {
        let definition = custom::definition(store, kind).ok_or_else(Status::no_such_resource)?;
        let read = definition.read(&body, request.options.field_validation);
        read.map(|read| (definition, read)).map_err(|error| undecodable(request, &error))
    });
    let (definition, decoded) = passage.check(Stage::Decode, result)?;
    passage.pass(Stage::Decode);
    let warnings = match request.options.field_validation {
        FieldValidation::Warn => decoded.dropped.into_iter().map(|problem| problem.text).collect(),
        _ => Vec::new(),
    };
    let mut value = decoded.value;
    let sent = value.clone();
    definition.default(&mut value);
    passage.note(Stage::Default, filled_in(&sent, &value));
    let old = stored.map(Object::to_value);
    if request.subresource.is_empty() {
        definition.prepare(old.as_ref(), &mut value);
    }
    let mut errors = validate::validate_metadata(&value, kind.is_namespaced());
    errors.extend(definition.judge(&value));
    if !errors.is_empty() {
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        let status = Status::invalid(kind, name, errors.iter().map(validate::FieldError::cause).collect());
        passage.check(Stage::Validate, Err(status))?;
    }
    passage.pass(Stage::Validate);
    let decoded = Object::decode(kind, value).map_err(|error| Status::bad_request(error.to_string()));
    Ok((passage.check(Stage::Decode, decoded)?, warnings))
}

/// Refuses a kind that is written in another way than the server knows it.
fn registered(kind: Kind, body: &Value) -> Result<(), Status> {
    let Some(given) = body["kind"].as_str().filter(|given| !given.is_empty() && *given != kind.name()) else {
        return Ok(());
    };
    let version = kind.version();
    Err(Status::bad_request(format!(
        "{given} in version \"{version}\" cannot be handled as a {}: no kind \"{given}\" is registered for version \"{}\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        kind.name(),
        kind.api_version()
    )))
}

/// Refuses to replace another object than the one that is meant.
fn same_uid(request: &Request, body: &Value, stored: &Object) -> Result<(), Status> {
    let uid = body["metadata"]["uid"].as_str().unwrap_or_default();
    if uid.is_empty() || *uid == *stored.meta().uid {
        return Ok(());
    }
    let kind = request.kind;
    let place = match kind {
        Kind::Service => "services/specs",
        Kind::Endpoints => "services/endpoints",
        Kind::Node => "minions",
        Kind::Ingress => "ingress",
        Kind::Lease => "leases",
        kind => kind.plural(),
    };
    let namespace = if kind.is_namespaced() { format!("/{}", request.namespace) } else { String::new() };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{place}{namespace}/{}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
        request.name,
        stored.meta().uid
    );
    Err(Status::conflict_because(kind, &request.name, &why))
}

/// What defaulting filled in, a line each: `spec.replicas: 1`.
fn filled_in(sent: &Value, filled: &Value) -> Vec<String> {
    let line = |change: FieldChange| format!("{}: {}", change.path, change.new.unwrap_or(Value::Null));
    diff(sent, filled).into_iter().map(line).collect()
}

/// The refusal of a body, or of the object that a patch would make.
fn undecodable(request: &Request, error: &decode::DecodeError) -> Status {
    let kind = request.kind;
    match request.verb {
        Verb::MergePatch | Verb::StrategicPatch | Verb::JsonPatch => {
            patch::refusal(&request.body, &error.converted)
        }
        _ => Status::bad_request(decode::refusal(&kind.api_version(), kind.name(), error)),
    }
}

/// Makes the body's name and namespace agree with the request's.
fn address(request: &Request, body: &mut Value) -> Result<(), Status> {
    let Some(map) = body.as_object_mut() else {
        return Err(Status::bad_request("the request body is no object"));
    };
    let meta = map.entry("metadata").or_insert_with(|| Value::Object(Default::default()));
    let Some(meta) = meta.as_object_mut() else { return Ok(()) };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_string();
    let (name, namespace) = (text(meta.get("name")), text(meta.get("namespace")));
    if !namespace.is_empty() && namespace != *request.namespace && request.kind.is_namespaced() {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if !name.is_empty() && !request.name.is_empty() && name != *request.name {
        let message =
            format!("the name of the object ({name}) does not match the name on the URL ({})", request.name);
        return Err(Status::bad_request(message));
    }
    if request.kind.is_namespaced() {
        meta.insert("namespace".to_string(), Value::String(request.namespace.to_string()));
    } else {
        meta.remove("namespace");
    }
    Ok(())
}

/// The stored object with the patch applied.
fn patched(request: &Request, stored: &Object) -> Result<Value, Status> {
    let mut value = managed::with_managers(stored);
    let kind = request.kind;
    let schema = schema::root(kind.group(), kind.version(), kind.name());
    let result = match (request.verb, schema) {
        (Verb::MergePatch, _) => {
            patch::merge(&mut value, &request.body);
            Ok(())
        }
        (Verb::StrategicPatch, Some(schema)) => patch::strategic(schema, &mut value, &request.body),
        (Verb::JsonPatch, _) => patch::json(&mut value, &request.body),
        _ => return Err(Status::unsupported_media_type()),
    };
    result.map(|()| value).map_err(|error| error.status())
}
