//! A kubectl line: read it, run it, copy it.

use yew::prelude::*;

use crate::app::message::Message;
use crate::ui::desk::Desk;

/// The line with its buttons; nothing when there is no line.
pub fn render_line(desk: &Desk, command: &str) -> Html {
    if command.is_empty() {
        return Html::default();
    }
    html! {
        <div class="line">
            <code>{ command.to_string() }</code>
            <button onclick={desk.on(Message::CommandChosen(command.to_string()))}>{ desk.t("line.run") }</button>
            <button onclick={desk.on(Message::CopyAsked(command.to_string()))}>{ desk.t("line.copy") }</button>
        </div>
    }
}
