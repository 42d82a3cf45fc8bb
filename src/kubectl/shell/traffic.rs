//! `traffic`: clients that send the same request in every tick, typed.
//!
//! ```text
//! traffic start http://shop.example/ --rate 20       traffic stop
//! traffic start http://web/ --from demo/client --keep-alive
//! traffic                                            what came of it, latest ticks last
//! ```

use crate::cluster::command::Fault;
use crate::cluster::network::traffic::{Demand, Flow, Tally};
use crate::kubectl::execution::Output;
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;

const USAGE: &str = "usage: traffic start URL [--rate N] [--from POD] [--host NAME] [--keep-alive], traffic stop [URL], traffic";

/// Runs the command.
pub(super) fn run(args: &[String], session: &Session, host: &mut dyn Host) -> Output {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let faults = match words.as_slice() {
        [] => return Output::of(told(&*host)),
        ["start", url, rest @ ..] => match demand(url, rest, session) {
            Some(demand) => vec![Fault::Send(demand)],
            None => return failed(USAGE),
        },
        ["stop", rest @ ..] => {
            let names = host.cluster().world.traffic.keys();
            let is_meant =
                |name: &&String| rest.first().is_none_or(|url| name.split(' ').next() == Some(*url));
            names.filter(is_meant).cloned().map(Fault::Quit).collect()
        }
        _ => return failed(USAGE),
    };
    match faults.into_iter().all(|fault| host.cause(fault)) {
        true => Output::default(),
        false => failed("nothing can be sent here"),
    }
}

fn failed(problem: &str) -> Output {
    Output { stderr: format!("traffic: {problem}\n"), exit: 1, ..Output::default() }
}

fn demand(url: &str, rest: &[&str], session: &Session) -> Option<Demand> {
    let mut demand = Demand { url: url.to_string(), from: None, host: None, per_tick: 10, keep_alive: false };
    let mut words = rest.iter().flat_map(|word| word.split('='));
    while let Some(word) = words.next() {
        match word {
            "--keep-alive" => demand.keep_alive = true,
            "--rate" => demand.per_tick = words.next()?.parse().ok()?,
            "--host" => demand.host = Some(words.next()?.to_string()),
            "--from" => {
                let pod = words.next()?;
                let (namespace, pod) = pod.split_once('/').unwrap_or((&session.namespace, pod));
                demand.from = Some((namespace.into(), pod.into()));
            }
            _ => return None,
        }
    }
    demand.request().map(|_| demand)
}

/// What came of what the clients sent.
fn told(host: &dyn Host) -> String {
    let cluster = host.cluster();
    if cluster.world.traffic.is_empty() {
        return "nobody sends anything\n".to_string();
    }
    let told = cluster.world.traffic.iter().map(|(name, flow)| {
        let total = if flow.total.sent == 0 { "nothing sent yet".to_string() } else { flow.total.summary() };
        format!("{name}: {} a tick; {total}\n{}", flow.per_tick, strip(flow, &|tick| cluster.shown(tick)))
    });
    told.collect()
}

/// The latest ticks; those with the same outcome on one line.
fn strip(flow: &Flow, shown: &dyn Fn(u64) -> i64) -> String {
    let mut lines: Vec<(i64, i64, &Tally)> = Vec::new();
    for (tick, tally) in &flow.strip {
        let tick = shown(*tick);
        match lines.last_mut() {
            Some((_, to, last)) if last.summary() == tally.summary() => *to = tick,
            _ => lines.push((tick, tick, tally)),
        }
    }
    let line = |(from, to, tally): (i64, i64, &Tally)| {
        let when = if from == to { format!("t={from}") } else { format!("t={from}..{to}") };
        let failed = tally.failed.keys().filter_map(|(_, stage)| stage.map(|stage| stage.word()));
        let mut at: Vec<&str> = failed.collect();
        at.sort_unstable();
        at.dedup();
        let at = if at.is_empty() { String::new() } else { format!(" (at {})", at.join(", ")) };
        format!("  {when:<12} {}{at}\n", tally.summary())
    };
    let pods = flow.total.by_pod.iter().map(|(pod, count)| format!("  {:<40} {count}\n", pod.name));
    lines.into_iter().map(line).chain(pods).collect()
}
