//! Which objects a command means: `pods`, `pod web`, `deploy/web svc/web`, `deploy,svc web`, `all`, `-l app=web`.
//!
//! Models: `k8s.io/cli-runtime/pkg/resource/builder.go` (v1.36).
//! Leaves out: names over several namespaces.

use super::commands::Call;
use super::failure::Failure;
use super::host::Host;
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::cluster::server::authn;
use crate::cluster::server::authz::{self, Access};
use crate::cluster::server::custom;
use crate::cluster::server::select::Selection;
use crate::cluster::server::status::Status;

/// One thing that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All objects of a kind, as far as the selectors leave them.
    Kind(Kind),
    /// One object by name.
    Named(Kind, String),
}

/// What narrows a list.
#[derive(Clone, Debug, Default)]
pub struct Narrowing {
    /// The namespace; `None` for all of them.
    pub namespace: Option<String>,
    /// `-l`, as given.
    pub labels: Option<String>,
    /// `--field-selector`, as given.
    pub fields: Option<String>,
}

/// What a wish came to.
#[derive(Clone, Debug)]
pub struct Found {
    /// The kind.
    pub kind: Kind,
    /// The objects, in the order of their names.
    pub objects: Vec<Object>,
    /// Whether they come from a list, which may be empty.
    pub listed: bool,
}

/// Kinds of Kubernetes that the cluster does not have yet, as people type them.
const ABSENT: &[&[&str]] = &[
    &["gateways", "gateway", "gtw"],
    &["gatewayclasses", "gatewayclass", "gc"],
    &["httproutes", "httproute"],
];

/// The kind that a word means.
///
/// # Errors
/// When the server has no such kind.
pub fn kind_of(word: &str, host: &dyn Host) -> Result<Kind, Failure> {
    if let Some(kind) = Kind::from_resource(word).filter(|kind| host.kinds().contains(kind)) {
        return Ok(kind);
    }
    if let Some(kind) = custom::of_word(host.store(), word) {
        return Ok(kind);
    }
    let plain = word.split('.').next().unwrap_or(word);
    match absent(plain) {
        Some(names) if plain == word => {
            Err(Failure::error(format!("{} are not simulated in this release of Kubestep", names[0])))
        }
        _ => Err(Failure::error(format!("the server doesn't have a resource type \"{plain}\""))),
    }
}

/// The names of a kind of Kubernetes that the cluster does not have: plural, singular, short.
pub fn absent(word: &str) -> Option<&'static [&'static str]> {
    let lower = word.to_ascii_lowercase();
    ABSENT.iter().copied().find(|names| names.contains(&lower.as_str()))
}

