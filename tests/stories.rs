//! Failures that people really reported, played as scripts: what was observed is what the simulator shows, and the
//! transcript names the cause.
//!
//! Each folder of `tests/stories` holds a story (`story.yaml`), its manifests and `run.script`, which `kubestep run` plays
//! too. In the script every observed fact of the story stands as a comment (`# fact: …`), followed by the `expect` lines
//! that check it, or by `# with: …` (the lines above check it as well), `# not simulated: …` or `# wrong: …` and the
//! reason. `# cause: …` is followed by the `expect` of what the trace or the reasons tell.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kubestep::app::view_model::transcript::VOICE;
use kubestep::cluster::history::History;
use kubestep::cluster::settings::Settings;
use kubestep::lessons::player::Player;
use kubestep::lessons::script;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories")
}

/// Plays a story's script.
fn play(id: &str) {
    let folder = folder().join(id);
    let text = fs::read_to_string(folder.join("run.script")).unwrap();
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        files.insert(name, fs::read_to_string(&path).unwrap());
    }
    let mut player = Player::new(History::new(Settings::playground(1)), files);
    player.voice = VOICE;
    let mut shown = String::new();
    for line in script::parse(&text).unwrap() {
        let played = player.play(&line);
        if let Some(failure) = played.failure {
            panic!("{id}, line {}: {}\n{failure}\nThe last output:\n{shown}", line.number, line.text);
        }
        let output = [played.output.stdout, played.output.stderr].concat();
        if !output.is_empty() {
            shown = output;
        }
    }
}

/// The facts of a story, each as the script names it, and its cause.
fn claims(story: &Value) -> Vec<String> {
    let plain = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut claims = Vec::new();
    for observed in story["observe"].as_array().unwrap() {
        let facts = observed["facts"].as_array().cloned().unwrap_or_default();
        let all = facts.iter().chain(observed.get("outcome"));
        claims.extend(all.map(|fact| format!("# fact: {}", plain(fact))));
    }
    claims.push(format!("# cause: {}", plain(&story["cause"])));
    claims
}

/// Whether the lines behind a claim check it, or say why not.
fn is_met(lines: &[&str]) -> bool {
    let own = lines.iter().take_while(|line| !line.starts_with("# fact:") && !line.starts_with("# cause:"));
    own.into_iter().any(|line| {
        line.starts_with("expect ")
            || ["# with: ", "# not simulated: ", "# wrong: "].iter().any(|word| line.starts_with(word))
    })
}

#[test]
fn every_fact_of_every_story_is_checked_or_answered() {
    let mut problems = Vec::new();
    let mut found: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let id = path.file_name().unwrap().to_str().unwrap().to_string();
        let story: Value =
            serde_yaml::from_str(&fs::read_to_string(path.join("story.yaml")).unwrap()).unwrap();
        let script = fs::read_to_string(path.join("run.script")).unwrap();
        let lines: Vec<&str> = script.lines().collect();
        for claim in claims(&story) {
            match lines.iter().position(|line| *line == claim) {
                None => problems.push(format!("{id}: no line `{claim}`")),
                Some(at) if !is_met(&lines[at + 1..]) => {
                    problems.push(format!("{id}: nothing checks `{claim}`"))
                }
                Some(_) => {}
            }
        }
        found.push(id);
    }
    found.sort();
    assert_eq!(found, STORIES, "every folder is played, and every story has a folder");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

macro_rules! stories {
    ($($test:ident $id:literal,)*) => {
        const STORIES: &[&str] = &[$($id),*];
        $(
            #[test]
            fn $test() {
                play($id);
            }
        )*
    };
}

stories! {
    cl_all_workers_lost_no_eviction "cl-all-workers-lost-no-eviction",
    cl_api_server_down_traffic_goes_on "cl-api-server-down-traffic-goes-on",
    cl_five_minutes_until_eviction "cl-five-minutes-until-eviction",
    cl_hpa_counts_foreign_pods "cl-hpa-counts-foreign-pods",
    cl_kube_proxy_stale_rules "cl-kube-proxy-stale-rules",
    cl_lost_node_statefulset "cl-lost-node-statefulset",
    cl_scheduler_broken "cl-scheduler-broken",
    pod_args_replace_the_command "pod-args-replace-the-command",
    pod_crashloop_exit_zero "pod-crashloop-exit-zero",
    pod_evicted_objects_stay "pod-evicted-objects-stay",
    pod_init_waits_for_name "pod-init-waits-for-name",
    pod_pull_secret_other_namespace "pod-pull-secret-other-namespace",
    pod_service_link_env_clash "pod-service-link-env-clash",
    req_504_slow_backend "req-504-slow-backend",
    req_affinity_bypassed_by_ingress "req-affinity-bypassed-by-ingress",
    req_cross_namespace_backend "req-cross-namespace-backend",
    req_host_mismatch_by_ip "req-host-mismatch-by-ip",
    req_loadbalancer_pending "req-loadbalancer-pending",
    req_loopback_bind "req-loopback-bind",
    req_missing_ingress_class "req-missing-ingress-class",
    req_ndots_wildcard_search "req-ndots-wildcard-search",
    req_networkpolicy_blocks_dns "req-networkpolicy-blocks-dns",
    req_no_readiness_during_rollout "req-no-readiness-during-rollout",
    req_nodeport_local_no_endpoint "req-nodeport-local-no-endpoint",
    req_rewrite_swallows_path "req-rewrite-swallows-path",
    req_wrong_target_port "req-wrong-target-port",
    roll_antiaffinity_one_per_node "roll-antiaffinity-one-per-node",
    roll_bad_image_no_rollback "roll-bad-image-no-rollback",
    roll_paused_but_scales "roll-paused-but-scales",
    roll_pdb_blocks_drain "roll-pdb-blocks-drain",
    roll_quota_blocks_surge "roll-quota-blocks-surge",
    roll_rwo_volume_multi_attach "roll-rwo-volume-multi-attach",
    roll_selector_immutable "roll-selector-immutable",
    roll_undo_then_apply_leftover_container "roll-undo-then-apply-leftover-container",
}
