//! A made-up moment for drawing the panes before the machine is there.

use std::rc::Rc;

use super::map::*;
use super::road::*;
use super::timeline::*;
use super::why::*;
use super::*;
use crate::app::screen::Screen;
use crate::i18n::{Language, Piece, Tone};

fn plain(text: &str) -> Vec<Piece> {
    vec![Piece { tone: Tone::Plain, text: text.to_string() }]
}

/// The moment.
pub fn screen(_language: Language) -> Screen {
    let pod = |name: &str| ObjectReference::new("Pod", "demo", name);
    let done = Marks::BOTH;
    let part = Marks::new(Mark::Done, Mark::UnderWay);
    let fail = Marks::new(Mark::Done, Mark::Failed);
    let stage = |id, title: &str, note: &str, actor: &str, tint, marks, is_here| Stage {
        id,
        title: title.to_string(),
        note: note.to_string(),
        actor: actor.to_string(),
        tint,
        marks,
        is_here,
        is_changed: is_here,
        objects: vec![
            StageObject {
                object: pod("api-7d9c5b6f4-2xkqp"),
                marks: done,
                note: "Ready since t=7".to_string(),
            },
            StageObject {
                object: pod("api-7d9c5b6f4-h8m4v"),
                marks: part,
                note: "Running, 2nd probe failed".to_string(),
            },
        ],
        meaning: "A Pod is Ready when its readiness probe has passed; only then is it listed for traffic."
            .to_string(),
        command: "kubectl -n demo get pods -o wide".to_string(),
    };
    let road = Road {
        subject: Some(ObjectReference::new("Deployment", "demo", "api")),
        subjects: vec![],
        stages: vec![
            stage(StageId::Stored, "Stored", "Deployment/api", "API server", Tint::ApiServer, done, false),
            stage(
                StageId::ReplicaSet,
                "ReplicaSet",
                "api-7d9c5b6f4, revision 1",
                "deployment controller",
                Tint::Deployment,
                done,
                false,
            ),
            stage(
                StageId::Pods,
                "Pods 3/3",
                "3 wanted, 3 exist",
                "replicaset controller",
                Tint::ReplicaSet,
                done,
                false,
            ),
            stage(StageId::Placed, "Placed 2/3", "1 has no node", "scheduler", Tint::Scheduler, part, false),
            stage(StageId::Started, "Started 2/3", "1 pulling", "kubelet", Tint::Kubelet, part, false),
            stage(StageId::Ready, "Ready 1/3", "probe failing on 1", "kubelet", Tint::Kubelet, part, true),
            stage(
                StageId::Listed,
                "Listed 1/3",
                "EndpointSlice",
                "endpointslice controller",
                Tint::Endpoints,
                part,
                false,
            ),
            stage(
                StageId::Routed,
                "Routed 0/3",
                "Ingress not loaded yet",
                "kube-proxy, ingress",
                Tint::Route,
                Marks::NONE,
                false,
            ),
            stage(StageId::Answer, "503", "shop.example/api", "the client", Tint::You, fail, false),
        ],
    };
    let card = |name: &str, short: &str, note: &str, marks, is_system| PodCard {
        object: pod(name),
        short_name: short.to_string(),
        note: note.to_string(),
        marks,
        is_system,
        is_changed: false,
        is_selected: false,
        version: if is_system { String::new() } else { "1.0".to_string() },
    };
    let node = |name: &str, state: &str, is_off, used, pods| NodeCard {
        object: ObjectReference::new("Node", "", name),
        state: state.to_string(),
        is_off,
        cpu_used_millicores: used,
        cpu_total_millicores: 2000,
        cpu_label: format!("cpu {}.{:02} / 2", used / 1000, used % 1000 / 10),
        pods,
    };
    let actor = |tint, name: &str, note: &str, is_acting| ActorCard {
        tag: ActorTag::new(tint, name),
        note: note.to_string(),
        queue: vec![],
        is_acting,
        fact: Some(1),
    };
    let hop = |name: &str, note: &str, mark| PathHop {
        name: name.to_string(),
        note: note.to_string(),
        mark,
        is_here: mark == Mark::Failed,
    };
    let map = ClusterMap {
        actors: vec![
            actor(Tint::ApiServer, "API server", "revision 41", false),
            actor(Tint::Deployment, "deployment", "queue empty", false),
            actor(Tint::ReplicaSet, "replicaset", "queue empty", false),
            actor(Tint::Scheduler, "scheduler", "1 waiting, retry t=9", true),
            actor(Tint::Endpoints, "endpointslice", "1 key: demo/api", false),
            actor(Tint::Other, "garbage collector", "queue empty", false),
        ],
        nodes: vec![
            node(
                "node-1",
                "Ready",
                false,
                1250,
                vec![
                    card("api-7d9c5b6f4-2xkqp", "api-…2xkqp", "Ready · 10.244.1.5", done, false),
                    card("coredns-1", "coredns-…x2k", "", done, true),
                    card("kube-proxy-1", "kube-proxy", "", done, true),
                ],
            ),
            node(
                "node-2",
                "Ready",
                false,
                1750,
                vec![
                    card(
                        "api-7d9c5b6f4-h8m4v",
                        "api-…h8m4v",
                        "Running, not Ready · 2nd probe failed",
                        part,
                        false,
                    ),
                    card("ingress", "ingress-nginx", "", done, true),
                    card("kube-proxy-2", "kube-proxy", "", done, true),
                ],
            ),
            node("node-3", "cordoned", true, 250, vec![card("kube-proxy-3", "kube-proxy", "", done, true)]),
        ],
        unplaced: vec![card(
            "api-7d9c5b6f4-zz9tc",
            "api-…zz9tc",
            "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.",
            fail,
            false,
        )],
        is_dense: false,
        path: Some(RequestPath {
            url: "http://shop.example/api".to_string(),
            answer: "503".to_string(),
            is_success: false,
            tick: 7,
            hops: vec![
                hop("client", "", Mark::Done),
                hop("DNS", "shop.example → 203.0.113.10", Mark::Done),
                hop("entry", "", Mark::Done),
                hop("Ingress", "/api matched", Mark::Done),
                hop("Service api", "no ready endpoint loaded", Mark::Failed),
                hop("Pod", "", Mark::Empty),
            ],
        }),
        request_url: "http://shop.example/api".to_string(),
    };
    let link = |tint, name: &str, tick, text: &str, is_here| Link {
        fact: 1,
        actor: ActorTag::new(tint, name),
        tick,
        text: text.to_string(),
        is_here,
    };
    let why = Why {
        actor: ActorTag::new(Tint::Scheduler, "scheduler"),
        tick: 7,
        step: 3,
        headline: plain("Left api-7d9c5b6f4-zz9tc without a node"),
        reason: vec![
            Piece { tone: Tone::Plain, text: "It asks for ".to_string() },
            Piece { tone: Tone::Strong, text: "1000m".to_string() },
            Piece {
                tone: Tone::Plain,
                text: " CPU. node-1 has 750m left, node-2 has 250m, and node-3 takes no new Pods."
                    .to_string(),
            },
        ],
        saw: vec![Observation {
            object: Some(pod("api-7d9c5b6f4-zz9tc")),
            text: " without a node".to_string(),
        }],
        wrote: vec![Write {
            verb: "changed".to_string(),
            object: pod("api-7d9c5b6f4-zz9tc"),
            lines: vec![
                DiffLine { sign: Sign::Same, text: "status.conditions".to_string() },
                DiffLine { sign: Sign::Added, text: "PodScheduled=False Unschedulable".to_string() },
            ],
            refusal: String::new(),
        }],
        verdicts: vec![Table {
            caption: "Every node, every rule".to_string(),
            head: ["", "node-1", "node-2", "node-3"].map(str::to_string).to_vec(),
            rows: vec![
                vec![
                    Cell::Plain("NodeUnschedulable".to_string()),
                    Cell::Passed(String::new()),
                    Cell::Passed(String::new()),
                    Cell::Refused("cordoned".to_string()),
                ],
                vec![
                    Cell::Plain("NodeResourcesFit".to_string()),
                    Cell::Refused("cpu".to_string()),
                    Cell::Refused("cpu".to_string()),
                    Cell::Quiet("–".to_string()),
                ],
            ],
        }],
        chain: vec![
            link(Tint::You, "you", 0, "kubectl apply", false),
            link(Tint::Deployment, "deployment", 1, "made ReplicaSet api-7d9c5b6f4", false),
            link(Tint::ReplicaSet, "replicaset", 2, "3 wanted, 2 exist → made 1", false),
            link(Tint::Scheduler, "scheduler", 7, "no node fits", true),
        ],
        command: "kubectl -n demo describe pod api-7d9c5b6f4-zz9tc".to_string(),
        siblings: vec![],
    };
    let lane = |tint, name: &str, moments: &[usize]| Lane {
        tag: ActorTag::new(tint, name),
        dots: moments
            .iter()
            .map(|moment| Dot {
                moment: *moment,
                fact: *moment,
                is_failure: tint == Tint::Scheduler && *moment > 20,
            })
            .collect(),
    };
    let timeline = Timeline {
        moments: 40,
        now: 28,
        ticks: (0, 10),
        branch: 0,
        filter: String::new(),
        now_text: "t=7".to_string(),
        lanes: vec![
            lane(Tint::You, "you", &[1, 2]),
            lane(Tint::Deployment, "deployment", &[4, 12]),
            lane(Tint::ReplicaSet, "replicaset", &[8, 9, 10]),
            lane(Tint::Scheduler, "scheduler", &[14, 15, 21, 28]),
            lane(Tint::Kubelet, "kubelets", &[16, 18, 24, 30, 33]),
        ],
        ruler: vec![(0, 0), (4, 1), (8, 2), (14, 3), (18, 4), (28, 7)],
        traffic: vec![(3, false), (12, false), (28, false), (36, true)],
        branches: vec![
            Branch { name: "main".to_string(), fork_tick: None, tick: 10, about: String::new() },
            Branch { name: "fork 1".to_string(), fork_tick: Some(4), tick: 8, about: "scale".to_string() },
        ],
        facts: vec![FactLine {
            fact: 1,
            tick: 1,
            actor: ActorTag::new(Tint::Deployment, "deployment"),
            text: "made ReplicaSet api-7d9c5b6f4".to_string(),
            is_here: true,
        }],
    };
    let output = "NAME                   READY   STATUS    NODE\napi-7d9c5b6f4-2xkqp    1/1     Running   node-1\napi-7d9c5b6f4-h8m4v    0/1     Running   node-2\napi-7d9c5b6f4-zz9tc    0/1     Pending   <none>";
    let mut lines = vec![
        terminal::TerminalLine {
            sort: terminal::LineSort::Input,
            text: "kubectl apply -f api.yaml".to_string(),
        },
        terminal::TerminalLine {
            sort: terminal::LineSort::Output,
            text: "deployment.apps/api created".to_string(),
        },
        terminal::TerminalLine {
            sort: terminal::LineSort::Input,
            text: "kubectl -n demo get pods -o wide".to_string(),
        },
    ];
    lines.extend(
        output
            .lines()
            .map(|text| terminal::TerminalLine { sort: terminal::LineSort::Output, text: text.to_string() }),
    );
    Screen {
        transport: Rc::new(transport::Transport { tick: 7, step: 3, steps: 5, can_go_back: true, speed: "1×", seed: 42, ..Default::default() }),
        road: Rc::new(road),
        map: Rc::new(map),
        why: Some(Rc::new(why)),
        timeline: Rc::new(timeline),
        terminal: Rc::new(terminal::TerminalView { lines, prompt: "$".to_string(), ..Default::default() }),
        editor: Rc::new(editor::EditorView {
            files: vec![editor::FileTab { name: "api.yaml".to_string(), has_problems: true, is_changed: false }, editor::FileTab { name: "ingress.yaml".to_string(), has_problems: false, is_changed: false }],
            text: "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: api\n  namespace: demo\nspec:\n  replica: 3\n  selector:\n    matchLabels: {app: api}\n  template:\n    metadata:\n      labels: {app: api}\n    spec:\n      containers:\n      - name: api\n        image: demo/api:1.0\n".to_string(),
            problems: vec![editor::Problem { line: 7, message: "unknown field \"spec.replica\"".to_string(), hint: String::new() }],
            command: "kubectl apply -f api.yaml".to_string(),
            ..Default::default()
        }),
        lesson: Rc::new(lesson::LessonView { lessons: vec![("a".to_string(), "From apply to Ready".to_string())], open: None }),
        announcement: "scheduler found no node for api-7d9c5b6f4-zz9tc.".to_string(),
        ..Default::default()
    }
}
