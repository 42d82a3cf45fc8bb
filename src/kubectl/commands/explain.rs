//! `kubectl explain`: the fields of a kind.
//!
//! Models: `k8s.io/kubectl/pkg/explain/v2/templates/plaintext.tmpl` (v1.36).
//! Leaves out: upstream's descriptions of fields (there are short ones of our own), other output formats.

use super::{Call, Pending};
use crate::api::kind::Kind;
use crate::api::schema::{self, Field, Root, Shape, Type};
use crate::i18n::{Catalogue, Language, catalogue};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources;

/// The flags of `explain`.
pub const FLAGS: &[&[Flag]] = &[&[
    Flag::long("api-version", Takes::Text),
    Flag::both("output", 'o', Takes::Text),
    Flag::long("recursive", Takes::Nothing),
]];

/// The deepest nesting that `--recursive` shows.
const MAX_DEPTH: usize = 12;

/// Shows the fields below a path such as `deployment.spec.strategy`.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let path = match call.args.as_slice() {
        [path] => path.clone(),
        [] => {
            return Err(Failure::error(
                "You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources.",
            ));
        }
        _ => return Err(Failure::error("We accept only this format: explain RESOURCE")),
    };
    let mut names = path.trim_end_matches('.').split('.');
    let word = names.next().unwrap_or_default();
    let unknown = || Failure::exactly(format!("the server doesn't have a resource type \"{word}\""));
    let version = call.flags.text("api-version").map(str::to_string);
    let root = root_of(word, version.as_deref()).ok_or_else(unknown)?;
    let mut record = schema::type_named(root.type_name).ok_or_else(unknown)?;
    if !root.group.is_empty() {
        call.say(format!("GROUP:      {}", root.group));
    }
    call.say(format!("KIND:       {}\nVERSION:    {}\n", root.kind, root.version));
    let names: Vec<&str> = names.collect();
    let missing = |name: &str| Failure::error(format!("field \"{name}\" does not exist"));
    let last = names.last().copied().unwrap_or_default();
    let mut field: Option<&Field> = None;
    let mut owner = record;
    for (index, name) in names.iter().enumerate() {
        owner = record;
        let found = record.field(name).ok_or_else(|| missing(last))?;
        field = Some(found);
        match found.shape.record() {
            Some(inner) => record = inner,
            None if index + 1 < names.len() => return Err(missing(last)),
            None => {}
        }
    }
    let mut has_fields = true;
    let mut about = "";
    if let Some(field) = field {
        about = words().about_field(owner.short_name(), field.name);
        call.say(format!("FIELD: {} <{}>", field.name, field.shape.explained_name()));
        if !field.choices.is_empty() {
            call.say(format!("ENUM:\n    {}", field.choices.join("\n    ")));
        }
        call.say("");
        has_fields = field.shape.record().is_some();
    }
    call.say("DESCRIPTION:");
    let mut text = String::new();
    write_about(&mut text, about, 4);
    call.output.stdout.push_str(&text);
    if has_fields {
        call.say("FIELDS:");
        let mut text = String::new();
        write_fields(&mut text, record, 1, call.flags.on("recursive"));
        call.output.stdout.push_str(&text);
    }
    call.say("");
    Ok(None)
}

/// The descriptions: what kubectl says is English.
fn words() -> &'static Catalogue {
    catalogue(Language::En)
}

/// A description, folded as the template does: at most 80 columns.
fn write_about(out: &mut String, about: &str, indent: usize) {
    const COLUMNS: usize = 80;
    let margin = " ".repeat(indent);
    let mut line = String::new();
    for word in if about.is_empty() { "<empty>" } else { about }.split(' ') {
        if !line.is_empty() && indent + line.len() + 1 + word.len() > COLUMNS {
            out.push_str(&[&margin, line.as_str(), "\n"].concat());
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(&[&margin, line.as_str(), "\n"].concat());
}

fn write_fields(out: &mut String, record: &Type, depth: usize, recursive: bool) {
    let indent = "  ".repeat(depth);
    for field in &record.fields {
        let required = if field.required { " -required-" } else { "" };
        out.push_str(&format!("{indent}{}\t<{}>{required}\n", field.name, field.shape.explained_name()));
        if !field.choices.is_empty() {
            out.push_str(&format!("{indent}enum: {}\n", field.choices.join(", ")));
        }
        if !recursive {
            write_about(out, words().about_field(record.short_name(), field.name), indent.len() + 2);
            out.push('\n');
        } else if depth < MAX_DEPTH
            && let Some(inner) = field.shape.record()
            && !matches!(&field.shape, Shape::Record(name) if *name == record.name)
        {
            write_fields(out, inner, depth + 1, recursive);
        }
    }
}

/// The newest version of the kind that a word means, or the one asked for.
fn root_of(word: &str, api_version: Option<&str>) -> Option<&'static Root> {
    let kind = match Kind::from_resource(word) {
        Some(kind) => kind.name().to_lowercase(),
        None => resources::absent(word)
            .map_or(word.to_lowercase(), |names| names.get(1).unwrap_or(&names[0]).to_string()),
    };
    let of_version = |root: &&Root| {
        let full = if root.group.is_empty() {
            root.version.to_string()
        } else {
            format!("{}/{}", root.group, root.version)
        };
        api_version.is_none_or(|wanted| wanted == full)
    };
    let group = Kind::from_resource(word).map(Kind::group);
    schema::roots()
        .iter()
        .filter(|root| root.kind.to_lowercase() == kind && group.is_none_or(|group| group == root.group))
        .filter(of_version)
        .max_by_key(|root| root.version)
}

#[cfg(test)]
mod tests {
    use crate::kubectl::testing::Terminal;

    #[test]
    fn a_field_is_described_in_words_of_our_own() {
        let mut terminal = Terminal::new();
        assert_eq!(
            terminal.run("kubectl explain deployment.spec.selector.matchExpressions.operator"),
            "GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n\nFIELD: operator <string>\n\nDESCRIPTION:\n    \
             In, NotIn, Exists or DoesNotExist\n\n"
        );
        let fields = terminal.run("kubectl explain pod.spec.containers.ports");
        assert!(
            fields.contains("  containerPort\t<integer> -required-\n    The port's number\n"),
            "{fields}"
        );
        let folded = terminal.run("kubectl explain deploy.spec.minReadySeconds");
        assert!(
            folded.contains("    How long a new Pod must stay Ready before it counts as available\n"),
            "{folded}"
        );
        let long = terminal.run("kubectl explain deploy.spec.selector");
        assert!(long.lines().all(|line| line.len() <= 80), "{long}");
    }
}
