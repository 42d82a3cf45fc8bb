//! Tables of `kubectl get`.
//!
//! Models: `k8s.io/cli-runtime/pkg/printers/tableprinter.go` (v1.36).
//! Leaves out: colours.

use super::row;
use super::tabs;
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::kubectl::host::Host;

/// What a table shows beside its kind's own columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// All columns.
    pub wide: bool,
    /// No first line.
    pub no_headers: bool,
    /// A first column with the namespace.
    pub with_namespace: bool,
    /// Names as `pod/web`.
    pub with_kind: bool,
    /// A last column with all labels.
    pub show_labels: bool,
    /// Columns with one label each.
    pub label_columns: Vec<String>,
}

/// The smallest width of a column, its padding counted.
pub const MINIMUM: usize = 6;
/// The spaces between columns.
pub const PADDING: usize = 3;

/// A table of objects of one kind, ending with a newline.
pub fn render(kind: Kind, objects: &[Object], options: &Options, host: &dyn Host) -> String {
    tabs::align(&lines(kind, objects, options, host), MINIMUM, PADDING)
}

/// The lines of a table, cells separated by tabs.
pub fn lines(kind: Kind, objects: &[Object], options: &Options, host: &dyn Host) -> String {
    let columns = row::headers(kind, host);
    let shown = |is_wide: bool| options.wide || !is_wide;
    let with_namespace = options.with_namespace && kind.is_namespaced();
    let mut out = String::new();
    if !options.no_headers {
        let mut cells: Vec<String> = Vec::new();
        cells.extend(with_namespace.then(|| "NAMESPACE".to_string()));
        cells.extend(columns.iter().filter(|(_, is_wide)| shown(*is_wide)).map(|(name, _)| name.clone()));
        cells.extend(options.label_columns.iter().map(|label| label_header(label)));
        cells.extend(options.show_labels.then(|| "LABELS".to_string()));
        push_line(&mut out, &cells);
    }
    for object in objects {
        let mut cells: Vec<String> = Vec::new();
        cells.extend(with_namespace.then(|| object.meta().namespace.to_string()));
        for ((name, is_wide), mut cell) in columns.iter().zip(row::cells(object, host)) {
            if !shown(*is_wide) {
                continue;
            }
            if name == "NAME" && options.with_kind {
                cell = format!("{}/{cell}", kind.printed());
            }
            cells.push(cell);
        }
        let labels = &object.meta().labels;
        cells
            .extend(options.label_columns.iter().map(|label| labels.get(label).cloned().unwrap_or_default()));
        cells.extend(options.show_labels.then(|| labels_text(labels)));
        push_line(&mut out, &cells);
    }
    out
}

fn push_line(out: &mut String, cells: &[String]) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.push('\t');
        }
        out.extend(cell.chars().map(|c| if c == '\t' || c == '\n' || c == '\r' { ' ' } else { c }));
    }
    out.push('\n');
}

/// The header of a label's column: the part after the slash, in capitals.
fn label_header(label: &str) -> String {
    label.rsplit('/').next().unwrap_or(label).to_uppercase()
}

/// `a=1,b=2`, or `<none>`.
pub fn labels_text(labels: &std::collections::BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return "<none>".to_string();
    }
    let pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(",")
}
