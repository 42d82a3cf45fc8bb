//! Which rule a request matches: hosts, paths and their precedence, as pure functions over Ingresses.
//!
//! Models: the Ingress API (`networking/v1/types.go`, `website` concepts/services-networking/ingress.md) as
//! ingress-nginx v1.14 serves it (`internal/ingress/controller/controller.go` `getBackendServers`): one server a host,
//! the most precise host first, within it an exact path, then the longest; of two equal rules the older Ingress's.
//! Leaves out: regular expressions, rewrites, canaries and aliases (annotations of ingress-nginx).

use std::sync::Arc;

use crate::api::kinds::networking::{Ingress, IngressBackend, ServiceBackendPort};
use crate::api::meta::ObjectKey;
use crate::api::object::Resource;

/// How a rule's path is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathType {
    /// To the letter.
    Exact,
    /// Element by element.
    Prefix,
    /// As the controller likes: ingress-nginx compares the beginning, letter by letter.
    ImplementationSpecific,
}

impl PathType {
    /// Reads the field.
    pub fn of(text: &str) -> Self {
        match text {
            "Exact" => Self::Exact,
            "Prefix" => Self::Prefix,
            _ => Self::ImplementationSpecific,
        }
    }

    /// As the field writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "Exact",
            Self::Prefix => "Prefix",
            Self::ImplementationSpecific => "ImplementationSpecific",
        }
    }

    /// Whether a path of this type matches a request's path.
    pub fn matches(self, path: &str, request: &str) -> bool {
        match self {
            Self::Exact => path == request,
            Self::ImplementationSpecific => request.starts_with(path),
            Self::Prefix => {
                let mut wanted = path.split('/').filter(|element| !element.is_empty());
                let mut given = request.split('/').filter(|element| !element.is_empty());
                wanted.all(|element| given.next() == Some(element))
            }
        }
    }
}

/// One path of one rule of one Ingress.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The Ingress.
    pub ingress: ObjectKey,
    /// Where the path stands, as `spec.rules[0].http.paths[1]`.
    pub field: String,
    /// The rule's host; empty for all.
    pub host: String,
    /// The path; an empty one is `/`.
    pub path: String,
    /// How the path is compared.
    pub path_type: PathType,
    /// Where matching requests go; `None` for something else than a Service.
    pub backend: Option<BackendReference>,
}

/// A Service's port that requests go to.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendReference {
    /// The Service.
    pub service: ObjectKey,
    /// Its port.
    pub port: ServiceBackendPort,
}

impl BackendReference {
    /// `80` or `http`.
    pub fn port_text(&self) -> String {
        if self.port.name.is_empty() { self.port.number.to_string() } else { self.port.name.clone() }
    }
}

/// Why a route lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The host is another one.
    HostDiffers,
    /// The host would match, but another rule names it more precisely.
    HostLessPrecise,
    /// The path does not match.
    PathDiffers,
    /// Another path that matches is longer.
    Shorter,
    /// Another path matches exactly.
    NotExact,
    /// An older Ingress has the same host and path.
    Shadowed(ObjectKey),
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Winner {
    /// To the backend of this route.
    Route(Route),
    /// To the default backend of this Ingress.
    DefaultBackend(ObjectKey, BackendReference),
    /// To the controller's own answer, 404.
    Nowhere,
}

/// The decision over one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Who won.
    pub winner: Winner,
    /// Who lost, and why, in the order of the rules.
    pub losers: Vec<(Route, Loss)>,
}

/// Every path of every rule, in the order of the Ingresses.
pub fn routes_of<'a>(ingresses: impl IntoIterator<Item = &'a Arc<Ingress>>) -> Vec<Route> {
    ingresses.into_iter().flat_map(|ingress| routes_of_one(ingress)).collect()
}

fn routes_of_one(ingress: &Ingress) -> Vec<Route> {
    let mut routes = Vec::new();
    for (r, rule) in ingress.spec.rules.iter().enumerate() {
        for (p, path) in rule.http.iter().flat_map(|http| http.paths.iter().enumerate()) {
            routes.push(Route {
                ingress: ingress.key(),
                field: format!("spec.rules[{r}].http.paths[{p}]"),
                host: rule.host.clone(),
                path: if path.path.is_empty() { "/".to_string() } else { path.path.clone() },
                path_type: PathType::of(&path.path_type),
                backend: reference(ingress, &path.backend),
            });
        }
    }
    routes
}

