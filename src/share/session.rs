//! A session as a value that can be sent: settings, commands, where one stands, what lies on the desk.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::error::ShareError;
use crate::api::names;
use crate::cluster::command::Command;
use crate::cluster::history::History;
use crate::cluster::settings::{NodeSetup, Settings};

/// The most commands of a session that is read.
pub const COMMANDS_LIMIT: usize = 20_000;

/// The most nodes of a session that is read.
pub const NODES_LIMIT: usize = 100;

/// The most files of a session that is read.
pub const FILES_LIMIT: usize = 50;

/// The most entries of the layout that are read, and the longest of them.
const LAYOUT_LIMIT: usize = 100;
const LAYOUT_ENTRY_LIMIT_BYTES: usize = 4096;

/// A session to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// How the cluster was set up.
    pub settings: Settings,
    /// The commands of the branch, oldest first.
    pub commands: Vec<Command>,
    /// The moment of the branch at which one stands; past the end it is the newest.
    pub position: usize,
    /// The files of the editor, by name.
    pub files: BTreeMap<String, String>,
    /// What else the page wants to find again: entries of its own, such as `lesson`.
    pub layout: BTreeMap<String, String>,
}

impl Shared {
    /// A session at its beginning.
    pub fn new(settings: Settings) -> Self {
        Self { settings, commands: Vec::new(), position: 0, files: BTreeMap::new(), layout: BTreeMap::new() }
    }

    /// The branch on which one stands, at the moment at which one stands, with an empty desk.
    pub fn of(history: &History) -> Self {
        let settings = (*history.cluster().settings).clone();
        let commands = history.current().log.iter().cloned().collect();
        Self { commands, position: history.position().1, ..Self::new(settings) }
    }

    /// As JSON text, of version 1. Runs of ticks and of steps are numbers: `5` is five ticks, `-2` two steps.
    pub fn to_text(&self) -> String {
        let mut map = Map::new();
        map.insert("settings".to_string(), serde_json::to_value(&self.settings).unwrap_or_default());
        map.insert("commands".to_string(), Value::Array(runs_of(&self.commands)));
        map.insert("position".to_string(), json!(self.position));
        for (key, entries) in [("files", &self.files), ("layout", &self.layout)] {
            if !entries.is_empty() {
                map.insert(key.to_string(), json!(entries));
            }
        }
        Value::Object(map).to_string()
    }

    /// Reads what [`Self::to_text`] wrote.
    ///
    /// # Errors
    /// When it is damaged or goes beyond a limit.
    pub fn from_text(text: &str) -> Result<Self, ShareError> {
        let damaged = || ShareError::new("share.refused.damaged");
        let value: Value = serde_json::from_str(text).map_err(|_| damaged())?;
        let settings: Settings = serde_json::from_value(value.get("settings").cloned().unwrap_or_default())
            .map_err(|_| damaged())?;
        check_nodes(&settings.nodes)?;
        let runs = value.get("commands").and_then(Value::as_array).ok_or_else(damaged)?;
        let commands = commands_of(runs)?;
        let position = value.get("position").map_or(Some(0), Value::as_u64).ok_or_else(damaged)?;
        Ok(Self {
            settings,
            commands,
            position: usize::try_from(position).unwrap_or(usize::MAX),
            files: entries_of(value.get("files"), FILES_LIMIT, usize::MAX)?,
            layout: entries_of(value.get("layout"), LAYOUT_LIMIT, LAYOUT_ENTRY_LIMIT_BYTES)?,
        })
    }
}

fn check_nodes(nodes: &[NodeSetup]) -> Result<(), ShareError> {
    if nodes.len() > NODES_LIMIT {
        return Err(ShareError::new("share.refused.too-many-nodes").with("limit", NODES_LIMIT));
    }
    let mut known = BTreeSet::new();
    for node in nodes {
        let sensible = |amount: i64| (0..=1 << 50).contains(&amount);
        let is_zone = node.zone.is_empty() || names::label_value(&node.zone).is_empty();
        let is_well = names::dns_subdomain(&node.name).is_empty()
            && names::label_value(&node.name).is_empty()
            && is_zone
            && [node.cpu_millicores, node.memory_bytes, node.pods].into_iter().all(sensible);
        if !is_well || !known.insert(&node.name) {
            return Err(ShareError::new("share.refused.damaged"));
        }
    }
    Ok(())
}

fn entries_of(
    value: Option<&Value>,
    limit: usize,
    entry_limit_bytes: usize,
) -> Result<BTreeMap<String, String>, ShareError> {
    let damaged = || ShareError::new("share.refused.damaged");
    let Some(value) = value else { return Ok(BTreeMap::new()) };
    let map = value.as_object().filter(|map| map.len() <= limit).ok_or_else(damaged)?;
    map.iter()
        .map(|(key, entry)| {
            let text = entry.as_str().filter(|text| text.len() + key.len() <= entry_limit_bytes);
            Ok((key.clone(), text.ok_or_else(damaged)?.to_string()))
        })
        .collect()
}

