//! The cluster's DNS: what CoreDNS answers, and how a Pod's resolver asks.

use kubestep::api::kind::Kind;
use kubestep::api::object::Object;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::fact::FactId;
use kubestep::cluster::network::dns::{Answer, Memory, RecordType, candidates};
use kubestep::cluster::store::Store;
use kubestep::cluster::world::World;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "CoreDNS answers" => answered(case),
        "CoreDNS answers for a pod name" if case.given["pods mode"] != json!("insecure") => {
            not_simulated("CoreDNS runs in the mode `pods insecure`, as in a usual cluster")
        }
        "CoreDNS answers for a pod name" => answered(case),
        "query A" => {
            let zone = zone();
            let none = zone.answer("unready.testns.svc.cluster.local.", RecordType::A);
            same("rcode", word(&none), case.expected_text("rcode"))
        }
        "SRV record" => {
            let zone = zone();
            let named = zone.answer("_http._tcp.svc1.testns.svc.cluster.local.", RecordType::Srv);
            let unnamed = zone.answer("_._tcp.svcempty.testns.svc.cluster.local.", RecordType::Srv);
            all([
                holds("a named one", records(&named).len() == 1),
                same("an unnamed one", unnamed, Answer::NoName),
            ])
        }
        "comparison" => {
            let answer = zone().answer("SVC1.TestNS.svc.Cluster.local.", RecordType::A);
            same("records", records(&answer), vec!["10.0.0.1".to_string()])
        }
        "TTL" => not_simulated("every question is asked anew: answers have no lifetime"),
        "resolution through the search list" => search_list(case),
        "records" => {
            let zone = zone();
            let own = zone.answer("pod.hdls1.testns.svc.cluster.local.", RecordType::A);
            let all_of_it = records(&zone.answer("hdls1.testns.svc.cluster.local.", RecordType::A));
            all([
                same("pod name record", own, Answer::NoName),
                holds("headless service record", all_of_it.contains(&"172.0.0.2".to_string())),
            ])
        }
        "record" => {
            let zone = zone();
            let unready = zone.answer("unready.testns.svc.cluster.local.", RecordType::A);
            // With publishNotReadyAddresses the controller lists the Pod as ready.
            let published = zone.answer("published.testns.svc.cluster.local.", RecordType::A);
            all([
                same("without", unready, Answer::NoName),
                same("with", records(&published), vec!["172.0.0.40".to_string()]),
            ])
        }
        _ => Verdict::NotTried,
    }
}

fn word(answer: &Answer) -> String {
    if *answer == Answer::NoName { "NXDOMAIN" } else { "NOERROR" }.to_string()
}

fn records(answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Records(records) => records.clone(),
        Answer::Alias(name) => vec![format!("{}.", name.trim_end_matches('.'))],
        Answer::NoName => Vec::new(),
    }
}

fn put(store: &mut Store, kind: Kind, mut value: Value) {
    if value["metadata"]["uid"].is_null() {
        value["metadata"]["uid"] = json!(format!("uid-{kind:?}-{}", value["metadata"]["name"]));
    }
    store.put(Object::decode(kind, value).unwrap(), &Actor::Installer, FactId(0));
}

