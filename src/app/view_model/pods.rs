//! What there is to say about a Pod, in a few words, and its two marks.

use super::map::PodCard;
use super::{Mark, Marks, ObjectReference};
use crate::api::kinds::pod::{ContainerStatus, Pod};
use crate::i18n::Catalogue;

/// Namespaces whose Pods belong to the system and stay quiet.
const SYSTEM_NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "ingress-nginx"];

/// Whether a namespace belongs to the system.
pub fn is_system(namespace: &str) -> bool {
    SYSTEM_NAMESPACES.contains(&namespace)
}

/// Why a container does not run: the reason it waits or ended for, as kubectl prints it; `None` while all is well.
pub fn trouble_of(pod: &Pod) -> Option<String> {
    let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    statuses.filter_map(trouble_of_container).next()
}

fn trouble_of_container(status: &ContainerStatus) -> Option<String> {
    const HARMLESS: [&str; 3] = ["", "ContainerCreating", "PodInitializing"];
    if let Some(waiting) = &status.state.waiting {
        return (!HARMLESS.contains(&waiting.reason.as_str())).then(|| waiting.reason.clone());
    }
    let ended = status.state.terminated.as_ref()?;
    (ended.exit_code != 0).then(|| match ended.reason.as_str() {
        "" => "Error".to_string(),
        reason => reason.to_string(),
    })
}

/// Whether the scheduler found no node for it.
pub fn is_unschedulable(pod: &Pod) -> bool {
    pod.condition("PodScheduled").is_some_and(|condition| condition.status == "False")
}

/// Whether all its containers run.
pub fn is_started(pod: &Pod) -> bool {
    let statuses = &pod.status.container_statuses;
    !statuses.is_empty() && statuses.iter().all(|status| status.state.running.is_some())
}

/// Its two marks: it exists, and it serves (or, for a Pod that ends, it has ended well).
pub fn marks_of(pod: &Pod) -> Marks {
    let achieved = if pod.is_ready() || pod.status.phase == "Succeeded" {
        Mark::Done
    } else if pod.status.phase == "Failed" || trouble_of(pod).is_some() || is_unschedulable(pod) {
        Mark::Failed
    } else {
        Mark::UnderWay
    };
    let achieved = if pod.meta.is_terminating() { Mark::UnderWay } else { achieved };
    Marks::new(Mark::Done, achieved)
}

/// What there is to say about it.
pub fn note_of(words: &Catalogue, pod: &Pod) -> String {
    let restarts: i32 = pod.status.container_statuses.iter().map(|status| status.restart_count).sum();
    let mut note = if pod.meta.is_terminating() {
        words.say("pod.terminating", &[])
    } else if let Some(trouble) = trouble_of(pod) {
        trouble
    } else if is_unschedulable(pod) {
        let message = pod.condition("PodScheduled").map(|condition| condition.message.to_string());
        message.unwrap_or_default()
    } else if !pod.is_bound() {
        words.say("pod.waits_for_node", &[])
    } else if pod.is_ready() {
        match pod.status.pod_ip.as_str() {
            "" => words.say("pod.ready", &[]),
            address => words.say("pod.ready_at", &[("address", address)]),
        }
    } else if is_started(pod) {
        words.say("pod.running_not_ready", &[])
    } else if pod.is_finished() {
        pod.status.phase.to_string()
    } else if pod.status.container_statuses.is_empty() {
        words.say("pod.not_seen", &[])
    } else {
        words.say("pod.starting", &[])
    };
    if restarts > 0 {
        let count = restarts.to_string();
        note.push_str(" · ");
        note.push_str(&words.say("pod.restarts", &[("count", &count)]));
    }
    note
}

/// A name shortened in the middle: `api-…x2kqp`.
pub fn short_name(name: &str) -> String {
    let Some((stem, tail)) = name.rsplit_once('-') else {
        return name.to_string();
    };
    match stem.rsplit_once('-') {
        Some((owner, hash))
            if tail.len() == 5 && hash.len() >= 6 && hash.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            [owner, "-…", tail].concat()
        }
        _ => name.to_string(),
    }
}

/// The tag of its first image.
pub fn version_of(pod: &Pod) -> String {
    let image = pod.spec.containers.first().map_or("", |container| container.image.as_str());
    let last = image.rsplit('/').next().unwrap_or_default();
    last.split_once(':').map_or("latest", |(_, tag)| tag).to_string()
}

/// The card of a Pod.
pub fn card_of(
    words: &Catalogue,
    pod: &Pod,
    is_changed: bool,
    selected: Option<&ObjectReference>,
) -> PodCard {
    let object = ObjectReference::new("Pod", &pod.meta.namespace, &pod.meta.name);
    let is_system = is_system(&pod.meta.namespace);
    let system_name =
        || match pod.meta.labels.get("app.kubernetes.io/name").or_else(|| pod.meta.labels.get("k8s-app")) {
            Some(name) if name == "kube-dns" => "coredns".to_string(),
            Some(name) => name.clone(),
            None => short_name(&pod.meta.name),
        };
    PodCard {
        short_name: if is_system { system_name() } else { short_name(&pod.meta.name) },
        note: note_of(words, pod),
        marks: marks_of(pod),
        is_system,
        is_changed,
        is_selected: selected == Some(&object),
        version: version_of(pod),
        object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_name_is_shortened_and_a_given_one_is_not() {
        for (name, expected) in [
            ("api-7d9c5b6f4-2xkqp", "api-…2xkqp"),
            ("my-api-7d9c5b6f4-2xkqp", "my-api-…2xkqp"),
            ("web-0", "web-0"),
            ("shell", "shell"),
            ("one-two-three", "one-two-three"),
        ] {
            assert_eq!(short_name(name), expected);
        }
    }

    #[test]
    fn marks_tell_placed_started_and_ready_apart() {
        let mut pod = Pod::default();
        assert_eq!(marks_of(&pod), Marks::new(Mark::Done, Mark::UnderWay), "waiting is under way");
        pod.status.set_condition("PodScheduled", "False", "Unschedulable", "0/3 nodes", Default::default());
        assert_eq!(marks_of(&pod).achieved, Mark::Failed, "no node fits");
        pod.status.set_condition("Ready", "True", "", "", Default::default());
        assert_eq!(marks_of(&pod), Marks::BOTH, "Ready");
    }
}
