//! The cluster: who works in it, what runs where.

use std::rc::Rc;

use yew::prelude::*;

use super::path::PathPane;
use crate::app::message::Message;
use crate::app::view_model::map::{ActorCard, ClusterMap, NodeCard, PodCard};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::marks::{render_marks, words_of};

/// What the map draws.
#[derive(Properties, PartialEq)]
pub struct MapProps {
    /// The cluster.
    pub view: Rc<ClusterMap>,
}

/// The map: control plane, nodes, Pods without a node, the last request.
#[component]
pub fn MapPane(props: &MapProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    html! {
        <section class="pane map" data-panel="map" aria-label={desk.t("map.label")}>
            <div class="pane__body" tabindex="0">
                <div class="plane">
                    <h2>{ desk.t("map.control_plane") }</h2>
                    <ul class="plane__actors">{ for view.actors.iter().map(|actor| render_actor(&desk, actor)) }</ul>
                    if !view.idle.is_empty() {
                        <p class="plane__idle">{ view.idle.clone() }</p>
                    }
                </div>
                <h2 class="is-hidden-visually">{ desk.t("map.nodes") }</h2>
                <ul class="nodes">
                    { for view.nodes.iter().map(|node| render_node(&desk, node, view.is_dense)) }
                    if !view.unplaced.is_empty() {
                        <li class="unplaced">
                            <h2>{ desk.t("map.no_node") }</h2>
                            { render_pods(&desk, &view.unplaced, view.is_dense) }
                        </li>
                    }
                </ul>
            </div>
            <PathPane path={view.path.clone()} request_url={view.request_url.clone()} />
        </section>
    }
}

fn render_actor(desk: &Desk, actor: &ActorCard) -> Html {
    let waiting = if actor.queue.is_empty() { actor.note.clone() } else { actor.queue.join(", ") };
    html! {
        <li key={actor.tag.name.clone()}>
            <button
                class={classes!("worker", actor.tag.tint.class(), actor.is_acting.then_some("is-acting"))}
                title={waiting} disabled={actor.fact.is_none()}
                aria-current={actor.is_acting.then_some("true")}
                onclick={actor.fact.map(|fact| desk.on(Message::FactChosen(fact)))}
            >
                <b>{ actor.tag.name.clone() }</b><span>{ actor.note.clone() }</span>
            </button>
        </li>
    }
}

fn render_node(desk: &Desk, node: &NodeCard, is_dense: bool) -> Html {
    let percent = node.cpu_used_millicores.saturating_mul(100) / node.cpu_total_millicores.max(1);
    let (system, own): (Vec<PodCard>, Vec<PodCard>) =
        node.pods.iter().cloned().partition(|pod| pod.is_system);
    html! {
        <li class={classes!("node", node.is_off.then_some("is-off"))} key={node.object.name.clone()}>
            <div class="node__head">
                <button onclick={desk.on(Message::ObjectChosen(node.object.clone()))}>{ node.object.name.clone() }</button>
                <small>{ node.state.clone() }</small>
            </div>
            <div class="node__cpu">
                <svg aria-hidden="true"><rect width={format!("{}%", percent.min(100))} height="100%" /></svg>
                <span>{ node.cpu_label.clone() }</span>
            </div>
            { render_pods(desk, &own, is_dense) }
            if !system.is_empty() && !is_dense {
                <ul class="node__system">{ for system.iter().map(|pod| render_pod(desk, pod)) }</ul>
            }
        </li>
    }
}

fn render_pods(desk: &Desk, pods: &[PodCard], is_dense: bool) -> Html {
    if pods.is_empty() {
        return Html::default();
    }
    if is_dense {
        return html! { <ul class="grid">{ for pods.iter().map(|pod| render_cell(desk, pod)) }</ul> };
    }
    html! { <ul class="node__pods">{ for pods.iter().map(|pod| render_pod(desk, pod)) }</ul> }
}

fn render_pod(desk: &Desk, pod: &PodCard) -> Html {
    html! {
        <li key={pod.object.name.clone()}>
            <button
                class={classes!("pod", pod.marks.tone().class(), pod.is_system.then_some("is-system"), pod.is_selected.then_some("is-selected"), pod.is_changed.then_some(desk.changed_class))}
                title={pod.object.name.clone()} data-pod={pod.object.name.clone()}
                aria-pressed={pod.is_selected.then_some("true")}
                onclick={desk.on(Message::ObjectChosen(pod.object.clone()))}
            >
                { render_marks(desk, pod.marks) }
                { render_name(&pod.short_name) }
                if !pod.is_system {
                    <span class="pod__version">{ pod.version.clone() }</span>
                    <span class="pod__note">{ pod.note.clone() }</span>
                }
            </button>
        </li>
    }
}

/// The name in two parts, so that a narrow card can leave out the first.
fn render_name(name: &str) -> Html {
    let (stem, tail) = name.split_at(name.find('…').map_or(0, |at| at + '…'.len_utf8()));
    html! { <b><span class="pod__stem">{ stem.to_string() }</span>{ tail.to_string() }</b> }
}

fn render_cell(desk: &Desk, pod: &PodCard) -> Html {
    let mut words = pod.object.name.clone();
    words.push_str(": ");
    words.push_str(&words_of(desk, pod.marks));
    html! {
        <li key={pod.object.name.clone()}>
            <button class={classes!("grid__cell", pod.marks.tone().class())} title={words.clone()} aria-label={words}
                onclick={desk.on(Message::ObjectChosen(pod.object.clone()))}></button>
        </li>
    }
}
