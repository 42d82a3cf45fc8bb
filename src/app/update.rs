//! What a message does: state in, state and effects out, nothing else.

use super::effect::Effect;
use super::message::Message;
use super::state::State;

/// Carry out `message` in the state; what concerns the outside comes back as effects.
pub fn update(state: &mut State, message: Message) -> Vec<Effect> {
    match message {
        Message::KeyPressed(message) => {
            return if state.has_keys && state.dialog.is_none() {
                update(state, *message)
            } else {
                Vec::new()
            };
        }
        Message::KeysToggled => {
            state.has_keys = !state.has_keys;
            return vec![Effect::Remember(state.choices())];
        }
        Message::LanguageChosen(language) => {
            state.language = language;
            return dressed(state);
        }
        Message::ThemeChosen(theme) => {
            state.theme = theme;
            return dressed(state);
        }
        Message::DialogOpened(dialog) => state.dialog = Some(dialog),
        Message::Escaped => {
            if state.dialog.take().is_none() {
                state.open_stage = None;
            }
        }
        Message::StageToggled(stage) => {
            state.open_stage = if state.open_stage == Some(stage) { None } else { Some(stage) };
        }
        Message::InspectorTabChosen(tab) => state.inspector_tab = tab,
        Message::ScreenTabChosen(tab) => state.screen_tab = tab,
        Message::TimelineListToggled => state.is_timeline_list = !state.is_timeline_list,
        Message::SpeedChosen(speed) => state.speed = speed,
        _ => {}
    }
    Vec::new()
}

fn dressed(state: &State) -> Vec<Effect> {
    let (language, theme) = (state.language, state.theme);
    vec![Effect::Dress { language, theme }, Effect::Remember(state.choices())]
}
