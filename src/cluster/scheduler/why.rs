//! Why the scheduler decided as it did, in numbers.

use super::attempt::Attempt;
use super::candidate::Candidate;
use crate::cluster::because::Because;

/// What was seen of the Pod.
pub fn saw_pod(candidate: &Candidate) -> Because {
    let asked = &candidate.requests.asked;
    Because::new("because.scheduler.saw-pod")
        .with("pod", &candidate.pod.meta.name)
        .with("cpu", crate::api::quantity::Quantity::from_milli(asked.cpu_millicores))
        .with("memory", crate::api::quantity::Quantity::from_bytes(asked.memory_bytes))
}

/// Why the chosen node, in numbers: with a single best node, against whom it won and what made the difference.
pub fn why_chosen(attempt: &Attempt) -> Because {
    let verdicts = &attempt.verdicts;
    let node = verdicts.chosen.as_deref().unwrap_or_default();
    let feasible: Vec<_> = verdicts.nodes.iter().filter(|verdict| verdict.is_feasible()).collect();
    let because = |key: &'static str| {
        Because::new(key)
            .with("node", node)
            .with("nodes", verdicts.nodes.len())
            .with("feasible", feasible.len())
    };
    if attempt.is_cleared {
        return Because::new("because.scheduler.cleared-node").with("node", node);
    }
    let Some(chosen) = feasible.iter().find(|verdict| *verdict.node == *node) else {
        return because("because.scheduler.only-node");
    };
    if feasible.len() == 1 {
        return because("because.scheduler.only-node");
    }
    if attempt.tied > 1 {
        return because("because.scheduler.first-of-tied")
            .with("score", chosen.total())
            .with("tied", attempt.tied);
    }
    let others = feasible.iter().filter(|verdict| *verdict.node != *node);
    let best = because("because.scheduler.best-node").with("score", chosen.total());
    let Some(second) = others.max_by(|a, b| a.total().cmp(&b.total()).then(b.node.cmp(&a.node))) else {
        return best;
    };
    let pairs = chosen.scores.iter().zip(second.scores.iter());
    let Some(((plugin, own), (_, other))) = pairs.max_by_key(|((_, own), (_, other))| own - other) else {
        return best;
    };
    best.with("second", &second.node)
        .with("second_score", second.total())
        .with("plugin", plugin)
        .with("own", own)
        .with("other", other)
}
