//! Every fault shows in exactly the signals that its card names, goes away when it is mended, and is undone to the bit.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use kubestep::cluster::history::History;
use kubestep::cluster::network::trace::TraceRequest;
use kubestep::cluster::settings::Settings;
use kubestep::cluster::signal::{CARDS, Signal, signals};
use kubestep::i18n::{Language, catalogue};
use kubestep::kubectl::trace_text::say;
use kubestep::lessons::player::Player;
use kubestep::lessons::script;

const SHOP: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:1.27
        ports: [{containerPort: 80}]
        resources: {requests: {memory: 32Mi}, limits: {memory: 64Mi}}
        readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: web, port: {number: 80}}}
";

/// The card's word, what causes the fault, what somebody does meanwhile, what mends it.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("api-server", "fault stop api-server", "", "fault start api-server"),
    ("etcd", "fault stop etcd 1\nfault stop etcd 2", "", "fault start etcd"),
    ("restore", "fault backup\nkubectl scale deployment web --replicas 5\ntick 60\nfault restore", "", ""),
    (
        "scheduler",
        "fault stop scheduler",
        "kubectl scale deployment web --replicas 4",
        "fault start scheduler",
    ),
    (
        "controller-manager",
        "fault stop controller-manager",
        "kubectl scale deployment web --replicas 4",
        "fault start controller-manager",
    ),
    (
        "lag",
        "fault lag endpointslice 200",
        "kubectl scale deployment web --replicas 4",
        "fault lag endpointslice 0",
    ),
    ("kubelet", "fault stop kubelet node-1", "", "fault start kubelet node-1"),
    ("power-off", "fault power-off node-1", "", "fault power-on node-1"),
    ("cut", "fault cut node-1", "", "fault join node-1"),
    ("fill-disk", "fault fill-disk node-1", "", "fault free-disk node-1"),
    ("fill-memory", "fault fill-memory node-1", "", "fault free-memory node-1"),
    (
        "kube-proxy",
        "fault stop kube-proxy node-1",
        "kubectl scale deployment web --replicas 4",
        "fault start kube-proxy node-1",
    ),
    (
        "coredns",
        "fault stop coredns",
        "kubectl create service clusterip late --tcp=80",
        "fault start coredns",
    ),
    (
        "ingress-controller",
        "fault stop ingress-controller",
        "kubectl scale deployment web --replicas 4",
        "fault start ingress-controller",
    ),
    (
        "registry",
        "fault stop registry",
        "kubectl set image deployment web web=nginx:1.28",
        "fault start registry",
    ),
    ("dns", "fault dns shop.example 198.51.100.9", "", "fault dns shop.example none"),
    ("crash", "fault app crash deployment/web", "", "fault app heal web"),
    ("hang", "fault app hang web", "", "fault app heal web"),
    ("slow", "fault app slow web", "kubectl rollout restart deployment web\ntick 20", "fault app heal web"),
    ("unready", "fault app unready web", "", "fault app heal web"),
    ("leak", "fault app leak web", "", "fault app heal web"),
    ("stop", "fault app stop web", "", "fault app heal web"),
];

/// What stays when a fault is mended, until somebody clears it away.
const STAYING: [Signal; 1] = [Signal::PodsEvicted];

fn play(player: &mut Player, lines: &str) {
    for line in script::parse(lines).unwrap() {
        let played = player.play(&line);
        assert_eq!(played.output.exit, 0, "{}: {}", line.text, played.output.stderr);
    }
}

fn shown(player: &Player) -> Vec<Signal> {
    let requests: Vec<TraceRequest> =
        (0..6).map(|number| TraceRequest::get("http://shop.example/", number).unwrap()).collect();
    signals(player.history.cluster(), &requests)
}

/// The signals of a while: those that show at any of its moments that are looked at.
fn watched(player: &mut Player, ticks: u32) -> Vec<Signal> {
    let mut found = shown(player);
    for _ in 0..ticks / 10 {
        play(player, "tick 10");
        found.extend(shown(player));
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_fault_shows_as_its_card_says_and_is_mended_and_undone() {
    let files = BTreeMap::from([("shop.yaml".to_string(), SHOP.to_string())]);
    let mut base = Player::new(History::new(Settings::playground(1)), files);
    play(&mut base, "kubectl apply -f shop.yaml\nuntil quiet");
    assert_eq!(shown(&base), [], "nothing is broken");
    let (_, start) = base.history.position();
    let digest = base.history.cluster().digest();
    let mut problems = Vec::new();
    for (word, cause, meanwhile, mend) in ROWS {
        let card = CARDS.iter().find(|card| card.word == *word).unwrap();
        let mut player = base.clone();
        play(&mut player, cause);
        play(&mut player, meanwhile);
        // Transitions take a moment: what shows for good is what counts.
        play(&mut player, if meanwhile.contains("tick") { "tick 1" } else { "tick 70" });
        let found = watched(&mut player, if meanwhile.contains("tick") { 10 } else { 80 });
        if found != card.signals {
            problems.push(format!("{word}: the card says {:?}, what shows is {found:?}", card.signals));
        }
        play(&mut player, mend);
        play(&mut player, "tick 420");
        let left: Vec<Signal> =
            shown(&player).into_iter().filter(|signal| !STAYING.contains(signal)).collect();
        if !left.is_empty() {
            problems.push(format!("{word}: mended, and still {left:?}"));
        }
        player.history.seek(start);
        assert_eq!(player.history.cluster().digest(), digest, "{word} is undone");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_card_has_a_row_and_its_texts() {
    let rows: Vec<&str> = ROWS.iter().map(|row| row.0).collect();
    assert_eq!(rows, CARDS.iter().map(|card| card.word).collect::<Vec<_>>());
    for language in Language::ALL {
        let words = catalogue(language);
        for card in CARDS {
            for because in [card.does(), card.stands_for(), card.repaired_by.name()] {
                let text = say(&because, words);
                assert!(text != because.key && !text.contains('{'), "{}: {text}", card.word);
            }
        }
    }
}