/// The Service that a backend names, in the Ingress's namespace.
pub fn reference(ingress: &Ingress, backend: &IngressBackend) -> Option<BackendReference> {
    let service = backend.service.as_ref()?;
    let kind = crate::api::kind::Kind::Service;
    let key = ObjectKey::new(kind, ingress.meta.namespace.clone(), service.name.clone());
    Some(BackendReference { service: key, port: service.port.clone() })
}

/// Whether a rule's host (empty for all, `*.` and a suffix for one more label) covers a request's.
pub fn host_matches(rule: &str, request: &str) -> bool {
    match rule.strip_prefix("*.") {
        _ if rule.is_empty() => true,
        Some(suffix) => {
            request.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && rest == suffix)
        }
        None => rule == request,
    }
}

/// How precise a host is: exact, wildcard, none.
fn precision(host: &str) -> u8 {
    match host {
        "" => 0,
        host if host.starts_with("*.") => 1,
        _ => 2,
    }
}

/// Decides over a request. `ingresses` are those that the controller handles, the oldest first.
pub fn decide(ingresses: &[Arc<Ingress>], host: &str, path: &str) -> Decision {
    let host = host.to_ascii_lowercase();
    let routes = routes_of(ingresses);
    let hosts = ingresses.iter().flat_map(|ingress| &ingress.spec.rules).map(|rule| rule.host.as_str());
    let server = hosts.filter(|rule| host_matches(rule, &host)).max_by_key(|rule| precision(rule));
    let in_server = |route: &Route| Some(route.host.as_str()) == server;
    let winner = routes
        .iter()
        .filter(|route| in_server(route) && route.path_type.matches(&route.path, path))
        .fold(None, |best: Option<&Route>, route| match best {
            Some(best) if rank(best) >= rank(route) => Some(best),
            _ => Some(route),
        });
    let losers = routes
        .iter()
        .filter(|route| winner.is_none_or(|winner| !std::ptr::eq(*route, winner)))
        .map(|route| {
            let loss = if !host_matches(&route.host, &host) {
                Loss::HostDiffers
            } else if !route.path_type.matches(&route.path, path) {
                Loss::PathDiffers
            } else if !in_server(route) {
                Loss::HostLessPrecise
            } else {
                match winner {
                    Some(winner) if rank(winner) == rank(route) => Loss::Shadowed(winner.ingress.clone()),
                    Some(winner) if winner.path_type == PathType::Exact => Loss::NotExact,
                    _ => Loss::Shorter,
                }
            };
            (route.clone(), loss)
        })
        .collect();
    let winner = match winner {
        Some(route) if route.backend.is_some() => Winner::Route(route.clone()),
        Some(_) => Winner::Nowhere,
        None => default_backend(ingresses, server),
    };
    Decision { winner, losers }
}

/// An exact path first, then the longer one.
fn rank(route: &Route) -> (bool, usize) {
    (route.path_type == PathType::Exact, route.path.len())
}

