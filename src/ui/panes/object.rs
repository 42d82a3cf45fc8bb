//! One object from all sides.

use std::rc::Rc;

use yew::prelude::*;

use super::why::render_chain;
use crate::app::message::Message;
use crate::app::view_model::ObjectReference;
use crate::app::view_model::object::{EventLine, ObjectView};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::line::render_line;
use crate::ui::parts::marks::render_marks;

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct ObjectProps {
    /// The selected object.
    pub view: Option<Rc<ObjectView>>,
}

/// The object.
#[component]
pub fn ObjectPane(props: &ObjectProps) -> Html {
    let desk = use_desk();
    let Some(view) = &props.view else {
        return html! { <div class="nothing"><p>{ desk.t("object.nothing") }</p></div> };
    };
    let conditions = view.conditions.iter().map(|condition| {
        html! { <li><span>{ condition.name.clone() }</span><b>{ condition.state.clone() }</b><small>{ condition.note.clone() }</small></li> }
    });
    html! {
        <article class="object">
            <p class="object__kind">
                <span>{ view.object.kind.clone() }</span>
                if !view.object.namespace.is_empty() {
                    <span>{ desk.say("object.namespace", &[("namespace", &view.object.namespace)]) }</span>
                }
            </p>
            <h2>{ render_marks(&desk, view.marks) }{ view.object.name.clone() }</h2>
            <p>{ view.status.clone() }</p>
            { render_family(&desk, "object.owners", &view.owners) }
            { render_family(&desk, "object.dependents", &view.dependents) }
            if !view.conditions.is_empty() {
                <h3>{ desk.t("object.conditions") }</h3>
                <ul class="object__conditions">{ for conditions }</ul>
            }
            if !view.events.is_empty() {
                <h3>{ desk.t("object.events") }</h3>
                <ul>{ for view.events.iter().map(|event| render_event(&desk, event)) }</ul>
            }
            if !view.history.is_empty() {
                <h3>{ desk.t("object.history") }</h3>
                { render_chain(&desk, &view.history) }
            }
            if view.exists {
                <h3>{ desk.t("object.yaml") }</h3>
                { render_line(&desk, &view.command) }
                <pre class="object__yaml" tabindex="0">{ view.yaml.clone() }</pre>
                if !view.delete_command.is_empty() {
                    <div class="object__tools">
                        <button title={view.delete_command.clone()} onclick={desk.on(Message::CommandChosen(view.delete_command.clone()))}>{ desk.t("object.delete") }</button>
                    </div>
                }
            }
        </article>
    }
}

fn render_family(desk: &Desk, title: &str, family: &[ObjectReference]) -> Html {
    if family.is_empty() {
        return Html::default();
    }
    let members = family.iter().map(|member| {
        html! { <li><button class="is-link" onclick={desk.on(Message::ObjectChosen(member.clone()))}><code>{ member.title() }</code></button></li> }
    });
    html! { <><h3>{ desk.t(title) }</h3><ul class="object__family">{ for members }</ul></> }
}

fn render_event(desk: &Desk, event: &EventLine) -> Html {
    let tick = event.tick.to_string();
    let count = event.count.to_string();
    html! {
        <li class={classes!("event", event.is_warning.then_some("is-warning"))}>
            <p>
                <b>{ event.reason.clone() }</b>
                if event.is_warning {
                    { " · " }{ desk.t("object.warning") }
                }
            </p>
            <p>{ event.message.clone() }</p>
            <small>{ event.source.clone() }{ " · " }{ desk.say("object.event_when", &[("tick", &tick), ("count", &count)]) }</small>
        </li>
    }
}
