//! All view models of one moment, each behind a pointer, so that a pane whose model did not change is not drawn again.

use std::rc::Rc;

use super::layout::{Dialog, InspectorTab, ScreenTab, Theme};
use super::state::State;
use super::view_model::editor::EditorView;
use super::view_model::lesson::LessonView;
use super::view_model::map::ClusterMap;
use super::view_model::object::ObjectView;
use super::view_model::road::{Road, StageId};
use super::view_model::scheduling::Scheduling;
use super::view_model::share::ShareView;
use super::view_model::terminal::TerminalView;
use super::view_model::timeline::Timeline;
use super::view_model::trace::TraceView;
use super::view_model::transport::Transport;
use super::view_model::why::Why;

/// Everything on screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    /// Where we are in time.
    pub transport: Rc<Transport>,
    /// The road.
    pub road: Rc<Road>,
    /// The editor.
    pub editor: Rc<EditorView>,
    /// The terminal.
    pub terminal: Rc<TerminalView>,
    /// The cluster.
    pub map: Rc<ClusterMap>,
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
    /// The history.
    pub timeline: Rc<Timeline>,
    /// Link and file.
    pub share: Rc<ShareView>,
    /// What happened last, in a sentence.
    pub announcement: String,
    /// The language, so that a change of it draws everything.
    pub language: crate::i18n::Language,
    /// Dark or light.
    pub theme: Theme,
    /// The sheet that is open.
    pub dialog: Option<Dialog>,
    /// The stage that is open.
    pub open_stage: Option<StageId>,
    /// The tab of the right pane.
    pub inspector_tab: InspectorTab,
    /// The tab of the phone's screen.
    pub screen_tab: ScreenTab,
    /// Whether the timeline stands as a list.
    pub is_timeline_list: bool,
    /// Whether single keys work.
    pub has_keys: bool,
}

impl Screen {
    /// The screen of a state.
    pub fn of(state: &State) -> Screen {
        let mut screen = super::view_model::example::screen(state.language);
        screen.language = state.language;
        screen.theme = state.theme;
        screen.dialog = state.dialog;
        screen.open_stage = state.open_stage;
        screen.inspector_tab = state.inspector_tab;
        screen.screen_tab = state.screen_tab;
        screen.is_timeline_list = state.is_timeline_list;
        screen.has_keys = state.has_keys;
        screen
    }

    /// The screen of a later state; what stayed the same is kept.
    pub fn after(&self, state: &State) -> Screen {
        Screen::of(state)
    }
}
