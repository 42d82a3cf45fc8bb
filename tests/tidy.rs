//! House rules that a machine can check, by reading the sources: which layer may import which, what may be used where,
//! how files are named. Each rule is a table or a few lines; each failure names file, line and rule.
//!
//! To change a rule, change its table here, in a commit that says why.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

// --- The rules' tables ----------------------------------------------------------------------------------------------

/// The layers, top first: a file may import its own layer and those before it.
const LAYERS: &[&str] = &["api", "cluster", "kubectl", "lessons", "share", "app", "ui"];

/// Catalogues stand beside the layers: this layer and the later ones may use them, and they may use these only.
const CATALOGUES: &str = "i18n";
const FIRST_WITH_CATALOGUES: &str = "kubectl";
const CATALOGUES_MAY_USE: &[&str] = &["api", "cluster"];

/// The parts of the cluster that meet only in the store, and what of the API server they may see.
const STRANGERS: &[&str] = &["controllers", "scheduler", "kubelet", "network"];
const OPEN_PARTS_OF_THE_SERVER: &[&str] = &["request", "response", "status", "write"];

/// Words that may stand only in some places (a path under the root, file or folder); everywhere else in `src/` they fail.
const WORDS_WITH_A_PLACE: &[(&[&str], &[&str], &str)] = &[
    (
        &["serde_yaml"],
        &["src/api/manifest.rs", "src/bin/kubestep/conformance"],
        "YAML enters and leaves through src/api/manifest.rs only; recorded cases are no manifests",
    ),
    (&["saphyr_parser"], &["src/api"], "YAML is parsed in src/api only"),
    (
        &["yew", "web_sys", "js_sys", "gloo", "wasm_bindgen", "wasm_bindgen_futures"],
        &["src/ui", "src/bin/page.rs"],
        "the web stands in src/ui only",
    ),
    (
        &["HashMap", "HashSet", "RandomState", "DefaultHasher"],
        &["src/ui"],
        "nothing is iterated in hash order: BTreeMap, BTreeSet, imbl::OrdMap, imbl::OrdSet",
    ),
    (
        &["Instant::now", "std::time::Instant", "SystemTime"],
        &["src/ui", "src/bin"],
        "a cluster has its own clock: cluster::time; only the screen and the command line may look at ours",
    ),
    (&["clap", "regex_lite"], &["src/bin"], "the command line's crates stay in src/bin"),
    (&["unsafe"], &[], "there is no unsafe code"),
];

/// Names that say nothing about what a file is for.
const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager", "misc"];

/// Folders whose files each mirror one behaviour of Kubernetes: they name its source, and where gaps could surprise,
/// these too. A file with a folder of its own name only gathers what is in there.
const MIRRORS: &[(&str, &[&str])] = &[
    ("src/cluster/controllers", &["Models:", "Leaves out:"]),
    ("src/cluster/scheduler/filter", &["Models:", "Leaves out:"]),
    ("src/cluster/scheduler/score", &["Models:", "Leaves out:"]),
    ("src/kubectl/commands", &["Models:"]),
];

/// The one sheet with raw colours, and the folders whose sheets each belong to one component.
const TOKENS: &str = "styles/tokens.css";
const COMPONENT_SHEETS: &[(&str, &str)] =
    &[("styles/panes", "src/ui/panes"), ("styles/parts", "src/ui/parts")];
const COLOUR_FUNCTIONS: &[&str] =
    &["rgb(", "rgba(", "hsl(", "hsla(", "hwb(", "lab(", "lch(", "oklab(", "oklch(", "color("];
const COLOUR_NAMES: &[&str] =
    &["white", "black", "red", "green", "blue", "gray", "grey", "orange", "yellow", "purple", "pink"];

// --- The tests ------------------------------------------------------------------------------------------------------

#[test]
fn layers_import_only_those_above_them() {
    check(rust_files("src"), |file| {
        let Some(layer) = file.layer() else { return Vec::new() };
        file.imports()
            .into_iter()
            .filter(|import| !import.is_macro)
            .filter_map(|import| {
                let target = import.path.first()?.as_str();
                let known = LAYERS.contains(&target) || target == CATALOGUES;
                let complaint = match () {
                    () if may_import(layer, target) => return None,
                    () if !known => format!("`{target}` is no layer"),
                    () => format!("{layer} may not import {target}"),
                };
                Some((import.line, complaint))
            })
            .collect()
    });
}

