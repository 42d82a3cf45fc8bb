//! An actor's name with its colour.

use yew::prelude::*;

use crate::app::view_model::ActorTag;

/// The name, with a small square of the actor's colour before it.
pub fn render_actor(tag: &ActorTag) -> Html {
    html! { <span class={classes!("actor", tag.tint.class())}>{ tag.name.clone() }</span> }
}
