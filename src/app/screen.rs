//! All view models of one moment, each behind a pointer, so that a pane whose model did not change is not drawn again.

use std::rc::Rc;

use super::layout::{Dialog, InspectorTab, ScreenTab, Theme};
use super::lesson::lesson_view;
use super::requests::Requests;
use super::sharing::share_view;
use super::state::State;
use super::view_model::ObjectReference;
use super::view_model::editor::{EditorView, editor_view};
use super::view_model::faults::{FaultsView, faults_view};
use super::view_model::lesson::LessonView;
use super::view_model::map::{ClusterMap, MapContext, map_view};
use super::view_model::object::{ObjectView, object_view};
use super::view_model::road::{Road, RoadContext, StageId, road_view};
use super::view_model::scheduling::{Scheduling, scheduling_view};
use super::view_model::share::ShareView;
use super::view_model::telling::{is_refused_request, is_telling};
use super::view_model::terminal::{TerminalView, terminal_view};
use super::view_model::timeline::{Timeline, TimelineContext, timeline_view};
use super::view_model::trace::{TraceView, path_view, trace_view};
use super::view_model::transport::{Transport, transport_view};
use super::view_model::why::{Why, why_view};
use crate::cluster::fact::{FactId, What};
use crate::cluster::history::History;
use crate::i18n::{Language, catalogue};

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
    /// The faults; drawn while their tab is on screen.
    pub faults: Rc<FaultsView>,
    /// The lessons.
    pub lesson: Rc<LessonView>,
    /// The history.
    pub timeline: Rc<Timeline>,
    /// Link and file.
    pub share: Rc<ShareView>,
    /// What happened last, in a sentence.
    pub announcement: String,
    /// What the views of the cluster were drawn from.
    basis: Basis,
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
        let mut screen = Screen::default();
        screen.draw_cluster(state);
        screen.draw_desk(state);
        screen
    }

    /// The screen of a later state; what cannot have changed is kept.
    pub fn after(&self, state: &State) -> Screen {
        let mut screen = self.clone();
        if Basis::of(state) != self.basis {
            screen.draw_cluster(state);
        }
        screen.draw_desk(state);
        screen
    }

    /// Everything that is read off the cluster and its history.
    fn draw_cluster(&mut self, state: &State) {
        let words = catalogue(state.language);
        let history = &state.history;
        let before = history.current().moments.get(state.came_from);
        let requests = &state.requests;
        let last = requests.until_now(history).next_back();
        let last_request = last.map(|sent| (sent.answer.as_str(), sent.is_success, sent.url.as_str()));
        let road_context = RoadContext {
            last_request,
            subject: state.subject.as_ref(),
            refused: refused_request(&state.history),
        };
        let path = path_view(words, history, requests);
        let map_context = MapContext {
            selected: state.selected.as_ref(),
            request_url: &requests.url,
            path: path.as_ref(),
            before: before.map(|moment| &*moment.cluster),
        };
        let traffic: Vec<(usize, bool)> =
            requests.of_branch(history).map(|sent| (sent.moment, sent.is_success)).collect();
        let fact = state.fact.or_else(|| newest_fact(state));
        let timeline_context = TimelineContext {
            fact,
            filter: state.selected.as_ref(),
            traffic: &traffic,
            is_list: state.is_timeline_list,
        };
        let road = road_view(words, history.cluster(), before.map(|moment| &*moment.cluster), &road_context);
        self.road = Rc::new(road);
        self.map = Rc::new(map_view(words, history, &map_context));
        self.why = fact.and_then(|fact| why_view(words, history, fact)).map(Rc::new);
        self.object =
            state.selected.as_ref().and_then(|object| object_view(words, history, object)).map(Rc::new);
        self.scheduling = Rc::new(scheduling_view(words, history, state.attempt, state.selected.as_ref()));
        self.trace = Rc::new(trace_view(words, history, requests));
        self.timeline = Rc::new(timeline_view(words, history, &timeline_context));
        if state.inspector_tab == InspectorTab::Faults {
            self.faults = Rc::new(faults_view(words, history, requests, state.selected.as_ref()));
        }
        self.basis = Basis::of(state);
    }

    /// Everything else.
    fn draw_desk(&mut self, state: &State) {
        let is_running = state.is_playing || state.run.is_some();
        let is_shared = state.dialog == Some(Dialog::Share) || state.embed.is_some();
        self.transport = Rc::new(transport_view(&state.history, state.speed, is_running));
        self.editor = Rc::new(editor_view(state));
        self.terminal = Rc::new(terminal_view(state));
        self.share = if is_shared { Rc::new(share_view(state)) } else { Rc::default() };
        self.lesson = Rc::new(lesson_view(state));
        self.announcement = state.announcement.render(catalogue(state.language));
        self.theme = state.theme;
        self.dialog = state.dialog;
        self.open_stage = state.open_stage;
        self.inspector_tab = state.inspector_tab;
        self.screen_tab = state.screen_tab;
        self.is_timeline_list = state.is_timeline_list;
        self.has_keys = state.has_keys;
    }
}