#[test]
fn controllers_scheduler_kubelet_and_network_never_import_one_another() {
    check(rust_files("src/cluster"), |file| {
        let Some(own) = file.module.get(1).filter(|own| STRANGERS.contains(&own.as_str())) else {
            return Vec::new();
        };
        let is_stranger = |import: &Import| {
            import.path.first().is_some_and(|layer| layer == "cluster")
                && import.path.get(1).is_some_and(|part| part != own && STRANGERS.contains(&part.as_str()))
        };
        file.imports()
            .into_iter()
            .filter(is_stranger)
            .map(|import| {
                (import.line, format!("{own} may not import {}: they meet in the store", import.path[1]))
            })
            .collect()
    });
}

#[test]
fn components_see_only_the_open_parts_of_the_api_server() {
    check(rust_files("src/cluster"), |file| {
        let Some(own) = file.module.get(1).filter(|own| STRANGERS.contains(&own.as_str())) else {
            return Vec::new();
        };
        file.imports()
            .into_iter()
            .filter(|import| import.path.starts_with(&["cluster".to_owned(), "server".to_owned()]))
            .filter_map(|import| {
                let part = import.path.get(2)?;
                let open = OPEN_PARTS_OF_THE_SERVER.contains(&part.as_str());
                (!open).then(|| (import.line, format!("{own} may not import the server's {part}")))
            })
            .collect()
    });
}

#[test]
fn one_controller_never_imports_another() {
    check(rust_files("src/cluster/controllers"), |file| {
        let Some(own) = file.module.get(2) else { return Vec::new() };
        file.imports()
            .into_iter()
            .filter(|import| import.path.starts_with(&["cluster".to_owned(), "controllers".to_owned()]))
            .filter_map(|import| {
                let other = import.path.get(2).filter(|other| *other != own)?;
                // The folder's own items (a trait, the list) are for all; its files are not.
                let is_file = module_exists(&["cluster", "controllers", other]);
                is_file.then(|| (import.line, format!("the {own} controller may not import {other}")))
            })
            .collect()
    });
}

#[test]
fn words_stand_only_where_they_belong() {
    check(rust_files("src"), |file| {
        let mut found = Vec::new();
        for (words, places, rule) in WORDS_WITH_A_PLACE {
            if places.iter().any(|place| file.is_under(place)) {
                continue;
            }
            for (line, text) in file.code_lines() {
                if let Some(word) = words.iter().find(|word| has_word(text, word)) {
                    found.push((line, format!("`{word}`: {rule}")));
                }
            }
        }
        found
    });
}

#[test]
fn there_is_no_unsafe_code_in_tests_and_benches_either() {
    let files = rust_files("tests").into_iter().chain(rust_files("benches")).collect();
    check(files, |file| {
        let hits = file.code_lines().filter(|(_, text)| has_word(text, "unsafe"));
        hits.map(|(line, _)| (line, "there is no unsafe code".to_owned())).collect()
    });
}

#[test]
fn names_say_what_a_file_is_for() {
    let files =
        rust_files("src").into_iter().chain(rust_files("tests")).chain(files_with("styles", "css")).collect();
    check(files, |file| {
        let names = file
            .path
            .iter()
            .filter_map(|part| part.to_str())
            .map(|part| part.split('.').next().unwrap_or(part));
        let empty = names.filter(|name| EMPTY_NAMES.contains(name));
        empty.map(|name| (1, format!("`{name}` says nothing: name the file after what it does"))).collect()
    });
}

#[test]
fn mirrored_behaviour_names_its_source_and_what_it_leaves_out() {
    for (folder, words) in MIRRORS {
        let mirrors =
            |file: &Source| !file.is_named("mod.rs") && !root().join(file.path.with_extension("")).is_dir();
        let files = rust_files(folder).into_iter().filter(mirrors).collect();
        check(files, |file| {
            let docs: String = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
            let missing = words.iter().filter(|word| !docs.contains(**word));
            missing.map(|word| (1, format!("the module's docs have no `{word}`"))).collect()
        });
    }
}

#[test]
fn styles_are_set_as_properties_since_the_policy_forbids_style_attributes() {
    check(rust_files("src/ui"), |file| {
        let lines = file.code_lines().filter(|(_, text)| {
            text.match_indices("style=")
                .any(|(at, _)| text[..at].ends_with(|before: char| before.is_whitespace()))
        });
        lines.map(|(line, _)| (line, "write `~style={…}`: a property, not an attribute".to_owned())).collect()
    });
}

