//! What runs on one node: the sandboxes of Pods, their containers, the images on its disk.
//!
//! The kubelet of the node changes it; whoever wants to know what a process does (a probe, a request, `kubectl logs`)
//! asks here. Everything a process does follows from its program and the seconds since it started, so a steady Pod needs
//! no work.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::process::{Ailment, Answer, Deed, FileChange, Process, is_within, stamped};
use crate::api::meta::{Name, ObjectKey, Uid};
use crate::api::sharing::Word;
use crate::api::time::Timestamp;

/// Everything that runs on one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRuntime {
    /// The Pods that have a sandbox, by key.
    pub pods: OrdMap<ObjectKey, Arc<RunningPod>>,
    /// The images on the node's disk.
    pub images: OrdSet<String>,
}

/// One Pod on its node: a sandbox with an address, and containers in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningPod {
    /// The uid of the Pod it was made for.
    pub uid: Uid,
    /// Its name, which its processes know as their host name.
    pub name: Name,
    /// Its address; the node's own for a Pod with `hostNetwork`.
    pub ip: Word,
    /// Init containers, then containers, as far as they were ever started, in the order of the spec.
    pub containers: Vec<RunningContainer>,
}

/// Files that volumes put into a container, by path.
pub type Files = BTreeMap<String, String>;

/// A volume that keeps what is written to it, as a container has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The path at which the container has it.
    pub path: String,
    /// The volume's name, and the part of it that is mounted.
    pub volume: String,
}

/// One container: the run that goes on or ended last, and the one before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningContainer {
    /// The container's name.
    pub name: Word,
    /// The image it runs.
    pub image: Word,
    /// Whether it is an init container (sidecars are, too).
    pub init: bool,
    /// The latest run.
    pub process: Process,
    /// The run before it, whose log `kubectl logs --previous` shows.
    pub previous: Option<Box<Process>>,
    /// How often it was started again.
    pub restart_count: i32,
    /// The files of its ConfigMaps, Secrets and the like, as the kubelet wrote them last; `None` for none.
    pub files: Option<Arc<Files>>,
    /// The volumes that it shares with other containers and with later runs of itself; `None` for none.
    pub mounts: Option<Arc<[Mount]>>,
}

impl RunningContainer {
    /// Where in a shared volume a path lies: the volume's name and the path inside it.
    fn place_in_volume(&self, path: &str) -> Option<String> {
        let mounts = self.mounts.as_deref()?;
        let within = mounts.iter().filter(|mount| is_within(path, &mount.path));
        let mount = within.max_by_key(|mount| mount.path.len())?;
        Some(format!("{}{}", mount.volume, &path[mount.path.len()..]))
    }
}

/// What somebody who connects to a port of a Pod meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No process listens there: the connection is refused.
    Refused,
    /// A process took the connection and says nothing.
    Silent {
        /// The container it runs in.
        container: String,
    },
    /// A process answered.
    Answered {
        /// The container it runs in.
        container: String,
        /// What it said.
        answer: Answer,
    },
}

impl NodeRuntime {
    /// The Pod at that key.
    pub fn pod(&self, key: &ObjectKey) -> Option<&RunningPod> {
        self.pods.get(key).map(Arc::as_ref)
    }

    /// The first Pod, by key, with that address.
    pub fn pod_with_ip(&self, ip: &str) -> Option<(&ObjectKey, &RunningPod)> {
        self.pods.iter().find(|(_, pod)| pod.ip == ip).map(|(key, pod)| (key, pod.as_ref()))
    }
}

impl RunningPod {
    /// The container of that name, if it was ever started.
    pub fn container(&self, name: &str) -> Option<&RunningContainer> {
        self.containers.iter().find(|container| container.name == name)
    }

    /// The container whose process listens on that port.
    pub fn listener(&self, port: i32, now: Timestamp) -> Option<&RunningContainer> {
        self.containers.iter().find(|container| container.process.listens(port, now))
    }

    /// What an HTTP request for `path` to that port meets.
    pub fn ask(&self, port: i32, path: &str, now: Timestamp) -> Reply {
        match self.listener(port, now) {
            None => Reply::Refused,
            Some(container) if container.process.program.ails == Some(Ailment::Hang) => {
                Reply::Silent { container: container.name.to_string() }
            }
            Some(container) => {
                let ails = container.process.ails_from().is_some_and(|from| from <= now);
                let answer = match self.page(container, path, now) {
                    _ if ails => Answer { status: 500, body: "error: too old\n".to_string() },
                    Some(answer) => answer,
                    None => container.process.answer(&self.name, &self.ip, port, path),
                };
                Reply::Answered { container: container.name.to_string(), answer }
            }
        }
    }

    /// The page that a web server reads from a volume, where one is mounted at its folder of pages.
    fn page(&self, container: &RunningContainer, path: &str, now: Timestamp) -> Option<Answer> {
        let folder = container.process.program.answers.folder()?;
        let in_volume = container
            .mounts
            .iter()
            .flat_map(|mounts| mounts.iter())
            .any(|mount| is_within(folder, &mount.path));
        let in_files =
            container.files.iter().flat_map(|files| files.keys()).any(|file| is_within(file, folder));
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let index = if path.ends_with('/') { "index.html" } else { "" };
        let answer = |status: u16, body: &str| Some(Answer { status, body: body.to_string() });
        match self.file(container, &format!("{folder}{path}{index}"), now) {
            Some(body) => answer(200, &body),
            // The pages of the image are still there.
            None if !in_volume && !in_files => None,
            None if path.ends_with('/') => answer(403, "403 Forbidden\n"),
            None => answer(404, "404 Not Found\n"),
        }
    }