/// What the views of the cluster depend on: while it is the same, so are they.
#[derive(Clone, Debug, Default, PartialEq)]
struct Basis {
    language: Language,
    position: (usize, usize),
    moments: usize,
    branches: usize,
    subject: Option<ObjectReference>,
    selected: Option<ObjectReference>,
    fact: Option<FactId>,
    attempt: Option<FactId>,
    requests: Requests,
    is_timeline_list: bool,
    has_faults: bool,
    session: usize,
}

impl Basis {
    fn of(state: &State) -> Basis {
        Basis {
            language: state.language,
            position: state.moment(),
            moments: state.history.moments(),
            branches: state.history.branches().len(),
            subject: state.subject.clone(),
            selected: state.selected.clone(),
            fact: state.fact,
            attempt: state.attempt,
            requests: state.requests.clone(),
            is_timeline_list: state.is_timeline_list,
            has_faults: state.inspector_tab == InspectorTab::Faults,
            session: state.sessions,
        }
    }
}

/// The most telling of the newest facts at the moment on screen.
fn newest_fact(state: &State) -> Option<FactId> {
    let facts = state.history.facts().rev();
    facts.take(FACTS_LOOKED_AT).find(|fact| is_telling(fact)).map(|fact| fact.id)
}

/// The words of the learner's newest request of this tick that the API server refused.
fn refused_request(history: &History) -> Option<&str> {
    let tick = history.cluster().tick();
    let refused =
        history.facts().rev().take_while(|fact| fact.tick == tick).find(|fact| is_refused_request(fact))?;
    match &history.fact(refused.cause?)?.what {
        What::Asked { request } => Some(request),
        _ => None,
    }
}

/// How far back the newest telling fact is looked for.
const FACTS_LOOKED_AT: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::message::Message;
    use crate::app::update::update;
    use crate::app::view_model::{Mark, Marks};
    use crate::cluster::settings::Settings;

    #[test]
    fn what_the_server_refused_is_explained_and_marks_the_first_stage() {
        let mut state = State::new(Settings::default());
        state.files[0].text = state.files[0].text.replace("replicas: 3", "replicas: -3");
        update(&mut state, Message::ApplyAsked);
        let screen = Screen::of(&state);
        let stored = &screen.road.stages[0];
        assert_eq!(stored.marks, Marks::new(Mark::Failed, Mark::Empty));
        assert_eq!(stored.note, "refused: create Deployment demo/api");
        let why = screen.why.expect("the refusal is explained");
        let headline: String = why.headline.iter().map(|piece| piece.text.as_str()).collect();
        assert!(headline.contains("spec.replicas"), "not the objects that were stored after it: {headline}");

        update(&mut state, Message::TickAsked);
        assert_eq!(Screen::of(&state).road.stages[0].marks, Marks::default(), "a tick later it is past");
    }
}