#[test]
fn raw_colours_stand_only_in_the_tokens() {
    let sheets = files_with("styles", "css").into_iter().filter(|file| !file.is_under(TOKENS)).collect();
    check(sheets, |file| {
        let code = without_css_comments(&file.text);
        let lines = code.lines().enumerate();
        let colours = lines.filter_map(|(index, text)| Some((index + 1, raw_colour(text)?)));
        colours
            .map(|(line, colour)| (line, format!("raw colour `{colour}`: give it a name in {TOKENS}")))
            .collect()
    });
}

#[test]
fn every_component_sheet_mirrors_a_component() {
    for (styles, components) in COMPONENT_SHEETS {
        check(files_with(styles, "css"), |file| {
            let name =
                file.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().replace('-', "_");
            let folder = root().join(components);
            let exists =
                folder.join(format!("{name}.rs")).exists() || folder.join(&name).join("mod.rs").exists();
            if exists { Vec::new() } else { vec![(1, format!("no component {components}/{name}.rs"))] }
        });
    }
}

// --- Imports --------------------------------------------------------------------------------------------------------

/// Whether a file of one layer may import another layer.
fn may_import(layer: &str, target: &str) -> bool {
    let rank = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    match (layer, target) {
        _ if layer == target => true,
        (CATALOGUES, _) => CATALOGUES_MAY_USE.contains(&target),
        (_, CATALOGUES) => rank(layer) >= rank(FIRST_WITH_CATALOGUES),
        _ => rank(target).is_some_and(|target| Some(target) < rank(layer)),
    }
}

/// One path into the crate: where it stands, and its segments from the crate's root.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    line: usize,
    path: Vec<String>,
    is_macro: bool,
}

/// Every path of `code` that starts with `crate`, `super` or `self`, resolved for a file of this module. A braced group
/// gives one import per branch.
fn imports_of(code: &str, module: &[String]) -> Vec<Import> {
    let tokens = tokens_of(code);
    let mut imports = Vec::new();
    // Inline modules, as the depth of braces at which each ends: `super` counts from them.
    let (mut depth, mut inline) = (0_usize, Vec::<(usize, String)>::new());
    let mut at = 0;
    while at < tokens.len() {
        let (line, token) = &tokens[at];
        match token.as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inline.retain(|(ends, _)| *ends < depth + 1);
            }
            "mod" if tokens.get(at + 2).is_some_and(|(_, token)| token == "{") => {
                inline.push((depth + 1, tokens[at + 1].1.clone()));
            }
            "crate" | "super" | "self" if tokens.get(at + 1).is_some_and(|(_, token)| token == "::") => {
                let here: Vec<String> =
                    module.iter().cloned().chain(inline.iter().map(|(_, name)| name.clone())).collect();
                let mut base = if token == "crate" { Vec::new() } else { here };
                if token == "super" {
                    base.pop();
                }
                at += 2;
                while tokens.get(at).is_some_and(|(_, token)| token == "super") {
                    base.pop();
                    at += 2;
                }
                at = branches(&tokens, at, &base, *line, &mut imports);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    imports
}

/// Read the rest of a path from token `at`, adding an import per branch; gives the token after it.
fn branches(
    tokens: &[(usize, String)],
    mut at: usize,
    base: &[String],
    line: usize,
    into: &mut Vec<Import>,
) -> usize {
    let mut path = base.to_vec();
    loop {
        let token = tokens.get(at).map_or("", |(_, token)| token.as_str());
        if token == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|(_, token)| token != "}") {
                let before = at;
                at = branches(tokens, at, &path, tokens[at].0, into);
                if tokens.get(at).is_some_and(|(_, token)| token == "as") {
                    at += 2;
                }
                if tokens.get(at).is_some_and(|(_, token)| token == ",") || at == before {
                    at += 1;
                }
            }
            return at + 1;
        }
        let is_name = token.starts_with(|first: char| first.is_alphabetic() || first == '_') || token == "*";
        if is_name && token != "self" && token != "*" {
            path.push(token.to_owned());
        }
        if is_name {
            at += 1;
        }
        if tokens.get(at).is_some_and(|(_, token)| token == "::") {
            at += 1;
            continue;
        }
        let is_macro = tokens.get(at).is_some_and(|(_, token)| token == "!") && path.len() == base.len() + 1;
        into.push(Import { line, path, is_macro });
        return at;
    }
}

