//! `kubectl top`: what nodes and Pods use, as the metrics server would say.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/top/top_pod.go`, `top_node.go`, `pkg/metricsutil/metrics_printer.go` (v1.36).
//! Leaves out: swap, `--sum` of several columns.

use super::{Call, Command, NOTHING, Pending, Run};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::cluster::metrics::{Load, Used};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::{table, tabs};
use crate::kubectl::resources::{self, Narrowing};

const SHARED: &[Flag] = &[
    Flag::long("no-headers", Takes::Nothing),
    Flag::long("sort-by", Takes::Text),
    Flag::long("use-protocol-buffers", Takes::Nothing),
    Flag::long("show-swap", Takes::Nothing),
];

/// The commands below `top`.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "node",
        about: "Display resource (CPU/memory) usage of nodes",
        aliases: &["nodes", "no"],
        flags: &[flags::SELECTOR, SHARED, &[Flag::long("show-capacity", Takes::Nothing)]],
        run: Run::Does(nodes),
        ..NOTHING
    },
    Command {
        name: "pod",
        about: "Display resource (CPU/memory) usage of pods",
        aliases: &["pods", "po"],
        flags: &[
            flags::SELECTOR,
            flags::FIELD_SELECTOR,
            flags::ALL_NAMESPACES,
            SHARED,
            &[Flag::long("containers", Takes::Nothing), Flag::long("sum", Takes::Nothing)],
        ],
        run: Run::Does(pods),
        ..NOTHING
    },
];

/// What the node's own software uses.
const NODE: Used = Used { cpu_millicores: 60, memory_bytes: 420 << 20 };

fn cells(used: Used) -> String {
    format!("{}m\t{}Mi", used.cpu_millicores, used.memory_bytes >> 20)
}

/// Refuses where nobody measures: the recordings were made without a metrics server.
fn check(call: &Call) -> Result<(), Failure> {
    if call.text("sort-by").is_some_and(|by| !matches!(by.as_str(), "cpu" | "memory")) {
        return Err(Failure::error("--sort-by accepts only cpu or memory"));
    }
    if call.host.cluster().settings.recorded_runtime {
        return Err(Failure::error("Metrics API not available"));
    }
    Ok(())
}

fn sort(rows: &mut [(String, Used)], by: Option<String>) {
    match by.as_deref() {
        Some("cpu") => rows.sort_by_key(|(_, usage)| -usage.cpu_millicores),
        Some("memory") => rows.sort_by_key(|(_, usage)| -usage.memory_bytes),
        _ => {}
    }
}

fn print(call: &mut Call, header: &str, rows: Vec<String>) {
    let mut text = if call.flags.on("no-headers") { String::new() } else { format!("{header}\n") };
    text.extend(rows.iter().map(|row| format!("{row}\n")));
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
}

fn selected(call: &Call, kind: Kind) -> Result<Vec<Object>, Failure> {
    let narrowing = call.narrowing();
    match call.args.as_slice() {
        [] => resources::list(&*call.host, kind, &narrowing).map_err(|status| Failure::server(&status)),
        [_] if narrowing.labels.is_some() => {
            Err(Failure::error("only one of NAME or --selector can be provided"))
        }
        [name] => resources::read(&*call.host, kind, call.namespace(), name)
            .map(|object| vec![object.clone()])
            .map_err(|status| Failure::server(&status)),
        args => Err(Failure::usage(&call.path, format!("unexpected arguments: [{}]", args.join(" ")))),
    }
}

fn pods(call: &mut Call) -> Result<Option<Pending>, Failure> {
    check(call)?;
    let objects = selected(call, Kind::Pod)?;
    if objects.is_empty() {
        let line = match call.flags.on("all-namespaces") {
            true => "No resources found".to_string(),
            false => format!("No resources found in {} namespace.", call.namespace()),
        };
        call.warn(line);
        return Ok(None);
    }
    let everywhere = call.flags.on("all-namespaces");
    let by_container = call.flags.on("containers");
    let load = call.host.cluster().load();
    let (mut rows, mut total) = (Vec::new(), Used::default());
    for object in &objects {
        let Object::Pod(pod) = object else { continue };
        let place = if everywhere { format!("{}\t", pod.meta.namespace) } else { String::new() };
        let usages = call.host.cluster().used_by(pod, &load);
        if usages.is_empty() {
            if call.args.len() == 1 {
                return Err(Failure::exactly(format!(
                    "Error from server (NotFound): podmetrics.metrics.k8s.io \"{}/{}\" not found",
                    pod.meta.namespace, pod.meta.name
                )));
            }
            continue;
        }
        let mut sum = Used::default();
        for (container, usage) in &usages {
            sum.add(*usage);
            if by_container {
                rows.push((format!("{place}{}\t{container}", pod.meta.name), *usage));
            }
        }
        total.add(sum);
        if !by_container {
            rows.push((format!("{place}{}", pod.meta.name), sum));
        }
    }
    sort(&mut rows, call.text("sort-by"));
    let mut header = if everywhere { "NAMESPACE\t".to_string() } else { String::new() };
    header.push_str(if by_container { "POD\tNAME\t" } else { "NAME\t" });
    header.push_str("CPU(cores)\tMEMORY(bytes)");
    let mut lines: Vec<String> =
        rows.into_iter().map(|(name, usage)| format!("{name}\t{}", cells(usage))).collect();
    if call.flags.on("sum") {
        let columns = header.matches('\t').count().saturating_sub(2);
        lines.push(format!("{}________\t________", "\t".repeat(columns + 1)));
        lines.push(format!("{}\t{}", "\t".repeat(columns), cells(total)));
    }
    print(call, &header, lines);
    Ok(None)
}

fn nodes(call: &mut Call) -> Result<Option<Pending>, Failure> {
    check(call)?;
    let mut rows = Vec::new();
    let capacity = call.flags.on("show-capacity");
    let load = call.host.cluster().load();
    let objects = selected(call, Kind::Node)?;
    for object in &objects {
        let Object::Node(node) = object else { continue };
        rows.push((node.meta.name.to_string(), of_node(node, &*call.host, &load)));
    }
    sort(&mut rows, call.text("sort-by"));
    let lines = rows
        .into_iter()
        .map(|(name, usage)| {
            let node = call.host.store().get::<Node>("", &name);
            let share = |resource: &str, used: i64| {
                let of =
                    node.map(|node| if capacity { &node.status.capacity } else { &node.status.allocatable });
                let all = of.and_then(|of| of.get(resource)).map_or(0, Quantity::milli);
                if all == 0 { "<unknown>".to_string() } else { format!("{}%", used * 100 / all) }
            };
            format!(
                "{name}\t{}m\t{}\t{}Mi\t{}",
                usage.cpu_millicores,
                share("cpu", usage.cpu_millicores),
                usage.memory_bytes >> 20,
                share("memory", usage.memory_bytes.saturating_mul(1000))
            )
        })
        .collect();
    print(call, "NAME\tCPU(cores)\tCPU(%)\tMEMORY(bytes)\tMEMORY(%)", lines);
    Ok(None)
}

fn of_node(node: &Node, host: &dyn Host, load: &Load) -> Used {
    let mut usage = NODE;
    let narrowing = Narrowing::default();
    for object in resources::list(host, Kind::Pod, &narrowing).unwrap_or_default() {
        if let Object::Pod(pod) = &object
            && pod.node_name == node.meta.name
        {
            host.cluster().used_by(pod, load).into_iter().for_each(|(_, used)| usage.add(used));
        }
    }
    usage
}
