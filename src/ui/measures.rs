//! The page's own benchmarks, offered to a script when the page is opened with `?bench`.

use std::cell::Cell;

use gloo::utils::window;
use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;

use crate::cluster::history::History;
use crate::cluster::machine::Cluster;
use crate::cluster::workload::{
    ask_for, before_busiest_tick, cluster_of, manifest_of, rollout, run_until_ready,
};
use crate::kubectl::history_host::HistoryHost;
use crate::kubectl::run;
use crate::kubectl::session::Session;

/// Offers `window.kubestep_bench`: functions that run once and give the milliseconds it took.
pub fn offer_if_asked() {
    let asked = window()
        .location()
        .search()
        .is_ok_and(|query| query.trim_start_matches('?').split('&').any(|q| q == "bench"));
    if !asked {
        return;
    }
    let measures = Object::new();
    let start_up = |nodes: usize, pods: usize| {
        let cluster = cluster_of(nodes);
        move || {
            timed(&cluster, |cluster| {
                ask_for(cluster, pods, "demo/api:1.0");
                run_until_ready(cluster, pods);
            })
        }
    };
    offer(&measures, "apply to all Ready, 3 nodes, 1,000 Pods", start_up(3, 1000));
    offer(&measures, "apply to all Ready, 100 nodes, 1,000 Pods", start_up(100, 1000));
    let (files, empty) =
        ([("all.yaml".to_string(), manifest_of(1000))].into(), History::from_cluster(cluster_of(3)));
    offer(&measures, "kubectl apply -f, 1,000 objects", move || {
        timed(&empty, |history| {
            run("kubectl apply -f all.yaml", &mut Session::default(), &mut HistoryHost::new(history, &files));
        })
    });
    let tick = |cluster: &mut Cluster| cluster.finish_tick(&mut Vec::new());
    let busiest = before_busiest_tick();
    offer(&measures, "rolling update, 100 nodes, 1,000 Pods: the busiest tick", move || {
        timed(&busiest, tick)
    });
    let (moments, next) = (rollout(), Cell::new(0));
    offer(&measures, "rolling update, 100 nodes, 1,000 Pods: a tick, over 40 in turn", move || {
        let at = next.replace(next.get() + 1) % moments.len();
        timed(&moments[at], tick)
    });
    // A page without a window object has nobody to measure it.
    let _ = Reflect::set(&window(), &"kubestep_bench".into(), &measures);
}

/// Milliseconds that `work` takes on a copy.
fn timed<T: Clone>(subject: &T, work: impl FnOnce(&mut T)) -> f64 {
    let now = || window().performance().map_or(0.0, |clock| clock.now());
    let mut subject = subject.clone();
    let began = now();
    work(&mut subject);
    now() - began
}

fn offer(measures: &Object, name: &str, run: impl Fn() -> f64 + 'static) {
    let run = Closure::<dyn Fn() -> f64>::new(run).into_js_value();
    // Setting a property of a fresh object cannot fail.
    let _ = Reflect::set(measures, &JsValue::from(name), &run);
}
