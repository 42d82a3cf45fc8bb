//! The road: nine stages, two marks each.

use std::rc::Rc;

use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::Mark;
use crate::app::view_model::road::{Road, Stage, StageId};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::line::render_line;
use crate::ui::parts::marks::{render_marks, words_of};

/// What the road draws.
#[derive(Properties, PartialEq)]
pub struct RoadProps {
    /// The road.
    pub view: Rc<Road>,
    /// The stage that is open.
    pub open: Option<StageId>,
}

/// The road as an ordered list; each stage is a button that opens its sheet.
#[component]
pub fn RoadPane(props: &RoadProps) -> Html {
    let desk = use_desk();
    let stages = props.view.stages.iter().map(|stage| render_stage(&desk, stage, props));
    html! {
        <nav class="road" aria-label={desk.t("road.label")}>
            <ol class="road__stages">{ for stages }</ol>
        </nav>
    }
}

fn render_stage(desk: &Desk, stage: &Stage, props: &RoadProps) -> Html {
    let is_open = props.open == Some(stage.id);
    let name = stage.id.name();
    let mark = |mark: Mark| html! { <i class={classes!("stage__mark", mark.class())}></i> };
    html! {
        <li
            key={name} data-stage={name} data-exists={stage.marks.exists.class()} data-achieved={stage.marks.achieved.class()}
            data-open={is_open.then_some("")}
            class={classes!("stage", stage.marks.tone().class(), stage.tint.class(), stage.is_here.then_some("is-here"), stage.is_changed.then_some(desk.changed_class))}
            aria-current={stage.is_here.then_some("step")}
        >
            <button
                class="stage__tap" aria-expanded={if is_open { "true" } else { "false" }}
                onclick={desk.on(Message::StageToggled(stage.id))}
            >
                <span class="stage__marks" aria-hidden="true">{ mark(stage.marks.exists) }{ mark(stage.marks.achieved) }</span>
                <span class="stage__title">{ stage.title.clone() }</span>
                <span class="is-hidden-visually">{ ". " }{ words_of(desk, stage.marks) }{ ". " }</span>
                <span class="stage__note" title={stage.note.clone()}>{ stage.note.clone() }</span>
                <span class="stage__actor">{ stage.actor.clone() }</span>
            </button>
            if is_open {
                { render_sheet(desk, stage, &props.view) }
            }
        </li>
    }
}

fn render_sheet(desk: &Desk, stage: &Stage, road: &Road) -> Html {
    let objects = stage.objects.iter().map(|line| {
        html! {
            <li>
                <button class="stage__object" onclick={desk.on(Message::ObjectChosen(line.object.clone()))}>
                    { render_marks(desk, line.marks) }<b>{ line.object.title() }</b><span>{ line.note.clone() }</span>
                </button>
            </li>
        }
    });
    let subjects = road.subjects.iter().map(|subject| {
        let is_shown = road.subject.as_ref() == Some(subject);
        html! {
            <button aria-pressed={if is_shown { "true" } else { "false" }} onclick={desk.on(Message::SubjectChosen(subject.clone()))}>
                { subject.namespace.clone() }{ "/" }{ subject.name.clone() }
            </button>
        }
    });
    html! {
        <div class="stage__sheet" role="group" aria-label={stage.title.clone()}>
            <p class="stage__meaning">{ stage.meaning.clone() }</p>
            <dl class="stage__words">
                <div class={stage.marks.exists.class()}><dt>{ desk.t("marks.exists") }</dt><dd>{ desk.t(stage.marks.exists.key()) }</dd></div>
                <div class={stage.marks.achieved.class()}><dt>{ desk.t("marks.achieved") }</dt><dd>{ desk.t(stage.marks.achieved.key()) }</dd></div>
            </dl>
            <p class="stage__actor">{ stage.actor.clone() }</p>
            if !stage.objects.is_empty() {
                <ul class="stage__objects">{ for objects }</ul>
            }
            { render_line(desk, &stage.command) }
            if road.subjects.len() > 1 {
                <div class="dialog__row" role="group" aria-label={desk.t("road.subject")}>{ for subjects }</div>
            }
        </div>
    }
}
