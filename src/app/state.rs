//! Everything the screen knows, in one place.

use super::effect::Effect;
use super::layout::{Dialog, Embed, EmbedView, InspectorTab, PlaySpeed, ScreenTab, Theme};
use super::lesson;
use super::requests::Requests;
use super::session::{FIRST_MANIFEST, File, Screenful};
use super::sharing;
use super::shell::Shell;
use super::view_model::ObjectReference;
use super::view_model::editor::Problem;
use super::view_model::road::StageId;
use crate::cluster::fact::FactId;
use crate::cluster::history::History;
use crate::cluster::settings::Settings;
use crate::i18n::{Language, Text};
use crate::share::Shared;

/// What the page finds when it opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The known parameters of the address, by name.
    pub query: Vec<(String, String)>,
    /// The fragment of the address, with its `#`.
    pub hash: String,
    /// The address without parameters and fragment.
    pub address: String,
    /// The browser's language.
    pub language: String,
    /// The choices kept from an earlier visit.
    pub choices: String,
    /// The lines typed on earlier visits, a JSON list of texts.
    pub lines: String,
    /// The session kept from an earlier visit.
    pub session: Option<String>,
}

impl Opening {
    /// A parameter of the address.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a parameter of the address says yes.
    pub fn is_yes(&self, name: &str) -> bool {
        self.parameter(name).is_some_and(|value| !matches!(value, "" | "0" | "false"))
    }

    fn kept(&self, name: &str) -> Option<&str> {
        let mut pairs = self.choices.split(';').filter_map(|choice| choice.split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// What tells one kept session from the next: branch, moment, newest moment, requests, and the length and number of edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    position: (usize, usize),
    moments: usize,
    requests: usize,
    edits: usize,
}

/// A run that goes on by itself until nothing is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Ticks done so far.
    pub ticks: u64,
    /// Whether anything happened in them.
    pub has_worked: bool,
}

/// The state of the page.
#[derive(Debug)]
pub struct State {
    /// The cluster, through time.
    pub history: History,
    /// The files of the editor; never empty.
    pub files: Vec<File>,
    /// The file on screen.
    pub shown_file: usize,
    /// Counts up when a text was replaced from outside the editor.
    pub editor_revision: usize,
    /// Counts the sessions that were taken over or begun anew on this page.
    pub sessions: usize,
    /// Counts the edits of files.
    pub edits: usize,
    /// What is wrong with the file on screen.
    pub problems: Vec<Problem>,
    /// Whether the difference against the live objects is on screen.
    pub has_difference: bool,
    /// The terminal's memory and the line that still runs.
    pub shell: Shell,
    /// What stands in the terminal.
    pub screenful: Screenful,
    /// Requests sent.
    pub requests: Requests,
    /// The workload whose road is shown; `None` for the first.
    pub subject: Option<ObjectReference>,
    /// The selected object.
    pub selected: Option<ObjectReference>,
    /// The fact explained; `None` for the newest at the moment on screen.
    pub fact: Option<FactId>,
    /// The moment before the one on screen: what changed since lights up.
    pub came_from: usize,
    /// The attempt of the scheduler that is shown.
    pub attempt: Option<FactId>,
    /// The lesson under way.
    pub lesson: Option<lesson::Run>,
    /// Whether time runs by itself.
    pub is_playing: bool,
    /// A run under way.
    pub run: Option<Run>,
    /// What was kept last, to tell whether anything changed since.
    pub saved: Saved,
    /// Whether a timer is set.
    pub is_timed: bool,
    /// What happened last.
    pub announcement: Text,
    /// Whether the last copy worked and nothing changed since.
    pub is_copied: bool,
    /// The language on screen.
    pub language: Language,
    /// Dark or light.
    pub theme: Theme,
    /// Whether single keys work.
    pub has_keys: bool,
    /// The sheet that is open.
    pub dialog: Option<Dialog>,
    /// The stage of the road that is open.
    pub open_stage: Option<StageId>,
    /// The tab of the right pane.
    pub inspector_tab: InspectorTab,
    /// The tab of the phone's screen.
    pub screen_tab: ScreenTab,
    /// Whether the timeline stands as a list.
    pub is_timeline_list: bool,
    /// How fast Play runs.
    pub speed: PlaySpeed,
    /// How the page stands in another page; `None` by itself.
    pub embed: Option<Embed>,
    /// The address without parameters and fragment.
    pub address: String,
}

impl State {
    /// The state at the opening of the page, and what is to be done about it.
    pub fn open(opening: Opening) -> (State, Vec<Effect>) {
        let language = opening
            .parameter("lang")
            .and_then(Language::of_tag)
            .or_else(|| opening.kept("lang").and_then(Language::of_tag))
            .or_else(|| Language::of_tag(&opening.language))
            .unwrap_or_default();
        let theme = opening
            .parameter("theme")
            .or_else(|| opening.kept("theme"))
            .and_then(Theme::of_name)
            .unwrap_or_default();
        let embed = opening.is_yes("embed").then(|| Embed {
            view: opening.parameter("view").and_then(EmbedView::of_name).unwrap_or_default(),
            hidden: opening.parameter("hide").unwrap_or_default().split(',').map(str::to_string).collect(),
            is_read_only: opening.is_yes("readonly"),
        });
        let settings = match opening.parameter("seed").and_then(|seed| seed.parse().ok()) {
            Some(seed) => Settings::playground(seed),
            None => Settings::default(),
        };
        let mut state = State::new(settings);
        state.language = language;
        state.theme = theme;
        state.has_keys = opening.kept("keys") != Some("off");
        state.embed = embed;
        state.address = opening.address.clone();
        // Lines that cannot be read are lines that were never typed.
        state.shell.session.history = serde_json::from_str(&opening.lines).unwrap_or_default();
        if crate::share::link::is_link(&opening.hash) {
            if let Err(refusal) = sharing::follow(&mut state, &opening.hash) {
                state.announcement = super::update::refused(&state, &refusal);
            }
        } else if let Some(shared) = opening
            .session
            .as_deref()
            .filter(|_| state.embed.is_none())
            .and_then(|text| Shared::from_text(text).ok())
        {
            sharing::take_over(&mut state, &shared);
        }
        if let Some(id) = opening.parameter("lesson").filter(|_| !crate::share::link::is_link(&opening.hash))
        {
            lesson::begin(&mut state, id);
        }
        if let Some(tick) = opening.parameter("tick").and_then(|tick| tick.parse().ok()) {
            super::time::run_to(&mut state, tick);
        }
        // In the first manifest there is no mistake to look for: a test asks for that.
        if state.file().text != FIRST_MANIFEST {
            super::update::check_file(&mut state);
        }
        state.saved = state.to_save();
        (state, vec![Effect::Dress { language, theme }])
    }