/// Names, `::`, braces, commas and other single characters of code, with their lines.
fn tokens_of(code: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (index, text) in code.lines().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                _ if rest.starts_with("::") => 2,
                _ if first.is_alphanumeric() || first == '_' => {
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
                }
                _ => first.len_utf8(),
            };
            tokens.push((index + 1, rest[..length].to_owned()));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

// --- Reading sources ------------------------------------------------------------------------------------------------

/// One source file: its path from the root, its text, the same without comments and literals, and its module path.
struct Source {
    path: PathBuf,
    text: String,
    code: String,
    module: Vec<String>,
}

impl Source {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(root().join(path))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let code = without_comments_and_literals(&text);
        Self { path: path.to_owned(), text, code, module: module_of(path) }
    }

    fn is_under(&self, place: &str) -> bool {
        self.path.starts_with(place)
    }

    fn is_named(&self, name: &str) -> bool {
        self.path.file_name().is_some_and(|file| file == name)
    }

    /// The layer of a library file; the crate's root and the binaries have none.
    fn layer(&self) -> Option<&str> {
        self.module.first().map(String::as_str).filter(|name| LAYERS.contains(name) || *name == CATALOGUES)
    }

    fn imports(&self) -> Vec<Import> {
        imports_of(&self.code, &self.module)
    }

    fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(index, text)| (index + 1, text))
    }
}

/// Run a rule over files and fail with every violation at once, as `file:line: complaint`.
fn check(files: Vec<Source>, rule: impl Fn(&Source) -> Vec<(usize, String)>) {
    let mut report = String::new();
    for file in &files {
        for (line, complaint) in rule(file) {
            writeln!(report, "{}:{line}: {complaint}", file.path.display())
                .expect("a String takes everything");
        }
    }
    assert!(report.is_empty(), "house rules broken (tests/tidy.rs):\n{report}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &str) -> Vec<Source> {
    files_with(folder, "rs")
}

/// The files under a folder with this extension, in order of their paths; none when the folder does not exist.
fn files_with(folder: &str, extension: &str) -> Vec<Source> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != "node_modules" => folders.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == extension) => {
                    files.push(path)
                }
                _ => {}
            }
        }
    }
    files.sort();
    files.iter().map(|path| Source::read(path)).collect()
}

/// `src/a/b.rs` is `a::b`, `src/a/mod.rs` is `a`.
fn module_of(path: &Path) -> Vec<String> {
    let Ok(path) = path.strip_prefix("src") else { return Vec::new() };
    let mut module: Vec<String> =
        path.with_extension("").iter().filter_map(|part| part.to_str()).map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

fn module_exists(module: &[&str]) -> bool {
    let path = root().join("src").join(module.join("/"));
    path.with_extension("rs").exists() || path.is_dir()
}

/// Whether a text has this word, whole.
fn has_word(text: &str, word: &str) -> bool {
    let part_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(part_of_a_name) && !text[at + word.len()..].starts_with(part_of_a_name)
    })
}

/// Rust code with comments and the insides of literals blanked out; lines stay where they are.
fn without_comments_and_literals(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or('\0');
    let mut code = String::with_capacity(text.len());
    let mut index = 0;
    while index < characters.len() {
        let end = match (at(index), at(index + 1)) {
            ('/', '/') => (index..).find(|&i| i >= characters.len() || at(i) == '\n'),
            ('/', '*') => (index + 2..)
                .find(|&i| i >= characters.len() || (at(i) == '*' && at(i + 1) == '/'))
                .map(|i| i + 2),
            ('"', _) => {
                let raw = raw_hashes(&characters[..index]);
                string_end(&characters, index + 1, raw)
            }
            // A character, not a lifetime.
            ('\'', '\\') => (index + 3..).find(|&i| i >= characters.len() || at(i) == '\'').map(|i| i + 1),
            ('\'', _) if at(index + 2) == '\'' => Some(index + 3),
            _ => None,
        };
        let Some(end) = end else {
            code.push(at(index));
            index += 1;
            continue;
        };
        let end = end.min(characters.len());
        code.extend(characters[index..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
        index = end;
    }
    code
}

/// The number of `#` of a raw string whose quote follows these characters; `None` for an ordinary string.
fn raw_hashes(before: &[char]) -> Option<usize> {
    let hashes = before.iter().rev().take_while(|c| **c == '#').count();
    (before.iter().rev().nth(hashes) == Some(&'r')).then_some(hashes)
}

/// The index after the string that starts at `from`.
fn string_end(characters: &[char], from: usize, raw: Option<usize>) -> Option<usize> {
    let mut index = from;
    while index < characters.len() {
        match (characters[index], raw) {
            ('\\', None) => index += 1,
            ('"', None) => return Some(index + 1),
            ('"', Some(hashes))
                if characters[index + 1..].iter().take_while(|c| **c == '#').count() >= hashes =>
            {
                return Some(index + 1 + hashes);
            }
            _ => {}
        }
        index += 1;
    }
    Some(characters.len())
}

fn without_css_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (comment, rest) = part.split_once("*/").unwrap_or((part, ""));
        code.extend(comment.chars().filter(|c| *c == '\n'));
        code.push_str(rest);
    }
    code
}

