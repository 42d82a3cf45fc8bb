//! Choices about the page itself: they are the learner's, not the cluster's.

/// Dark or light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The value of `data-theme`; empty to follow the system.
    pub fn name(self) -> &'static str {
        match self {
            Theme::System => "",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The theme of that name.
    pub fn of_name(name: &str) -> Option<Theme> {
        [Theme::Light, Theme::Dark].into_iter().find(|theme| theme.name() == name)
    }

    /// The next one as the button goes round.
    pub fn next(self) -> Theme {
        match self {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }
    }
}

/// A tab of the right pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InspectorTab {
    /// One fact explained.
    #[default]
    Why,
    /// One object.
    Object,
    /// The scheduler's attempts.
    Scheduling,
    /// Requests.
    Trace,
    /// The lesson.
    Lesson,
    /// Faults and traffic.
    Faults,
}

impl InspectorTab {
    /// Every tab, in order.
    pub const ALL: [InspectorTab; 6] = [
        InspectorTab::Why,
        InspectorTab::Object,
        InspectorTab::Scheduling,
        InspectorTab::Trace,
        InspectorTab::Lesson,
        InspectorTab::Faults,
    ];

    /// The name used in ids, links and catalogue keys.
    pub fn name(self) -> &'static str {
        match self {
            InspectorTab::Why => "why",
            InspectorTab::Object => "object",
            InspectorTab::Scheduling => "scheduling",
            InspectorTab::Trace => "trace",
            InspectorTab::Lesson => "lesson",
            InspectorTab::Faults => "faults",
        }
    }
}

/// A tab of the phone's screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenTab {
    /// The editor.
    #[default]
    Editor,
    /// The terminal.
    Terminal,
    /// The cluster.
    Map,
    /// The right pane.
    Inspect,
    /// The timeline.
    Timeline,
}

impl ScreenTab {
    /// Every tab, in order.
    pub const ALL: [ScreenTab; 5] =
        [ScreenTab::Editor, ScreenTab::Terminal, ScreenTab::Map, ScreenTab::Inspect, ScreenTab::Timeline];

    /// The name used in ids and catalogue keys.
    pub fn name(self) -> &'static str {
        match self {
            ScreenTab::Editor => "editor",
            ScreenTab::Terminal => "terminal",
            ScreenTab::Map => "map",
            ScreenTab::Inspect => "inspect",
            ScreenTab::Timeline => "timeline",
        }
    }
}

/// How fast Play runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaySpeed {
    /// A tick every two seconds.
    Half,
    /// A tick a second: as fast as the cluster's own clock.
    #[default]
    One,
    /// Two ticks a second.
    Two,
    /// Five ticks a second.
    Five,
}

impl PlaySpeed {
    /// Every speed, slowest first.
    pub const ALL: [PlaySpeed; 4] = [PlaySpeed::Half, PlaySpeed::One, PlaySpeed::Two, PlaySpeed::Five];

    /// How long a tick stays on screen.
    pub fn pause_milliseconds(self) -> u32 {
        match self {
            PlaySpeed::Half => 2000,
            PlaySpeed::One => 1000,
            PlaySpeed::Two => 500,
            PlaySpeed::Five => 200,
        }
    }

    /// The label.
    pub fn label(self) -> &'static str {
        match self {
            PlaySpeed::Half => "½×",
            PlaySpeed::One => "1×",
            PlaySpeed::Two => "2×",
            PlaySpeed::Five => "5×",
        }
    }

    /// The next one as the button goes round.
    pub fn next(self) -> PlaySpeed {
        let at = PlaySpeed::ALL.iter().position(|speed| *speed == self).unwrap_or(0);
        PlaySpeed::ALL[(at + 1) % PlaySpeed::ALL.len()]
    }
}

/// A sheet over the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Link, file, embed.
    Share,
    /// Keys and words.
    Help,
    /// The lessons.
    Lessons,
}

/// What an embed shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmbedView {
    /// The cluster.
    #[default]
    Map,
    /// The editor.
    Editor,
    /// The terminal.
    Terminal,
    /// The last request.
    Trace,
    /// Editor and cluster.
    Split,
}

impl EmbedView {
    /// The view of that name in an address.
    pub fn of_name(name: &str) -> Option<EmbedView> {
        Some(match name {
            "map" => EmbedView::Map,
            "editor" => EmbedView::Editor,
            "terminal" => EmbedView::Terminal,
            "trace" => EmbedView::Trace,
            "split" => EmbedView::Split,
            _ => return None,
        })
    }
}

/// How the page stands in another page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embed {
    /// What it shows.
    pub view: EmbedView,
    /// Parts it leaves out, such as `road`.
    pub hidden: Vec<String>,
    /// Whether nothing can be changed, only watched.
    pub is_read_only: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theme_and_speed_go_round() {
        assert_eq!(Theme::default().next().next().next(), Theme::default());
        let mut speed = PlaySpeed::default();
        for _ in 0..PlaySpeed::ALL.len() {
            speed = speed.next();
        }
        assert_eq!(speed, PlaySpeed::default());
    }
}
