//! `kubectl auth reconcile`: makes roles hold at least the rules of a file, and bindings at least its subjects.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/auth/reconcile.go`, `k8s.io/component-helpers/auth/rbac/reconciliation` (v1.36).
//! Leaves out: nothing that can be seen here.

use serde_json::{Map, Value, json};

use crate::api::kind::Kind;
use crate::cluster::server::authz::{self, Rule};
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::commands::{Call, DryRun, Pending, create, files};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::print::value::text;
use crate::kubectl::resources;

/// The flags of `auth reconcile`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::OUTPUT,
    flags::DRY_RUN,
    &[
        Flag::long("remove-extra-permissions", Takes::Nothing),
        Flag::long("remove-extra-subjects", Takes::Nothing),
    ],
];

const PROTECTED: &str = "rbac.authorization.kubernetes.io/autoupdate";

/// What is to be done with one object.
struct Plan {
    /// `create`, `update`, `recreate`; nothing when all is well.
    operation: Option<&'static str>,
    /// The object as it is to be.
    object: Value,
    /// What is added, as it is printed.
    missing: Vec<String>,
    /// What is there besides, as it is printed.
    extra: Vec<String>,
}

/// Reconciles the files.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.flags.given("filename") && !call.flags.given("kustomize") {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    if !call.args.is_empty() {
        return Err(Failure::error("no arguments are allowed"));
    }
    let dry_run = call.dry_run()?;
    if dry_run == DryRun::Server {
        return Err(Failure::error("--dry-run=server for command reconcile is not supported yet"));
    }
    let format = Format::of(&call.flags, false)?;
    let files = files::read(call)?;
    let mut failures = files.failures;
    for described in files.objects {
        let kind = described.kind;
        if !matches!(kind, Kind::Role | Kind::ClusterRole | Kind::RoleBinding | Kind::ClusterRoleBinding) {
            continue;
        }
        match reconcile(call, described, &format, dry_run) {
            Ok(()) => {}
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

fn reconcile(
    call: &mut Call,
    described: files::Described,
    format: &Format,
    dry_run: DryRun,
) -> Result<(), Failure> {
    let (kind, namespace) = (described.kind, described.namespace.clone());
    let refused = |status| Failure::server(&status);
    let live = match resources::read(&*call.host, kind, &namespace, &described.name) {
        Ok(object) => Some(object.to_value()),
        Err(status) if status.reason == "NotFound" => None,
        Err(status) => return Err(refused(status)),
    };
    let is_role = matches!(kind, Kind::Role | Kind::ClusterRole);
    let flag = if is_role { "remove-extra-permissions" } else { "remove-extra-subjects" };
    let removes = call.flags.on(flag);
    let mut plan = match (&live, is_role) {
        (None, true) => Plan {
            operation: Some("create"),
            missing: rules_of(&described.value).iter().map(rule_text).collect(),
            extra: Vec::new(),
            object: described.value,
        },
        (None, false) => Plan {
            operation: Some("create"),
            missing: subjects_of(&described.value).iter().map(subject_text).collect(),
            extra: Vec::new(),
            object: described.value,
        },
        (Some(live), true) => plan_role(&described.value, live, removes),
        (Some(live), false) => plan_binding(&described.value, live, removes),
    };
    let protected = live.as_ref().is_some_and(|live| live["metadata"]["annotations"][PROTECTED] == "false");
    if dry_run == DryRun::No && !protected {
        if live.is_none()
            && kind.is_namespaced()
            && resources::read(&*call.host, Kind::Namespace, "", &namespace).is_err()
        {
            let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            call.host
                .ask(Request::new(Verb::Create, Kind::Namespace, "", &namespace, body))
                .map_err(refused)?;
        }
        let verbs: &[Verb] = match plan.operation {
            None => &[],
            Some("create") => &[Verb::Create],
            Some("recreate") => &[Verb::Delete, Verb::Create],
            Some(_) => &[Verb::Update],
        };
        for verb in verbs {
            let body = if *verb == Verb::Delete { Value::Null } else { plan.object.clone() };
            let request = Request::new(*verb, kind, &namespace, &described.name, body);
            let response = call.host.ask(request).map_err(refused)?;
            if *verb != Verb::Delete {
                plan.object = response.object;
            }
        }
    }
    create::print(call, format, kind.printed(), plan.object, "reconciled", dry_run)?;
    let Some(operation) = plan.operation else { return Ok(()) };
    let caveat = match protected {
        true => ", but object opted out (rbac.authorization.kubernetes.io/autoupdate: false)",
        false => "",
    };
    let what = if is_role { "rules" } else { "subjects" };
    let mut told = format!("\treconciliation required {operation}{caveat}\n");
    for (title, lines) in [
        (format!("missing {what} added"), plan.missing),
        (format!("extra {what} removed"), if removes { plan.extra } else { Vec::new() }),
    ] {
        if !lines.is_empty() {
            told.push_str(&format!("\t{title}:\n"));
            lines.iter().for_each(|line| told.push_str(&format!("\t\t{line}\n")));
        }
    }
    call.output.stderr.push_str(&told);
    Ok(())
}

/// The live object with the labels and annotations of the file that it lacks, and whether that changes it.
fn with_words(expected: &Value, live: &Value) -> (Value, bool) {
    let mut object = live.clone();
    let mut changed = false;
    for field in ["annotations", "labels"] {
        let Some(given) = expected["metadata"][field].as_object() else { continue };
        let mut all: Map<String, Value> = given.clone();
        let had = live["metadata"][field].as_object().cloned().unwrap_or_default();
        all.extend(had.clone());
        if all != had {
            changed = true;
            object["metadata"][field] = Value::Object(all);
        }
    }
    (object, changed)
}

fn plan_role(expected: &Value, live: &Value, removes: bool) -> Plan {
    let (mut object, mut changed) = with_words(expected, live);
    let (mut missing, mut extra) = (Vec::new(), Vec::new());
    if expected["aggregationRule"].is_object() {
        changed |= expected["aggregationRule"] != live["aggregationRule"];
        object["aggregationRule"] = expected["aggregationRule"].clone();
    } else {
        let (wanted, had) = (rules_of(expected), rules_of(live));
        missing = authz::not_covered(&had, &wanted);
        extra = authz::not_covered(&wanted, &had);
        if removes && !(missing.is_empty() && extra.is_empty()) {
            object["rules"] = expected["rules"].clone();
            changed = true;
        } else if !missing.is_empty() {
            let mut rules = live["rules"].as_array().cloned().unwrap_or_default();
            rules.extend(missing.iter().map(Rule::to_value));
            object["rules"] = Value::Array(rules);
            changed = true;
        }
    }
    Plan {
        operation: changed.then_some("update"),
        object,
        missing: missing.iter().map(rule_text).collect(),
        extra: extra.iter().map(rule_text).collect(),
    }
}

fn plan_binding(expected: &Value, live: &Value, removes: bool) -> Plan {
    let role = |value: &Value| [text(&value["roleRef"]["kind"]), text(&value["roleRef"]["name"])];
    let (mut object, mut changed) = with_words(expected, live);
    let (wanted, had) = (subjects_of(expected), subjects_of(live));
    let only = |these: &[Value], those: &[Value]| -> Vec<Value> {
        these.iter().filter(|subject| !those.contains(subject)).cloned().collect()
    };
    let (missing, extra) = (only(&wanted, &had), only(&had, &wanted));
    if removes && !(missing.is_empty() && extra.is_empty()) {
        object["subjects"] = Value::Array(wanted);
        changed = true;
    } else if !missing.is_empty() {
        object["subjects"] = Value::Array(had.into_iter().chain(missing.clone()).collect());
        changed = true;
    }
    let is_other = role(expected) != role(live);
    if is_other {
        object["roleRef"] = expected["roleRef"].clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
            metadata.remove("uid");
        }
    }
    Plan {
        operation: if is_other { Some("recreate") } else { changed.then_some("update") },
        object,
        missing: missing.iter().map(subject_text).collect(),
        extra: extra.iter().map(subject_text).collect(),
    }
}

fn rules_of(role: &Value) -> Vec<Rule> {
    role["rules"].as_array().into_iter().flatten().map(Rule::of).collect()
}

/// The subjects of a binding, each with the group that the server fills in.
fn subjects_of(binding: &Value) -> Vec<Value> {
    let namespace = &binding["metadata"]["namespace"];
    let mut subjects = binding["subjects"].as_array().cloned().unwrap_or_default();
    for subject in &mut subjects {
        match subject["kind"].as_str() {
            Some("ServiceAccount") if subject["namespace"].is_null() && !namespace.is_null() => {
                subject["namespace"] = namespace.clone();
            }
            Some("User" | "Group") if subject["apiGroup"].is_null() => {
                subject["apiGroup"] = json!("rbac.authorization.k8s.io");
            }
            _ => {}
        }
    }
    subjects
}

/// A rule as Go prints its record.
fn rule_text(rule: &Rule) -> String {
    format!(
        "{{Verbs:[{}] APIGroups:[{}] Resources:[{}] ResourceNames:[{}] NonResourceURLs:[{}]}}",
        rule.verbs.join(" "),
        rule.groups.join(" "),
        rule.resources.join(" "),
        rule.names.join(" "),
        rule.paths.join(" ")
    )
}

/// A subject as Go prints its record.
fn subject_text(subject: &Value) -> String {
    format!(
        "{{Kind:{} APIGroup:{} Name:{} Namespace:{}}}",
        text(&subject["kind"]),
        text(&subject["apiGroup"]),
        text(&subject["name"]),
        text(&subject["namespace"])
    )
}

#[cfg(test)]
mod tests {
    use crate::kubectl::testing::Terminal;

    #[test]
    fn roles_and_bindings_are_made_to_hold_what_the_file_says() {
        let mut terminal = Terminal::new();
        let role = |verbs: &str| {
            format!(
                "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: reader}}\nrules:\n- {{apiGroups: [\"\"], resources: [pods], verbs: [{verbs}]}}\n"
            )
        };
        let done = "role.rbac.authorization.k8s.io/reader reconciled\n";
        let table = [
            (
                "kubectl auth reconcile -f -",
                "get",
                "E|\treconciliation required create\nE|\tmissing rules added:\nE|\t\t{Verbs:[get] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}\n",
            ),
            ("kubectl auth reconcile -f -", "get", ""),
            (
                "kubectl auth reconcile -f -",
                "list, watch",
                "E|\treconciliation required update\nE|\tmissing rules added:\nE|\t\t{Verbs:[list] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}\nE|\t\t{Verbs:[watch] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}\n",
            ),
            (
                "kubectl auth reconcile -f - --remove-extra-permissions",
                "list, watch",
                "E|\treconciliation required update\nE|\textra rules removed:\nE|\t\t{Verbs:[get] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}\n",
            ),
        ];
        for (line, verbs, told) in table {
            assert_eq!(terminal.input(line, &role(verbs)), format!("{done}{told}"), "{line} {verbs}");
        }
    }

    #[test]
    fn another_role_takes_another_binding() {
        let mut terminal = Terminal::new();
        let binding = |role: &str| {
            format!(
                "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: b}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}\nsubjects:\n- {{kind: Group, name: g, apiGroup: rbac.authorization.k8s.io}}\n"
            )
        };
        terminal.input("kubectl auth reconcile -f -", &binding("view"));
        assert_eq!(
            terminal.input("kubectl auth reconcile -f -", &binding("edit")),
            "clusterrolebinding.rbac.authorization.k8s.io/b reconciled\nE|\treconciliation required recreate\n"
        );
    }

    #[test]
    fn a_role_with_the_label_widens_the_roles_that_select_it() {
        let mut terminal = Terminal::new();
        let may = "kubectl auth can-i list nodes --as=bob -q; echo $?";
        terminal.run("kubectl create clusterrolebinding bob --clusterrole=view --user=bob");
        let before = terminal.run(may);
        terminal.run("kubectl create clusterrole nodes --verb=list --resource=nodes");
        terminal.run("kubectl label clusterrole nodes rbac.authorization.k8s.io/aggregate-to-view=true");
        terminal.run("sleep 3");
        let after = terminal.run(may);
        terminal.run("kubectl delete clusterrole nodes");
        terminal.run("sleep 3");
        assert_ne!(before, after);
        assert_eq!(terminal.run(may), before);
    }
}