/// The zone of the rows: a Service with an address, one without endpoints, headless ones, a name outside.
fn zone() -> Memory {
    let mut store = Store::default();
    for namespace in ["testns", "podns", "quux", "bar"] {
        put(&mut store, Kind::Namespace, json!({"metadata": {"name": namespace}}));
    }
    let mut service = |namespace: &str, name: &str, spec: Value, endpoints: Value| {
        let service = json!({"metadata": {"namespace": namespace, "name": name}, "spec": spec});
        put(&mut store, Kind::Service, service);
        let port = json!([{"name": "http", "port": 80, "protocol": "TCP"}]);
        let slice = json!({
            "metadata": {
                "namespace": namespace, "name": format!("{name}-1"),
                "labels": {"kubernetes.io/service-name": name},
            },
            "addressType": "IPv4", "endpoints": endpoints, "ports": port,
        });
        put(&mut store, Kind::EndpointSlice, slice);
    };
    let named = json!([{"name": "http", "port": 80, "protocol": "TCP"}]);
    let plain = json!([{"port": 80, "protocol": "TCP"}]);
    let endpoint = |ip: &str| json!({"addresses": [ip], "conditions": {"ready": true}});
    let host =
        |ip: &str, name: &str| json!({"addresses": [ip], "hostname": name, "conditions": {"ready": true}});
    service(
        "testns",
        "svc1",
        json!({"clusterIP": "10.0.0.1", "ports": named}),
        json!([endpoint("172.0.0.1")]),
    );
    service("testns", "svcempty", json!({"clusterIP": "10.0.0.1", "ports": plain}), json!([]));
    service("testns", "svc-dual-stack", json!({"clusterIP": "10.0.0.3", "ports": named}), json!([]));
    let four = json!([
        endpoint("172.0.0.2"),
        endpoint("172.0.0.3"),
        host("172.0.0.4", "dup-name"),
        host("172.0.0.5", "dup-name"),
    ]);
    service("testns", "hdls1", json!({"clusterIP": "None", "ports": named}), four);
    service("testns", "hdlsprtls", json!({"clusterIP": "None"}), json!([endpoint("172.0.0.20")]));
    let outside = json!({"type": "ExternalName", "externalName": "ext.interwebs.test"});
    service("testns", "external", outside, json!([]));
    let unready = json!([{"addresses": ["172.0.0.30"], "conditions": {"ready": false}}]);
    service("testns", "unready", json!({"clusterIP": "None", "ports": named}), unready);
    let published = json!({"clusterIP": "None", "ports": named, "publishNotReadyAddresses": true});
    let listed = json!([{"addresses": ["172.0.0.40"], "conditions": {"ready": true, "serving": false}}]);
    service("testns", "published", published, listed);
    service("bar", "foo", json!({"clusterIP": "10.0.0.9", "ports": named}), json!([]));
    Memory::of(&store)
}

fn answered(case: &Case) -> Verdict {
    let record = match case.given_text("type").as_str() {
        "A" => RecordType::A,
        "AAAA" => RecordType::Aaaa,
        "CNAME" => RecordType::Cname,
        "SRV" => RecordType::Srv,
        // Like a name server, a text that nobody has.
        _ => RecordType::Txt,
    };
    let answer = zone().answer(&case.given_text("query"), record);
    all([
        same("rcode", word(&answer), case.expected_text("rcode")),
        same("answer", json!(records(&answer)), case.expect["answer"].clone()),
    ])
}

fn search_list(case: &Case) -> Verdict {
    let search: Vec<String> = case.expect["search"]
        .as_array()
        .unwrap()
        .iter()
        .map(|domain| domain.as_str().unwrap().to_string())
        .collect();
    let zone = zone();
    let world = World::default();
    let tried: Vec<String> =
        zone.resolve(&world, "quux", "foo").attempts.iter().map(|attempt| attempt.name.clone()).collect();
    let through: Vec<String> =
        search.iter().map(|domain| format!("foo.{domain}")).chain(["foo".to_string()]).collect();
    all([
        same("tried", tried, through.clone()),
        same(
            "fewer than 5 dots",
            candidates("a.b.c.d.e", &search).last().map(String::as_str),
            Some("a.b.c.d.e"),
        ),
        same("5 dots", candidates("a.b.c.d.e.f", &search)[0].as_str(), "a.b.c.d.e.f"),
        same("foo.bar", zone.resolve(&world, "quux", "foo.bar").addresses, vec!["10.0.0.9".to_string()]),
        same("foo", zone.resolve(&world, "quux", "foo").addresses, Vec::new()),
    ])
}
