//! A small table of verdicts.

/// Head cells and rows of equal length; the first cell of a row is its heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the table shows.
    pub caption: String,
    /// Column headings.
    pub head: Vec<String>,
    /// Rows, each as long as `head`.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Plain text.
    Plain(String),
    /// Passed, with a word or number beside the tick.
    Passed(String),
    /// Refused, with the reason.
    Refused(String),
    /// Not asked.
    Quiet(String),
}
