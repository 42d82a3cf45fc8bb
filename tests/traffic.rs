//! Clients that send in every tick: the errors of a rollout come and go with probes and hooks, connections that are kept
//! stay with their endpoint, and many requests cost no more than the choices they meet.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use kubestep::cluster::history::History;
use kubestep::cluster::network::trace::TraceRequest;
use kubestep::cluster::network::traffic::{SteadyClient, Tally};
use kubestep::cluster::settings::Settings;
use kubestep::lessons::player::Player;
use kubestep::lessons::script;

/// A web server that listens ten seconds after its start, with or without what keeps a rollout quiet.
fn shop(extra: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        image: busybox:1.36
        command: [sh, -c, 'mkdir -p /www; echo ok >/www/index.html; sleep 10; exec httpd -f -p 8080 -h /www']
        ports: [{{containerPort: 8080}}]{extra}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80, targetPort: 8080}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: client}}
spec:
  containers:
  - {{name: client, image: busybox, command: [sleep, '36000']}}
"
    )
}

const PROBE: &str = "\n        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}";
const HOOK: &str = "\n        lifecycle: {preStop: {exec: {command: [sleep, '5']}}}";

fn scene(extra: &str, start: &str) -> Player {
    let files = BTreeMap::from([("shop.yaml".to_string(), shop(extra))]);
    let mut player = Player::new(History::new(Settings::playground(1)), files);
    play(&mut player, "kubectl apply -f shop.yaml\nuntil quiet\ntick 15");
    play(&mut player, start);
    play(&mut player, "tick 3");
    player
}

fn play(player: &mut Player, lines: &str) -> String {
    let mut shown = String::new();
    for line in script::parse(lines).unwrap() {
        let played = player.play(&line);
        assert_eq!(played.output.exit, 0, "{}: {}", line.text, played.output.stderr);
        shown = played.output.stdout;
    }
    shown
}

fn total(player: &Player) -> Tally {
    player.history.cluster().world.traffic.iter().next().unwrap().1.total.clone()
}

#[test]
fn the_errors_of_a_rollout_come_and_go_with_readiness_probe_and_pre_stop_hook() {
    let start = "traffic start http://web/ --rate 9 --from client";
    for (extra, fails) in [(String::new(), true), (PROBE.to_string() + HOOK, false)] {
        let mut player = scene(&extra, start);
        assert_eq!(total(&player).failures(), 0, "calm before: {:?}", total(&player));
        play(&mut player, "kubectl rollout restart deployment web\ntick 100");
        let total = total(&player);
        assert_eq!(total.failures() > 0, fails, "{extra}: {total:?}");
        let shown = play(&mut player, "traffic");
        assert_eq!(shown.contains("refused"), fails, "{shown}");
    }
}

#[test]
fn a_connection_that_is_kept_stays_with_its_endpoint_and_breaks_once() {
    let start = "traffic start http://web/ --rate 9 --from client --keep-alive";
    let mut player = scene(&(PROBE.to_string() + HOOK), start);
    assert_eq!(total(&player).by_pod.len(), 1, "one connection, one Pod");
    play(&mut player, "kubectl rollout restart deployment web\ntick 100");
    let after = total(&player);
    assert!(after.by_pod.len() > 1, "{after:?}");
    assert!((1..=4).contains(&after.failures()), "once for each connection: {after:?}");
}

#[test]
fn traffic_is_a_command_that_is_undone_like_others() {
    let mut player = scene(PROBE, "traffic start http://web/ --rate 9 --from client");
    let (_, moment) = player.history.position();
    let digest = player.history.cluster().digest();
    play(&mut player, "traffic stop\ntick 5");
    assert_eq!(play(&mut player, "traffic"), "nobody sends anything\n");
    player.history.seek(moment);
    assert_eq!(player.history.cluster().digest(), digest);
}

#[test]
fn counting_many_requests_together_counts_what_counting_them_one_by_one_does() {
    let player = scene(PROBE, "traffic start http://web/ --rate 9 --from client");
    let cluster = player.history.cluster();
    let input = cluster.trace_input();
    let request = TraceRequest::get("http://web/", 0).unwrap().from_pod("default", "client");
    let many = |per_tick| SteadyClient { request: request.clone(), per_tick };
    let together = many(100).send(&input, 3);
    let mut alone: BTreeMap<_, u32> = BTreeMap::new();
    for number in 300..400 {
        let request = TraceRequest { number, ..request.clone() };
        *alone.entry(cluster.trace(&request).outcome.answered_by.unwrap()).or_default() += 1;
    }
    assert_eq!(together.by_pod, alone);
    assert_eq!(many(1000).send(&input, 4).sent, 1000);
}
