//! The right pane: Why, Object, Scheduling, Trace, Lesson, Faults.

use std::rc::Rc;

use yew::prelude::*;

use super::faults::FaultsPane;
use super::lesson::LessonPane;
use super::object::ObjectPane;
use super::scheduling::SchedulingPane;
use super::trace::TracePane;
use super::why::WhyPane;
use crate::app::layout::InspectorTab;
use crate::app::message::Message;
use crate::app::view_model::faults::FaultsView;
use crate::app::view_model::lesson::LessonView;
use crate::app::view_model::object::ObjectView;
use crate::app::view_model::scheduling::Scheduling;
use crate::app::view_model::trace::TraceView;
use crate::app::view_model::why::Why;
use crate::ui::desk::use_desk;
use crate::ui::parts::tabs::{Tab, render_tabs};

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct InspectorProps {
    /// The tab on screen.
    pub tab: InspectorTab,
    /// One fact.
    pub why: Option<Rc<Why>>,
    /// One object.
    pub object: Option<Rc<ObjectView>>,
    /// The attempts of the scheduler.
    pub scheduling: Rc<Scheduling>,
    /// The requests.
    pub trace: Rc<TraceView>,
    /// The lessons.
    pub lesson: Rc<LessonView>,
    /// The faults.
    pub faults: Rc<FaultsView>,
}

/// The pane with its tabs.
#[component]
pub fn InspectorPane(props: &InspectorProps) -> Html {
    let desk = use_desk();
    let tabs = InspectorTab::ALL
        .into_iter()
        .map(|tab| Tab {
            id: ["tab-", tab.name()].concat(),
            panel: "inspector-panel",
            label: desk.t(&["inspector.", tab.name()].concat()),
            is_shown: tab == props.tab,
            message: Message::InspectorTabChosen(tab),
            flag: None,
        })
        .collect();
    html! {
        <section class="pane desk__inspect" data-panel="inspect" aria-label={desk.t("inspector.label")}>
            <div class="tabs">{ render_tabs(&desk, desk.t("inspector.label"), tabs) }</div>
            <div class="pane__body" role="tabpanel" id="inspector-panel" aria-labelledby={["tab-", props.tab.name()].concat()} tabindex="0">
                {
                    match props.tab {
                        InspectorTab::Why => html! { <WhyPane view={props.why.clone()} /> },
                        InspectorTab::Object => html! { <ObjectPane view={props.object.clone()} /> },
                        InspectorTab::Scheduling => html! { <SchedulingPane view={props.scheduling.clone()} /> },
                        InspectorTab::Trace => html! { <TracePane view={props.trace.clone()} /> },
                        InspectorTab::Lesson => html! { <LessonPane view={props.lesson.clone()} /> },
                        InspectorTab::Faults => html! { <FaultsPane view={props.faults.clone()} /> },
                    }
                }
            </div>
        </section>
    }
}