    /// The text of a file as the container sees it: written by itself, by whoever shares a volume with it, or by the kubelet.
    pub fn file(&self, container: &RunningContainer, path: &str, now: Timestamp) -> Option<String> {
        if let Some(place) = container.place_in_volume(path) {
            let mut text = None;
            for (at, change) in self.volume_changes(&place, now) {
                change.apply(at, &mut text);
            }
            return text;
        }
        let own = container.process.file(path, now);
        let given = || container.files.as_ref().and_then(|files| files.get(path).cloned());
        own.or_else(given)
    }

    /// The lines of a file, each with the time at which it was written.
    fn lines_of(&self, container: &RunningContainer, path: &str, now: Timestamp) -> Vec<(Timestamp, String)> {
        let changes = match container.place_in_volume(path) {
            Some(place) => self.volume_changes(&place, now),
            None => {
                let deeds = container.process.file_deeds(now);
                deeds.into_iter().filter_map(|(at, deed)| Some((at, FileChange::of(&deed, path)?))).collect()
            }
        };
        let mut lines = Vec::new();
        for (at, change) in changes {
            match change {
                FileChange::More(text) => {
                    lines.extend(stamped(&text, at).lines().map(|line| (at, line.to_string())))
                }
                FileChange::Text(text) => {
                    lines = stamped(&text, at).lines().map(|line| (at, line.to_string())).collect();
                }
                FileChange::Gone => lines.clear(),
            }
        }
        lines
    }

    /// What became of one file of a shared volume, in the order of time.
    fn volume_changes(&self, place: &str, now: Timestamp) -> Vec<(Timestamp, FileChange)> {
        let mut changes = Vec::new();
        for container in self.containers.iter().filter(|container| container.mounts.is_some()) {
            let runs = container.previous.as_deref().into_iter().chain(std::iter::once(&container.process));
            for (at, deed) in runs.flat_map(|run| run.file_deeds(now)) {
                let placed = |path: &String| container.place_in_volume(path);
                let deed = match deed.as_ref() {
                    Deed::Write(path, text) => placed(path).map(|path| Deed::Write(path, text.clone())),
                    Deed::Append(path, text) => placed(path).map(|path| Deed::Append(path, text.clone())),
                    Deed::Remove(path) => placed(path).map(Deed::Remove),
                    Deed::Print(_) => None,
                };
                changes.extend(deed.and_then(|deed| FileChange::of(&deed, place)).map(|change| (at, change)));
            }
        }
        changes.sort_by_key(|(at, _)| *at);
        changes
    }

    /// The files that a container sees in its volumes and those that it wrote itself.
    pub fn files(&self, container: &RunningContainer, now: Timestamp) -> Vec<String> {
        let mut files = container.process.files(now);
        files.extend(container.files.iter().flat_map(|files| files.keys().cloned()));
        for mount in container.mounts.iter().flat_map(|mounts| mounts.iter()) {
            for other in self.containers.iter().filter(|other| other.mounts.is_some()) {
                let runs = other.previous.as_deref().into_iter().chain(std::iter::once(&other.process));
                let places =
                    runs.flat_map(|run| run.files(now)).filter_map(|path| other.place_in_volume(&path));
                let inside = places.filter_map(|place| Some(place.strip_prefix(&mount.volume)?.to_string()));
                files.extend(inside.map(|inside| format!("{}{inside}", mount.path)));
            }
        }
        files.sort();
        files.dedup();
        files.retain(|file| self.file(container, file, now).is_some());
        files
    }

    /// The lines that a run of a container has written until `now`, oldest first, each with its time.
    pub fn log(
        &self,
        container: &RunningContainer,
        process: &Process,
        now: Timestamp,
    ) -> Vec<(Timestamp, String)> {
        let mut lines = process.log(now);
        let Some((path, from_start)) = &process.program.follows else { return lines };
        let until = process.ended.as_ref().map_or(now, |ended| ended.at.min(now));
        let mut followed = self.lines_of(container, path, until);
        let before = followed.iter().filter(|(at, _)| *at <= process.started_at).count();
        if !from_start {
            followed.drain(..before.saturating_sub(10));
        }
        for (at, _) in &mut followed {
            *at = (*at).max(process.started_at);
        }
        lines.extend(followed);
        lines.sort_by_key(|(at, _)| *at);
        lines
    }

    /// When a file that somebody in the Pod writes changes next by itself.
    pub fn next_file_change(&self, now: Timestamp) -> Option<Timestamp> {
        self.containers.iter().filter_map(|container| container.process.next_file_change(now)).min()
    }

    /// The memory that its processes use.
    pub fn memory_bytes(&self) -> i64 {
        let running = self.containers.iter().filter(|container| container.process.is_running());
        running.map(|container| container.process.program.memory_bytes).sum()
    }

    /// Whether any process runs.
    pub fn is_running(&self) -> bool {
        self.containers.iter().any(|container| container.process.is_running())
    }
}