/// What the arguments ask for, in their order.
///
/// # Errors
/// In kubectl's words, when they do not fit together or name a kind that does not exist.
pub fn wanted(args: &[String], host: &dyn Host) -> Result<Vec<Wanted>, Failure> {
    let with_slash = args.iter().filter(|arg| arg.contains('/')).count();
    if with_slash > 0 && with_slash < args.len() {
        return Err(Failure::error(
            "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
        ));
    }
    if with_slash > 0 {
        return args.iter().map(|arg| named(arg, host)).collect();
    }
    let Some((words, names)) = args.split_first() else { return Ok(Vec::new()) };
    let mut kinds: Vec<Kind> = Vec::new();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        let meant = match word {
            "all" => {
                let mut all: Vec<Kind> =
                    host.kinds().iter().copied().filter(|kind| kind.info().in_all).collect();
                all.sort_by_key(|kind| (kind.group(), kind.plural()));
                all
            }
            _ => vec![kind_of(word, host)?],
        };
        for kind in meant {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    if names.is_empty() {
        return Ok(kinds.into_iter().map(Wanted::Kind).collect());
    }
    Ok(kinds
        .into_iter()
        .flat_map(|kind| names.iter().map(move |name| Wanted::Named(kind, name.clone())))
        .collect())
}

fn named(arg: &str, host: &dyn Host) -> Result<Wanted, Failure> {
    let parts: Vec<&str> = arg.split('/').collect();
    let (word, name) = match parts.as_slice() {
        [word, name] => (*word, *name),
        _ => return Err(Failure::error("arguments in resource/name form may not have more than one slash")),
    };
    if word.is_empty() || name.is_empty() || word.contains(',') {
        return Err(Failure::error("arguments in resource/name form must have a single resource and name"));
    }
    Ok(Wanted::Named(kind_of(word, host)?, name.to_string()))
}

/// Nothing was asked for at all.
pub fn nothing_given() -> Failure {
    Failure::error(
        "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
    )
}

/// A kind was asked for where a name must stand.
pub fn no_name_given() -> Failure {
    Failure::error("resource(s) were provided, but no name was specified")
}

/// A name was given together with a selector.
pub fn name_with_selector() -> Failure {
    Failure::error("name cannot be provided when a selector is specified")
}

/// Refuses what whoever asks may not do.
///
/// # Errors
/// 401 or 403.
pub fn may(host: &dyn Host, access: &Access<'_>) -> Result<(), Status> {
    let credentials = host.credentials();
    if credentials.is_default() {
        return Ok(());
    }
    let identity = authn::identify(host.store(), host.settings(), &credentials)?;
    authz::authorize(host.store(), &identity, access)
}

/// Whether whoever asks may list a kind in a namespace.
pub fn may_list(host: &dyn Host, kind: Kind, namespace: &str) -> bool {
    may(host, &Access::to("list", kind, namespace, "")).is_ok()
}

/// Reads one object as the server would answer.
///
/// # Errors
/// `NotFound`, of the object or of its namespace; 403.
pub fn read<'a>(host: &'a dyn Host, kind: Kind, namespace: &str, name: &str) -> Result<&'a Object, Status> {
    let namespace = if kind.is_namespaced() { namespace } else { "" };
    may(host, &Access::to("get", kind, namespace, name))?;
    stored(host, kind, namespace, name)
}

/// The path of an object's or, without a name, of a kind's requests.
pub fn path_of(kind: Kind, namespace: &str, name: &str) -> String {
    let mut path = match kind.group() {
        "" => format!("/api/{}", kind.version()),
        group => format!("/apis/{group}/{}", kind.version()),
    };
    if kind.is_namespaced() && !namespace.is_empty() {
        path.push_str("/namespaces/");
        path.push_str(namespace);
    }
    for part in [kind.plural(), name].into_iter().filter(|part| !part.is_empty()) {
        path.push('/');
        path.push_str(part);
    }
    path
}

/// Reads one object, whoever asks.
///
/// # Errors
/// `NotFound`, of the object or of its namespace.
pub fn stored<'a>(host: &'a dyn Host, kind: Kind, namespace: &str, name: &str) -> Result<&'a Object, Status> {
    let namespace = if kind.is_namespaced() { namespace } else { "" };
    let key = crate::api::meta::ObjectKey::new(kind, namespace, name);
    let found = host.store().object(&key).ok_or_else(|| {
        let namespace_key = crate::api::meta::ObjectKey::new(Kind::Namespace, "", namespace);
        if kind.is_namespaced() && host.store().object(&namespace_key).is_none() {
            Status::not_found(Kind::Namespace, namespace)
        } else {
            Status::not_found(kind, name)
        }
    });
    let code = found.as_ref().map_or_else(|status| status.code, |_| 200);
    host.note("GET", &|| path_of(kind, namespace, name), code);
    found
}