/// The default backend of the Ingress that has the host; of one without rules for every host.
fn default_backend(ingresses: &[Arc<Ingress>], server: Option<&str>) -> Winner {
    let serves = |ingress: &&Arc<Ingress>| match server {
        Some(host) if !host.is_empty() => ingress.spec.rules.iter().any(|rule| rule.host == host),
        _ => ingress.spec.rules.is_empty() || ingress.spec.rules.iter().any(|rule| rule.host.is_empty()),
    };
    let found = ingresses.iter().filter(serves).find_map(|ingress| {
        let backend = ingress.spec.default_backend.as_ref().and_then(|b| reference(ingress, b))?;
        Some(Winner::DefaultBackend(ingress.key(), backend))
    });
    found.unwrap_or(Winner::Nowhere)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::network::fixture::ingress;

    /// The Service that a request reaches under these rules (host, path, type, Service).
    fn reached(rules: &[(&str, &str, &str, &str)], host: &str, path: &str) -> Option<String> {
        let rules: Vec<_> = rules.iter().map(|&(h, p, t, s)| (h, p, t, s, 80)).collect();
        let ingresses = [Arc::new(ingress("demo", "shop", &rules))];
        match decide(&ingresses, host, path).winner {
            Winner::Route(route) => Some(route.backend.unwrap().service.name.to_string()),
            _ => None,
        }
    }

    #[test]
    fn paths_match_as_the_documentation_says() {
        use PathType::{Exact, Prefix};
        type Paths = &'static [(PathType, &'static str)];
        let table: &[(Paths, &str, Option<&str>)] = &[
            (&[(Prefix, "/")], "/anything", Some("/")),
            (&[(Exact, "/foo")], "/foo", Some("/foo")),
            (&[(Exact, "/foo")], "/bar", None),
            (&[(Exact, "/foo")], "/foo/", None),
            (&[(Exact, "/foo/")], "/foo", None),
            (&[(Prefix, "/foo")], "/foo", Some("/foo")),
            (&[(Prefix, "/foo")], "/foo/", Some("/foo")),
            (&[(Prefix, "/foo/")], "/foo", Some("/foo/")),
            (&[(Prefix, "/foo/")], "/foo/", Some("/foo/")),
            (&[(Prefix, "/aaa/bb")], "/aaa/bbb", None),
            (&[(Prefix, "/aaa/bbb")], "/aaa/bbb", Some("/aaa/bbb")),
            (&[(Prefix, "/aaa/bbb/")], "/aaa/bbb", Some("/aaa/bbb/")),
            (&[(Prefix, "/aaa/bbb")], "/aaa/bbb/", Some("/aaa/bbb")),
            (&[(Prefix, "/aaa/bbb")], "/aaa/bbb/ccc", Some("/aaa/bbb")),
            (&[(Prefix, "/aaa/bbb")], "/aaa/bbbxyz", None),
            (&[(Prefix, "/"), (Prefix, "/aaa")], "/aaa/ccc", Some("/aaa")),
            (&[(Prefix, "/"), (Prefix, "/aaa"), (Prefix, "/aaa/bbb")], "/aaa/bbb", Some("/aaa/bbb")),
            (&[(Prefix, "/"), (Prefix, "/aaa"), (Prefix, "/aaa/bbb")], "/ccc", Some("/")),
            (&[(Prefix, "/aaa")], "/ccc", None),
            (&[(Prefix, "/foo"), (Prefix, "/foo/")], "/foo/", Some("/foo/")),
            (&[(Prefix, "/foo")], "/FOO", None),
            (&[(Exact, "/foo")], "/FOO", None),
        ];
        for (paths, request, expected) in table {
            let rules: Vec<_> = paths.iter().map(|(t, p)| ("", *p, t.word(), *p)).collect();
            assert_eq!(reached(&rules, "any.host", request).as_deref(), *expected, "{paths:?} {request}");
        }
    }

    #[test]
    fn an_exact_path_wins_over_a_prefix() {
        for rules in [
            [("", "/foo", "Prefix", "prefix"), ("", "/foo", "Exact", "exact")],
            [("", "/foo", "Exact", "exact"), ("", "/foo", "Prefix", "prefix")],
        ] {
            assert_eq!(reached(&rules, "h", "/foo").as_deref(), Some("exact"));
        }
    }

    #[test]
    fn hosts_match_as_the_documentation_says() {
        for (rule, request, expected) in [
            ("*.foo.com", "bar.foo.com", true),
            ("*.foo.com", "baz.bar.foo.com", false),
            ("*.foo.com", "foo.com", false),
            ("foo.bar.com", "foo.bar.com", true),
            ("foo.bar.com", "subdomain.bar.com", false),
            ("", "any.thing", true),
            ("foo.bar.com", "FOO.bar.com", true),
        ] {
            let matches = reached(&[(rule, "/", "Prefix", "s")], request, "/").is_some();
            assert_eq!(matches, expected, "{rule} {request}");
        }
    }

    #[test]
    fn the_conformance_rules_lead_where_they_should() {
        let rules = [
            ("exact-path-rules", "/foo", "Exact", "foo-exact"),
            ("prefix-path-rules", "/foo", "Prefix", "foo-prefix"),
            ("prefix-path-rules", "/aaa/bbb", "Prefix", "aaa-slash-bbb-prefix"),
            ("prefix-path-rules", "/aaa", "Prefix", "aaa-prefix"),
            ("mixed-path-rules", "/foo", "Prefix", "foo-prefix"),
            ("mixed-path-rules", "/foo", "Exact", "foo-exact"),
            ("trailing-slash-path-rules", "/aaa/bbb/", "Prefix", "aaa-slash-bbb-slash-prefix"),
            ("trailing-slash-path-rules", "/foo/", "Exact", "foo-slash-exact"),
        ];
        for (host, path, expected) in [
            ("exact-path-rules", "/foo", Some("foo-exact")),
            ("exact-path-rules", "/foo/", None),
            ("exact-path-rules", "/FOO", None),
            ("exact-path-rules", "/bar", None),
            ("prefix-path-rules", "/foo", Some("foo-prefix")),
            ("prefix-path-rules", "/foo/", Some("foo-prefix")),
            ("prefix-path-rules", "/FOO", None),
            ("prefix-path-rules", "/aaa/bbb", Some("aaa-slash-bbb-prefix")),
            ("prefix-path-rules", "/aaa/bbb/ccc", Some("aaa-slash-bbb-prefix")),
            ("prefix-path-rules", "/aaa/ccc", Some("aaa-prefix")),
            ("prefix-path-rules", "/aaaccc", None),
            ("mixed-path-rules", "/foo", Some("foo-exact")),
            ("trailing-slash-path-rules", "/aaa/bbb", Some("aaa-slash-bbb-slash-prefix")),
            ("trailing-slash-path-rules", "/aaa/bbb/", Some("aaa-slash-bbb-slash-prefix")),
            ("trailing-slash-path-rules", "/foo", None),
        ] {
            assert_eq!(reached(&rules, host, path).as_deref(), expected, "{host}{path}");
        }
    }

    #[test]
    fn the_most_precise_host_takes_the_request_even_if_none_of_its_paths_match() {
        let rules = [
            ("*.foo.com", "/", "Prefix", "wild"),
            ("a.foo.com", "/x", "Prefix", "exact"),
            ("", "/", "Prefix", "all"),
        ];
        for (host, path, expected) in [
            ("a.foo.com", "/x", Some("exact")),
            ("a.foo.com", "/y", None),
            ("b.foo.com", "/x", Some("wild")),
            ("other", "/x", Some("all")),
        ] {
            assert_eq!(reached(&rules, host, path).as_deref(), expected, "{host}{path}");
        }
    }

    #[test]
    fn every_loser_is_told_why() {
        let rules = [
            ("shop.example", "/api", "Prefix", "api", 80),
            ("shop.example", "/", "Prefix", "web", 80),
            ("shop.example", "/api/v2", "Exact", "v2", 80),
            ("other.example", "/api", "Prefix", "api", 80),
            ("*.example", "/api", "Prefix", "wild", 80),
        ];
        let older = Arc::new(ingress("demo", "shop", &rules));
        let younger = Arc::new(ingress("demo", "twin", &rules[..1]));
        let losers = decide(&[older.clone(), younger], "shop.example", "/api/items").losers;
        let losses: Vec<_> = losers.into_iter().map(|(_, loss)| loss).collect();
        let expected = [
            Loss::Shorter,
            Loss::PathDiffers,
            Loss::HostDiffers,
            Loss::HostLessPrecise,
            Loss::Shadowed(older.key()),
        ];
        assert_eq!(losses, expected);
    }

    #[test]
    fn a_default_backend_without_rules_answers_for_every_host() {
        let mut catch_all = ingress("demo", "all", &[]);
        catch_all.spec.default_backend =
            ingress("demo", "x", &[("", "/", "Prefix", "echo-service", 8080)]).spec.rules[0]
                .http
                .as_ref()
                .map(|http| http.paths[0].backend.clone());
        let named = Arc::new(ingress("demo", "shop", &[("shop.example", "/api", "Prefix", "api", 80)]));
        let ingresses = [Arc::new(catch_all), named];
        for (host, path, expected) in [
            ("my-host", "/", true),
            ("some-host", "/resource", true),
            ("shop.example", "/api", false),
            ("shop.example", "/elsewhere", false),
        ] {
            let winner = decide(&ingresses, host, path).winner;
            assert_eq!(matches!(winner, Winner::DefaultBackend(..)), expected, "{host}{path}");
        }
    }

    #[test]
    fn a_path_whose_backend_is_no_service_leads_nowhere() {
        let mut odd = ingress("demo", "odd", &[("h", "/", "Prefix", "api", 80)]);
        odd.spec.rules[0].http.as_mut().unwrap().paths[0].backend.service = None;
        assert_eq!(decide(&[Arc::new(odd)], "h", "/").winner, Winner::Nowhere);
    }
}
