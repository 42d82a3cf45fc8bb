//! Links, files, embeds.

/// What the share sheet shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareView {
    /// The link to this very moment; empty when it would be too long.
    pub link: String,
    /// The longest link that is offered.
    pub link_limit_bytes: usize,
    /// Why there is no link.
    pub refusal: String,
    /// The address of the whole page at this moment, for an embed's way out.
    pub open: String,
    /// The line for an embedding page.
    pub embed: String,
    /// Whether the last copy worked and nothing changed since.
    pub is_copied: bool,
}
