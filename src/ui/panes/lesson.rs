//! A lesson under way.

use std::rc::Rc;

use yew::prelude::*;

use crate::app::layout::Dialog;
use crate::app::message::Message;
use crate::app::view_model::lesson::{Block, LessonView, OpenLesson, Prediction};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::marks::render_mark;
use crate::ui::parts::pieces::render_pieces;

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct LessonProps {
    /// The lessons.
    pub view: Rc<LessonView>,
}

/// The lesson under way, or the way to one.
#[component]
pub fn LessonPane(props: &LessonProps) -> Html {
    let desk = use_desk();
    let Some(open) = &props.view.open else {
        return html! {
            <div class="nothing">
                <p>{ desk.t("lesson.nothing") }</p>
                <button class="is-primary" onclick={desk.on(Message::DialogOpened(Dialog::Lessons))}>{ desk.t("bar.lessons") }</button>
            </div>
        };
    };
    let goals = open.goals.iter().map(|goal| {
        html! {
            <li class={goal.mark.class()} data-goal={goal.mark.class()}>
                { render_mark(goal.mark) }{ goal.text.clone() }
                <span class="is-hidden-visually">{ ": " }{ desk.t(goal.mark.key()) }</span>
                if !goal.note.is_empty() {
                    <small>{ " " }{ goal.note.clone() }</small>
                }
            </li>
        }
    });
    html! {
        <article class="lesson">
            <p class="lesson__name">
                <span>{ desk.say("bar.goals_met", &[("met", &open.met.to_string()), ("all", &open.goals.len().to_string())]) }</span>
                <button class="is-quiet" onclick={desk.on(Message::LessonLeft)}>{ desk.t("lesson.leave") }</button>
            </p>
            <h2>{ open.title.clone() }</h2>
            <div class="lesson__text">{ for open.blocks.iter().map(render_block) }</div>
            if let Some(prediction) = &open.prediction {
                { render_prediction(&desk, prediction) }
            }
            <h3>{ desk.t("lesson.goals") }</h3>
            <ul class="goals">{ for goals }</ul>
            if open.is_done {
                <p class="lesson__closing" role="status">{ open.closing.clone() }</p>
            }
            { render_hints(&desk, open) }
        </article>
    }
}

fn render_block(block: &Block) -> Html {
    match block {
        Block::Heading(text) => html! { <h3>{ text.clone() }</h3> },
        Block::Paragraph(pieces) => html! { <p>{ render_pieces(pieces) }</p> },
        Block::Item(pieces) => html! { <p class="lesson__item">{ render_pieces(pieces) }</p> },
        Block::Code(text) => html! { <pre tabindex="0">{ text.clone() }</pre> },
    }
}

fn render_prediction(desk: &Desk, prediction: &Prediction) -> Html {
    let is_settled = prediction.is_settled;
    let choices = prediction.choices.iter().map(|(id, text)| {
        html! {
            <label>
                <input
                    type="radio" name={prediction.id.clone()} checked={prediction.chosen == *id} disabled={is_settled}
                    onchange={desk.on(Message::PredictionPicked(id.clone()))}
                />
                { text.clone() }
            </label>
        }
    });
    html! {
        <fieldset class="predict">
            <legend>{ prediction.question.clone() }</legend>
            { for choices }
            if let Some(is_right) = prediction.is_right {
                <p class={classes!("predict__verdict", if is_right { "is-done" } else { "is-under-way" })} role="status">{ prediction.verdict.clone() }</p>
            } else if !is_settled {
                <button class="is-primary" disabled={prediction.chosen.is_empty()} onclick={desk.on(Message::PredictionMade)}>{ desk.t("lesson.predict") }</button>
            }
        </fieldset>
    }
}

fn render_hints(desk: &Desk, open: &OpenLesson) -> Html {
    if open.hints_total == 0 || open.is_done {
        return Html::default();
    }
    let given = open.hints.len();
    html! {
        <div class="lesson__hints">
            { for open.hints.iter().map(|hint| html! { <p class="hint">{ hint.clone() }</p> }) }
            if given < open.hints_total {
                <button class="is-quiet" onclick={desk.on(Message::HintAsked)}>
                    { desk.say("lesson.hint", &[("number", &(given + 1).to_string()), ("all", &open.hints_total.to_string())]) }
                </button>
            }
        </div>
    }
}
