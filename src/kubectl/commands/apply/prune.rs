//! `kubectl apply --prune`: deletes what was applied once and is in no file any more.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/apply/prune.go`, `pkg/util/prune/prune.go` (v1.36).
//! Leaves out: apply sets; the log line about kinds of the whole cluster when a namespace is named.

use std::collections::BTreeSet;

use serde_json::Value;

use super::LAST_APPLIED;
use crate::api::kind::Kind;
use crate::cluster::server::request::{Propagation, Request, Verb};
use crate::kubectl::commands::{Call, DryRun, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::print::format::Format;
use crate::kubectl::resources::{self, Narrowing};

/// What is pruned where `--prune-allowlist` says nothing else.
const ALLOWED: [Kind; 16] = [
    Kind::ConfigMap,
    Kind::Endpoints,
    Kind::Namespace,
    Kind::PersistentVolumeClaim,
    Kind::PersistentVolume,
    Kind::Pod,
    Kind::ReplicationController,
    Kind::Secret,
    Kind::Service,
    Kind::Job,
    Kind::CronJob,
    Kind::Ingress,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
];

/// The kinds that may be pruned.
///
/// # Errors
/// When the list holds something that is no kind.
pub(super) fn kinds(call: &Call) -> Result<Vec<Kind>, Failure> {
    let given = call.flags.texts("prune-allowlist");
    if given.is_empty() {
        return Ok(ALLOWED.to_vec());
    }
    let kind = |text: &String| {
        let parts: Vec<&str> = text.split('/').collect();
        let [group, version, name] = parts.as_slice() else {
            return Err(Failure::error(format!(
                "invalid GroupVersionKind format: {text}, please follow <group/version/kind>"
            )));
        };
        let group = if *group == "core" { "" } else { *group };
        let version = if group.is_empty() { (*version).to_string() } else { format!("{group}/{version}") };
        Kind::from_manifest(&version, name)
            .ok_or_else(|| Failure::error(format!("no matches for kind \"{name}\" in version \"{version}\"")))
    };
    given.iter().map(kind).collect()
}

/// What the command applied: it stays.
#[derive(Debug, Default)]
pub(super) struct Visited {
    /// Uids of the objects.
    pub uids: BTreeSet<String>,
    /// Namespaces that it touched.
    pub namespaces: BTreeSet<String>,
}

/// Deletes what the selector finds, was applied before, and was not applied now.
pub(super) fn prune(
    call: &mut Call,
    kinds: &[Kind],
    visited: &Visited,
    format: &Format,
    dry_run: DryRun,
) -> Result<(), Failure> {
    let labels = call.flags.text("selector").map(str::to_string);
    let namespaced = |kind: &&Kind| kind.is_namespaced();
    let places = visited
        .namespaces
        .iter()
        .flat_map(|namespace| kinds.iter().filter(namespaced).map(move |kind| (namespace.as_str(), *kind)))
        .chain(kinds.iter().filter(|kind| !kind.is_namespaced()).map(|kind| ("", *kind)));
    for (namespace, kind) in places.collect::<Vec<_>>() {
        let narrowing =
            Narrowing { namespace: Some(namespace.to_string()), labels: labels.clone(), fields: None };
        let scope = if kind.is_namespaced() { "namespaced" } else { "nonNamespaced" };
        let failed = |text: &str| {
            let version = match kind.group() {
                "" => format!("/{}", kind.version()),
                _ => kind.api_version(),
            };
            Failure::error(format!("error pruning {scope} object {version}, Kind={}: {text}", kind.name()))
        };
        let found =
            resources::list(&*call.host, kind, &narrowing).map_err(|status| failed(&status.message))?;
        for object in found {
            let meta = object.meta();
            if !meta.annotations.contains_key(LAST_APPLIED) || visited.uids.contains(&*meta.uid) {
                continue;
            }
            if dry_run != DryRun::Client {
                let mut request = Request::new(Verb::Delete, kind, namespace, &meta.name, Value::Null);
                request.options.propagation = Some(super::propagation(call));
                request.options.grace_seconds =
                    call.flags.number("grace-period").filter(|seconds| *seconds >= 0);
                request.options.dry_run = dry_run == DryRun::Server;
                call.host.ask(request).map_err(|status| failed(&status.message))?;
            }
            create::print(call, format, kind.printed(), object.to_value(), "pruned", dry_run)?;
        }
    }
    Ok(())
}

/// What `--cascade` asks for.
pub(super) fn propagation_of(text: &str) -> Propagation {
    match text {
        "orphan" | "false" => Propagation::Orphan,
        "foreground" => Propagation::Foreground,
        _ => Propagation::Background,
    }
}

#[cfg(test)]
mod tests {
    use crate::kubectl::testing::Terminal;

    const BOTH: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {app: x}}\n---\n\
                        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, labels: {app: x}}\n---\n\
                        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    const ONE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {app: x}}\n";

    #[test]
    fn what_is_in_no_file_any_more_is_pruned_within_the_selector() {
        let mut terminal = Terminal::new();
        terminal.input("kubectl apply -f -", BOTH);
        terminal.run("kubectl create configmap by-hand");
        terminal.run("kubectl label configmap by-hand app=x");
        let table = [
            (
                "kubectl apply -f - --prune",
                "E|error: all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector\n[exit 1]\n",
            ),
            (
                "kubectl apply -f - --prune -l app=x --prune-allowlist=v1/ConfigMap",
                "E|error: invalid GroupVersionKind format: v1/ConfigMap, please follow <group/version/kind>\n[exit 1]\n",
            ),
            (
                "kubectl apply -f - --prune -l app=x --prune-allowlist=core/v1/Secret",
                "configmap/a unchanged\n",
            ),
            (
                "kubectl apply -f - --prune -l app=x --dry-run=client",
                "configmap/a unchanged (dry run)\nconfigmap/b pruned (dry run)\n",
            ),
            ("kubectl apply -f - --prune -l app=x", "configmap/a unchanged\nconfigmap/b pruned\n"),
            ("kubectl apply -f - --prune --all", "configmap/a unchanged\nconfigmap/c pruned\n"),
        ];
        for (line, expected) in table {
            assert_eq!(terminal.input(line, ONE), expected, "{line}");
        }
        assert!(terminal.run("kubectl get configmap -o name").contains("configmap/by-hand"));
    }

    #[test]
    fn force_makes_anew_what_cannot_be_changed() {
        let mut terminal = Terminal::new();
        let pod = |image: &str, port: u16| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{terminationGracePeriodSeconds: 1, containers: [{{name: c, image: {image}, ports: [{{containerPort: {port}}}]}}]}}\n"
            )
        };
        terminal.input("kubectl apply -f -", &pod("nginx:1.27", 80));
        assert!(terminal.input("kubectl apply -f -", &pod("nginx:1.27", 81)).contains("is invalid"));
        assert_eq!(
            terminal.input("kubectl apply --force -f -", &pod("nginx:1.27", 81)),
            "pod/p configured\n"
        );
        let port = terminal.run("kubectl get pod p -o jsonpath={.spec.containers[0].ports[0].containerPort}");
        assert_eq!(port, "81");
    }
}