/// The first raw colour in a line of CSS.
fn raw_colour(line: &str) -> Option<String> {
    let hex = line.match_indices('#').find_map(|(at, _)| {
        let rest = &line[at + 1..];
        let length =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
        let is_colour =
            matches!(length, 3 | 4 | 6 | 8) && rest[..length].chars().all(|c| c.is_ascii_hexdigit());
        is_colour.then(|| line[at..=at + length].to_owned())
    });
    let function = COLOUR_FUNCTIONS.iter().find(|name| {
        line.match_indices(**name)
            .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-'))
    });
    let values = line.split_once(':').map_or("", |(_, values)| values);
    let name = values
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_' && c != '.')
        .find(|word| COLOUR_NAMES.contains(word));
    hex.or_else(|| function.map(|name| (*name).to_owned())).or_else(|| name.map(str::to_owned))
}

// --- The reader itself ----------------------------------------------------------------------------------------------

#[test]
fn the_reader_resolves_paths() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("a plain path", &["api::kind::Kind"], "use crate::api::kind::Kind;"),
        (
            "a group, with an alias and itself",
            &["a::b", "a", "c::D"],
            "use crate::{a::{b as x, self}, c::D};",
        ),
        ("a path in code", &["cluster::x"], "fn f() { crate::cluster::x() }"),
        ("the parent", &["kubectl::host"], "use super::host;"),
        ("the parent's parent", &["api"], "use super::super::api;"),
        (
            "the parent of an inline module is the file",
            &["kubectl::get::plan"],
            "mod tests { use super::plan; }",
        ),
        ("after an inline module", &["kubectl::x"], "mod a { fn f() {} } use super::x;"),
        ("a glob", &["api"], "use crate::api::*;"),
        (
            "nothing in a comment or a string",
            &[],
            "// crate::a\nlet x = \"crate::b\"; /* crate::c */ r#\"crate::d\"#;",
        ),
    ];
    let module = ["kubectl".to_owned(), "get".to_owned()];
    for (name, expected, code) in cases {
        let found = imports_of(&without_comments_and_literals(code), &module);
        let found: Vec<String> = found.iter().map(|import| import.path.join("::")).collect();
        assert_eq!(found, *expected, "{name}");
    }
}

#[test]
fn the_reader_knows_who_may_import_whom() {
    let cases = [
        ("ui", "api", true),
        ("api", "cluster", false),
        ("cluster", "cluster", true),
        ("cluster", "i18n", false),
        ("kubectl", "i18n", true),
        ("i18n", "kubectl", false),
        ("app", "ui", false),
        ("app", "nowhere", false),
    ];
    for (layer, target, expected) in cases {
        assert_eq!(may_import(layer, target), expected, "{layer} imports {target}");
    }
}

#[test]
fn the_reader_sees_colours() {
    let cases = [
        ("a { color: #fff; }", Some("#fff")),
        ("a { color: var(--text); }", None),
        ("#face-list { margin: 0; }", None),
        ("a { background: color-mix(in srgb, var(--a), transparent); }", None),
        ("a { background: rgb(1 2 3); }", Some("rgb(")),
        ("a { color: white; }", Some("white")),
        ("a { white-space: nowrap; }", None),
        (".is-red { margin: 0 }", None),
    ];
    for (line, expected) in cases {
        assert_eq!(raw_colour(line).as_deref(), expected, "{line}");
    }
}
