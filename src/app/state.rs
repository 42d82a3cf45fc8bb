//! Everything the screen knows, in one place.

use super::effect::Effect;
use super::layout::{Dialog, Embed, EmbedView, InspectorTab, PlaySpeed, ScreenTab, Theme};
use super::view_model::road::StageId;
use crate::i18n::Language;

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
    /// The session kept from an earlier visit.
    pub session: Option<String>,
}

impl Opening {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The state of the page.
#[derive(Clone, Debug)]
pub struct State {
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
        let kept = |name: &str| {
            opening
                .choices
                .split(';')
                .filter_map(|choice| choice.split_once('='))
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        let language = opening
            .parameter("lang")
            .and_then(Language::of_tag)
            .or_else(|| kept("lang").and_then(Language::of_tag))
            .or_else(|| Language::of_tag(&opening.language))
            .unwrap_or_default();
        let theme =
            opening.parameter("theme").or_else(|| kept("theme")).and_then(Theme::of_name).unwrap_or_default();
        let is_yes =
            |name: &str| opening.parameter(name).is_some_and(|value| !matches!(value, "" | "0" | "false"));
        let embed = is_yes("embed").then(|| Embed {
            view: opening.parameter("view").and_then(EmbedView::of_name).unwrap_or_default(),
            hidden: opening.parameter("hide").unwrap_or_default().split(',').map(str::to_string).collect(),
            is_read_only: is_yes("readonly"),
        });
        let state = State {
            language,
            theme,
            has_keys: kept("keys") != Some("off"),
            dialog: None,
            open_stage: None,
            inspector_tab: InspectorTab::default(),
            screen_tab: ScreenTab::default(),
            is_timeline_list: false,
            speed: PlaySpeed::default(),
            embed,
            address: opening.address.clone(),
        };
        let dress = Effect::Dress { language, theme };
        (state, vec![dress])
    }

    /// The moment on screen, to tell whether a message moved time.
    pub fn moment(&self) -> usize {
        0
    }

    /// The choices about the page as they are kept.
    pub fn choices(&self) -> String {
        [
            "lang=",
            self.language.tag(),
            ";theme=",
            self.theme.name(),
            ";keys=",
            if self.has_keys { "on" } else { "off" },
        ]
        .concat()
    }
}