    /// A new session in a cluster of those settings.
    pub fn new(settings: Settings) -> State {
        let history = History::new(settings);
        let opened = Text::new("announce.opened")
            .with("nodes", history.cluster().settings.nodes.len())
            .with("tick", history.cluster().visible_tick());
        State {
            history,
            files: vec![File {
                name: "api.yaml".to_string(),
                text: FIRST_MANIFEST.to_string(),
                applied: String::new(),
            }],
            shown_file: 0,
            editor_revision: 0,
            sessions: 0,
            edits: 0,
            problems: Vec::new(),
            has_difference: false,
            shell: Shell::default(),
            screenful: Screenful::default(),
            requests: Requests::default(),
            subject: None,
            selected: None,
            fact: None,
            came_from: 0,
            attempt: None,
            lesson: None,
            is_playing: false,
            run: None,
            saved: Saved::default(),
            is_timed: false,
            announcement: opened,
            is_copied: false,
            language: Language::default(),
            theme: Theme::default(),
            has_keys: true,
            dialog: None,
            open_stage: None,
            inspector_tab: InspectorTab::default(),
            screen_tab: ScreenTab::default(),
            is_timeline_list: false,
            speed: PlaySpeed::default(),
            embed: None,
            address: String::new(),
        }
    }

    /// Branch and moment on screen, to tell whether a message moved time.
    pub fn moment(&self) -> (usize, usize) {
        self.history.position()
    }

    /// The file on screen.
    pub fn file(&self) -> &File {
        &self.files[self.shown_file.min(self.files.len() - 1)]
    }

    /// The file on screen, to change it.
    pub fn file_mut(&mut self) -> &mut File {
        let at = self.shown_file.min(self.files.len() - 1);
        &mut self.files[at]
    }

    /// What would be kept now.
    pub fn to_save(&self) -> Saved {
        Saved {
            position: self.moment(),
            moments: self.history.moments(),
            requests: self.requests.sent.len(),
            edits: self.edits + self.editor_revision,
        }
    }

    /// The choices about the page as they are kept.
    pub fn choices(&self) -> String {
        let keys = if self.has_keys { "on" } else { "off" };
        ["lang=", self.language.tag(), ";theme=", self.theme.name(), ";keys=", keys].concat()
    }
}