fn runs_of(commands: &[Command]) -> Vec<Value> {
    let mut runs: Vec<Value> = Vec::new();
    for command in commands {
        let unit = match command {
            Command::Tick => 1,
            Command::Step => -1,
            Command::Ask(request) => {
                runs.push(serde_json::to_value(request).unwrap_or_default());
                continue;
            }
            Command::Fault(fault) => {
                runs.push(json!({"fault": fault}));
                continue;
            }
        };
        match runs.last().and_then(Value::as_i64) {
            Some(run) if run.signum() == unit => {
                runs.pop();
                runs.push(json!(run + unit));
            }
            _ => runs.push(json!(unit)),
        }
    }
    runs
}

fn commands_of(runs: &[Value]) -> Result<Vec<Command>, ShareError> {
    let too_many = || ShareError::new("share.refused.too-many-commands").with("limit", COMMANDS_LIMIT);
    let mut commands = Vec::new();
    for run in runs {
        if let Some(count) = run.as_i64() {
            let command = if count > 0 { Command::Tick } else { Command::Step };
            let count = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
            if count > COMMANDS_LIMIT.saturating_sub(commands.len()) {
                return Err(too_many());
            }
            commands.extend(std::iter::repeat_n(command, count));
        } else if let Some(fault) = run.get("fault") {
            let fault = serde_json::from_value(fault.clone());
            commands.push(Command::Fault(fault.map_err(|_| ShareError::new("share.refused.damaged"))?));
        } else {
            let request = serde_json::from_value(run.clone());
            commands.push(Command::Ask(request.map_err(|_| ShareError::new("share.refused.damaged"))?));
        }
        if commands.len() > COMMANDS_LIMIT {
            return Err(too_many());
        }
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kind::Kind;
    use crate::cluster::server::request::{Request, Verb};
    use proptest::prelude::*;

    fn request(name: &str) -> Command {
        Command::Ask(Request::new(Verb::Create, Kind::ConfigMap, "demo", name, json!({"data": {"a": "ü"}})))
    }

    fn command() -> impl Strategy<Value = Command> {
        prop_oneof![Just(Command::Tick), Just(Command::Step), "[a-z]{1,8}".prop_map(|name| request(&name))]
    }

    proptest! {
        #[test]
        fn every_session_survives_the_round_trip(
            seed in any::<u64>(),
            commands in prop::collection::vec(command(), 0..60),
            position in 0_usize..1000,
            files in prop::collection::btree_map("[a-z.]{1,9}", ".{0,40}", 0..4),
            layout in prop::collection::btree_map("[a-z]{1,9}", ".{0,40}", 0..4),
        ) {
            let shared = Shared { settings: Settings::playground(seed), commands, position, files, layout };
            prop_assert_eq!(Shared::from_text(&shared.to_text()), Ok(shared.clone()));
            prop_assert_eq!(super::super::link::decode(&super::super::link::encode(&shared)), Ok(shared));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,200}") {
            let _ = Shared::from_text(&text);
            let _ = super::super::link::decode(&format!("#v1:{text}"));
        }
    }

    #[test]
    fn runs_of_ticks_and_steps_are_numbers() {
        let commands = [Command::Tick, Command::Tick, Command::Step, Command::Step, Command::Tick];
        assert_eq!(runs_of(&commands), [json!(2), json!(-2), json!(1)]);
        assert_eq!(commands_of(&runs_of(&commands)), Ok(commands.to_vec()));
    }

    #[test]
    fn what_goes_beyond_a_limit_is_refused() {
        let text = |settings: Value, commands: Value| {
            json!({"settings": settings, "commands": commands, "position": 0}).to_string()
        };
        let plain = serde_json::to_value(Settings::default()).unwrap();
        let with_nodes = |count: usize, name: &str| {
            let mut settings = plain.clone();
            let node = serde_json::to_value(NodeSetup::new("x")).unwrap();
            settings["nodes"] = (0..count)
                .map(|n| {
                    let mut node = node.clone();
                    node["name"] = json!(format!("{name}{n}"));
                    node
                })
                .collect();
            settings
        };
        for (name, text, key) in [
            (
                "too many commands",
                text(plain.clone(), json!([COMMANDS_LIMIT, 1])),
                "share.refused.too-many-commands",
            ),
            (
                "commands without end",
                text(plain.clone(), json!([i64::MIN])),
                "share.refused.too-many-commands",
            ),
            (
                "too many nodes",
                text(with_nodes(NODES_LIMIT + 1, "n"), json!([])),
                "share.refused.too-many-nodes",
            ),
            ("a node with a bad name", text(with_nodes(1, "N_"), json!([])), "share.refused.damaged"),
            ("a command that is none", text(plain.clone(), json!([{"dance": 1}])), "share.refused.damaged"),
            ("no settings", json!({"commands": [], "position": 0}).to_string(), "share.refused.damaged"),
            (
                "a negative position",
                json!({"settings": plain, "commands": [], "position": -1}).to_string(),
                "share.refused.damaged",
            ),
        ] {
            assert_eq!(Shared::from_text(&text).map_err(|error| error.key), Err(key), "{name}");
        }
    }
}