/// Lists the objects of a kind that the selectors leave, by namespace and name.
///
/// # Errors
/// When a selector cannot be read or names a field that cannot be selected by.
pub fn list(host: &dyn Host, kind: Kind, narrowing: &Narrowing) -> Result<Vec<Object>, Status> {
    let place = narrowing.namespace.as_deref().unwrap_or_default();
    may(host, &Access { name: "", ..Access::to("list", kind, place, "") })?;
    let labels = narrowing.labels.as_deref().unwrap_or_default();
    let fields = narrowing.fields.as_deref().unwrap_or_default();
    let path = || {
        let mut path = path_of(kind, place, "");
        for (name, value) in [("fieldSelector", fields), ("labelSelector", labels)] {
            if !value.is_empty() {
                let value = value.replace('=', "%3D").replace(',', "%2C").replace('/', "%2F");
                path.push_str(&format!("{}{name}={value}", if path.contains('?') { '&' } else { '?' }));
            }
        }
        path.push_str(if path.contains('?') { "&limit=500" } else { "?limit=500" });
        path
    };
    host.note("GET", &path, 200);
    let refused = |why: String| {
        let mut status = Status::bad_request(format!(
            "Unable to find \"{}/{}, Resource={}\" that match label selector \"{labels}\", field selector \"{fields}\": {why}",
            kind.group(),
            kind.version(),
            kind.plural()
        ));
        status.details.kind = kind.plural().to_string();
        status
    };
    let selection = Selection::parse(kind, labels, fields).map_err(refused)?;
    let keeps = |object: &&Object| selection.keeps(object);
    let store = host.store();
    Ok(match (kind.is_namespaced(), narrowing.namespace.as_deref()) {
        (true, Some(namespace)) => store.objects_in(kind, namespace).filter(keeps).cloned().collect(),
        _ => store.objects_of(kind).filter(keeps).cloned().collect(),
    })
}

/// What the server warns of when such objects are read.
pub fn warnings(wanted: &[Wanted]) -> Vec<String> {
    let old =
        |wish: &&Wanted| matches!(wish, Wanted::Kind(Kind::Endpoints) | Wanted::Named(Kind::Endpoints, _));
    let text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
    wanted.iter().find(old).map(|_| text.to_string()).into_iter().collect()
}

/// Finds everything that is wanted; what is missing becomes a failure beside what was found.
pub fn find(host: &dyn Host, wanted: &[Wanted], narrowing: &Narrowing) -> (Vec<Found>, Vec<Failure>) {
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for wish in wanted {
        let result = match wish {
            Wanted::Kind(kind) => {
                list(host, *kind, narrowing).map(|objects| Found { kind: *kind, objects, listed: true })
            }
            Wanted::Named(kind, name) => {
                let namespace = narrowing.namespace.as_deref().unwrap_or_default();
                read(host, *kind, namespace, name).map(|object| Found {
                    kind: *kind,
                    objects: vec![object.clone()],
                    listed: false,
                })
            }
        };
        match result {
            Ok(result) => found.push(result),
            Err(status) => failures.push(Failure::server(&status)),
        }
    }
    (found, failures)
}

/// The objects that a command is to change: by name, by selector, by `--all`, or from files.
///
/// # Errors
/// When the arguments do not fit together; objects that are missing are the second part of the answer.
pub fn targets(call: &mut Call) -> Result<(Vec<Object>, Vec<Failure>), Failure> {
    let narrowing = call.narrowing();
    targets_within(call, &narrowing)
}

/// The same for a verb whose `--selector` means something else.
///
/// # Errors
/// As [`targets`].
pub fn targets_within(
    call: &mut Call,
    narrowing: &Narrowing,
) -> Result<(Vec<Object>, Vec<Failure>), Failure> {
    let selects = narrowing.labels.is_some() || narrowing.fields.is_some() || call.flags.on("all");
    if call.flags.given("filename") {
        let files = super::commands::files::read(call)?;
        let (mut objects, mut failures) = (Vec::new(), files.failures);
        for described in files.objects {
            match read(&*call.host, described.kind, &described.namespace, &described.name) {
                Ok(object) => objects.push(object.clone()),
                Err(status) => failures.push(Failure::server(&status)),
            }
        }
        return Ok((objects, failures));
    }
    if call.args.is_empty() {
        return Err(nothing_given());
    }
    let wanted = wanted(&call.args, &*call.host)?;
    let by_name = wanted.iter().any(|wish| matches!(wish, Wanted::Named(..)));
    if selects && by_name {
        return Err(name_with_selector());
    }
    if !selects && !by_name {
        return Err(no_name_given());
    }
    let (found, failures) = find(&*call.host, &wanted, narrowing);
    Ok((found.into_iter().flat_map(|found| found.objects).collect(), failures))
}
