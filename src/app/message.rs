//! What happened at the screen: closed, in the past tense, from whatever button, key or timer.

use super::layout::{Dialog, InspectorTab, PlaySpeed, ScreenTab, Theme};
use super::view_model::ObjectReference;
use super::view_model::road::StageId;
use crate::i18n::Language;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The learner wants the first moment back.
    FirstAsked,
    /// The learner wants the moment before.
    BackAsked,
    /// The learner wants the next work item done.
    StepAsked,
    /// The learner wants the round finished.
    TickAsked,
    /// The learner wants everything done that is left to do.
    QuietAsked,
    /// Play was pressed.
    PlayToggled,
    /// A speed was chosen.
    SpeedChosen(PlaySpeed),
    /// The timer of Play or of a long run went off.
    TimerFired,
    /// The slider was moved.
    MomentChosen(usize),
    /// A branch was chosen.
    BranchChosen(usize),
    /// The learner wants to go on from the moment on screen.
    ForkAsked,

    /// A stage of the road was opened or closed.
    StageToggled(StageId),
    /// Another workload's road was chosen.
    SubjectChosen(ObjectReference),
    /// An object was chosen.
    ObjectChosen(ObjectReference),
    /// The chosen object was let go.
    ObjectLeft,
    /// A fact was chosen.
    FactChosen(usize),
    /// A tab of the right pane was chosen.
    InspectorTabChosen(InspectorTab),
    /// A tab of the phone's screen was chosen.
    ScreenTabChosen(ScreenTab),
    /// The timeline was turned into a list or back.
    TimelineListToggled,
    /// An attempt of the scheduler was chosen, by its fact.
    AttemptChosen(usize),

    /// A file was chosen.
    FileChosen(usize),
    /// A file was added.
    FileAdded,
    /// The file on screen got a name.
    FileRenamed(String),
    /// A file was closed.
    FileClosed(usize),
    /// The file on screen was edited.
    FileEdited(String),
    /// Apply was pressed.
    ApplyAsked,
    /// Diff was pressed.
    DifferenceToggled,

    /// A line was entered in the terminal.
    LineEntered(String),
    /// A line was chosen that stands for a button: it is typed and entered.
    CommandChosen(String),
    /// Tab was pressed with this much of a line before the caret.
    CompletionAsked(String),
    /// The choices were left.
    CompletionLeft,
    /// Ctrl-C was pressed.
    InterruptAsked,

    /// The address of a request was edited.
    RequestEdited(String),
    /// A request was sent.
    RequestSent,
    /// A sent request was chosen, by its number.
    RequestChosen(usize),
    /// A hop was chosen.
    HopChosen(usize),
    /// The journey is wanted on the clipboard.
    TraceCopyAsked,

    /// A lesson was chosen.
    LessonChosen(String),
    /// The lesson was left.
    LessonLeft,
    /// A choice was made, not yet settled.
    PredictionPicked(String),
    /// The choice was settled: time may move.
    PredictionMade,
    /// A hint was asked for.
    HintAsked,

    /// A language was chosen.
    LanguageChosen(Language),
    /// A theme was chosen.
    ThemeChosen(Theme),
    /// A single key was pressed that means this.
    KeyPressed(Box<Message>),
    /// Single keys were switched on or off.
    KeysToggled,
    /// A sheet was opened.
    DialogOpened(Dialog),
    /// The sheet was closed, or what was open on the page.
    Escaped,
    /// A text is wanted on the clipboard.
    CopyAsked(String),
    /// The clipboard has it, or not.
    Copied(bool),
    /// The session is wanted as a file.
    ExportAsked,
    /// A session file was read.
    FileImported(String),
    /// The session is to begin anew.
    ResetAsked,
    /// The address of the page changed.
    LinkFollowed(String),
    /// Saving did not work.
    SaveFailed,
}
