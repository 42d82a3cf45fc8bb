//! Pulls of images: their secrets, their waits, their ends.

use std::sync::Arc;

use super::super::back_off::{BackOff, printed};
use super::super::environment::secret_data;
use super::super::restarts::ephemeral_containers;
use super::super::worker::Pulling;
use super::{Look, Started, all_containers};
use crate::api::kinds::pod::{Container, Pod};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::runtime::registry;
use crate::cluster::store::Store;

/// The registries that the Pod has credentials for, and the pull secrets that are not there.
fn registry_secrets(store: &Store, pod: &Pod) -> (Vec<String>, Vec<String>) {
    let (mut hosts, mut missing) = (Vec::new(), Vec::new());
    let named = pod.spec.rest.get("imagePullSecrets").and_then(serde_json::Value::as_array);
    for name in named.into_iter().flatten().filter_map(|secret| secret["name"].as_str()) {
        let Some(data) = secret_data(store, &pod.meta.namespace, name) else {
            missing.push(name.to_string());
            continue;
        };
        let config = data.get(".dockerconfigjson").or_else(|| data.get(".dockercfg"));
        let config = config.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        let auths =
            config.as_ref().map(|config| if config["auths"].is_object() { &config["auths"] } else { config });
        let auths = auths.and_then(serde_json::Value::as_object);
        hosts.extend(auths.into_iter().flat_map(|auths| auths.keys().cloned()));
    }
    (hosts, missing)
}

impl Look<'_> {
    /// Pull secrets that are not there are told, and done without.
    pub(super) fn check_pull_secrets(&mut self) {
        let missing = registry_secrets(self.view.store, &self.pod).1;
        if !missing.is_empty() {
            let names = missing.join(", ");
            let because = Because::new("because.kubelet.pull-secret-missing").with("secret", &names);
            let message = format!(
                "Unable to retrieve some image pull secrets ({names}); attempting to pull the image may not succeed."
            );
            self.tell("FailedToRetrieveImagePullSecret", true, message, None, because);
        }
    }

    /// What the registry answers to the Pod.
    pub(super) fn pull(&self, image: &str) -> registry::Pull {
        if self.view.world.is_registry_down {
            return registry::unanswered(image);
        }
        let hosts = registry_secrets(self.view.store, &self.pod).0;
        registry::pull(image, self.recorded(), &hosts)
    }

    /// Begins to pull the image, unless an earlier failure has to be waited out.
    pub(super) fn begin_pull(
        &mut self,
        container: &Container,
        init: bool,
        tried: &mut Vec<String>,
    ) -> Started {
        let image = container.image.clone();
        let now = self.now();
        let subject = Some((container, init));
        if let Some(back_off) = self.worker.image_back_offs.get(&image).filter(|back_off| back_off.lasts(now))
        {
            let because = Because::new("because.kubelet.pull-waits")
                .with("image", &image)
                .with("seconds", back_off.seconds);
            let message = format!("Back-off pulling image \"{image}\"");
            self.tell("BackOff", false, message.clone(), subject, because.clone());
            self.tell("Failed", true, "Error: ImagePullBackOff".to_string(), subject, because);
            let error = self.pull(&image).result.err().unwrap_or_default();
            let waiting = format!("{message}: ErrImagePull: {error}");
            return self.not_started(container, "ImagePullBackOff", waiting, tried);
        }
        let is_present = self.memory.runtime.images.contains(&image);
        let key = if is_present { "because.kubelet.pull-always" } else { "because.kubelet.pull-absent" };
        let because = Because::new(key).with("image", &image).with("node", self.node);
        self.tell("Pulling", false, format!("Pulling image \"{image}\""), subject, because);
        let pull = self.pull(&image);
        let ticks = if is_present { pull.ticks.min(1) } else { pull.ticks };
        let event = RuntimeEvent::PullBegan { image: image.clone() };
        self.outcome.notes.push(What::Ran {
            pod: self.key.clone(),
            container: container.name.clone(),
            event,
        });
        let pulling = Pulling {
            container: container.name.clone(),
            image,
            began_at: now,
            ends_at: Timestamp(now.0 + i64::try_from(ticks).unwrap_or(1)),
            tried: tried.clone(),
            failed: self.failed,
            changed: self.changed,
        };
        if ticks > 0 {
            self.worker.pulling = Some(Box::new(pulling));
            return Started::Busy;
        }
        tried.push(container.name.clone());
        self.finish_pull(&pulling)
    }

    /// The pull has ended: the container starts, or waits with an error.
    pub(super) fn finish_pull(&mut self, pulling: &Pulling) -> Started {
        let pod = Arc::clone(&self.pod);
        let added = ephemeral_containers(&pod);
        let mut all = all_containers(&pod).chain(added.iter().map(|container| (container, false)));
        let Some((container, init)) = all.find(|(c, _)| c.name == pulling.container) else {
            return Started::No;
        };
        let subject = Some((container, init));
        let image = &pulling.image;
        if image.is_empty() {
            return Started::Yes;
        }
        let ran = |event| What::Ran { pod: self.key.clone(), container: container.name.clone(), event };
        match self.pull(image).result {
            Ok(size_bytes) => {
                self.outcome.notes.push(ran(RuntimeEvent::Pulled { image: image.clone() }));
                let seconds = self.now().seconds_since(pulling.began_at);
                let because =
                    Because::new("because.kubelet.pulled").with("image", image).with("seconds", seconds);
                let took = printed(seconds);
                let message = format!(
                    "Successfully pulled image \"{image}\" in {took} ({took} including waiting). Image size: {size_bytes} bytes."
                );
                self.tell("Pulled", false, message, subject, because);
                self.memory.runtime.images.insert(image.clone());
                if self.worker.image_back_offs.contains_key(image) {
                    self.worker.image_back_offs.remove(image);
                }
                let mut tried = pulling.tried.clone();
                self.create_and_run(container, init, &mut tried)
            }
            Err(error) => {
                let event = RuntimeEvent::PullFailed { image: image.clone(), error: error.clone() };
                self.outcome.notes.push(ran(event));
                let because =
                    Because::new("because.kubelet.pull-failed").with("image", image).with("error", &error);
                let message = format!("Failed to pull image \"{image}\": {error}");
                self.tell("Failed", true, message, subject, because.clone());
                self.tell("Failed", true, "Error: ErrImagePull".to_string(), subject, because);
                let now = self.now();
                let next = BackOff::after(self.worker.image_back_offs.get(image), now, now);
                self.worker.image_back_offs.insert(image.clone(), next);
                self.failed = true;
                self.worker.keeper(&container.name).waiting =
                    Some(Box::new(("ErrImagePull".to_string(), error)));
                Started::No
            }
        }
    }
}
