//! Where in a text each node of a manifest stands.

/// A place in a text; both numbers count from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The places of a node and of what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// Where the node begins: the key, for a member of a map.
    pub at: Place,
    /// Where the node's own value begins.
    pub value_at: Place,
    /// What is inside.
    pub inside: Inside,
}

/// The places inside a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inside {
    /// A scalar, or something expanded from an alias.
    #[default]
    Nothing,
    /// The items of a list, in order.
    Items(Vec<Places>),
    /// The members of a map with their keys, as they stand in the text; of a key that stands twice, the last one counts.
    Members(Vec<(String, Places)>),
}

/// One step of a path: `.name`, `[0]` or `[some key]`.
fn steps(path: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let end = inside.find(']').unwrap_or(inside.len());
            found.push(&inside[..end]);
            rest = inside.get(end + 1..).unwrap_or_default();
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end > 0 {
                found.push(&name[..end]);
            }
            rest = &name[end..];
        }
    }
    found
}

impl Places {
    /// The place of the node at a path such as `spec.containers[0].image` or `data[a.txt]`; where the path leads out of
    /// the document (a missing required field), the place of the last node that exists.
    pub fn of(&self, path: &str) -> Place {
        let mut node = self;
        for step in steps(path) {
            let next = match &node.inside {
                Inside::Nothing => None,
                Inside::Items(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                Inside::Members(members) => {
                    members.iter().rev().find(|(key, _)| key == step).map(|(_, inner)| inner)
                }
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.at
    }

    /// The path of the innermost node that begins at or before a place, as [`Places::of`] reads it.
    pub fn path_at(&self, place: Place) -> String {
        let mut path = String::new();
        let mut node = self;
        loop {
            let begun = |inner: &Places| inner.at <= place;
            match &node.inside {
                Inside::Nothing => return path,
                Inside::Items(items) => {
                    let Some(index) = items.iter().rposition(begun) else { return path };
                    path.push_str(&format!("[{index}]"));
                    node = &items[index];
                }
                Inside::Members(members) => {
                    let last =
                        members.iter().filter(|(_, inner)| begun(inner)).max_by_key(|(_, inner)| inner.at);
                    let Some((key, inner)) = last else { return path };
                    if key.contains(['.', '[', ']', ' ']) {
                        path.push_str(&format!("[{key}]"));
                    } else {
                        path.push_str(if path.is_empty() { "" } else { "." });
                        path.push_str(key);
                    }
                    node = inner;
                }
            }
        }
    }
}
