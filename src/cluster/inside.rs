//! Inside a running container, from outside: its log, and commands run beside its process.
//!
//! `kubectl logs` reads with [`Cluster::container_log`]. `kubectl exec` asks: a request that creates the subresource
//! `exec` of a Pod, with the body [`ExecRequest`]; what came of it stands in the response's object, [`Executed`]. Files that
//! the command makes or removes are there for the process and its probes from then on, so an exec is a command of the
//! session like any write.
//!
//! Models: `pkg/kubelet/kubelet_pods.go` (`validateContainerLogStatus`), `pkg/registry/core/pod/strategy.go`
//! (`LogLocation`, `streamLocation`), containerd's refusals (v1.36). Leaves out: `attach`, terminals, streams.

use std::sync::Arc;

use super::actor::Actor;
use super::component::Memory;
use super::kubelet;
use super::machine::Cluster;
use super::runtime::node::{Reply, RunningPod};
use super::runtime::process::{Process, stamped};
use super::runtime::registry;
use super::runtime::script::{self, Answered, Question, Surroundings};
use super::server::request::{Request, Response};
use super::server::status::Status;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Container, ContainerState, ContainerStatus, Pod};
use crate::api::meta::ObjectKey;
use crate::api::time::Timestamp;

/// One line that a process wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When.
    pub at: Timestamp,
    /// The line, without its end.
    pub text: String,
}

/// Which log is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogRequest {
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod's name.
    pub pod: String,
    /// The container; `None` for the only one.
    pub container: Option<String>,
    /// Whether the run before the present one is meant.
    pub previous: bool,
}

/// The body of a request for `exec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ExecRequest {
    /// The container; `None` for the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The command and its arguments, run without a shell.
    pub command: Vec<String>,
    /// What it reads.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stdin: String,
}

/// What a command inside a container came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Executed {
    /// Its exit code.
    pub exit_code: i32,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote about errors.
    pub stderr: String,
}

impl Cluster {
    /// The lines of a container's log, oldest first; empty when the Pod is not bound yet. At most the newest thousand or so
    /// are kept of a process that writes for ever.
    ///
    /// # Errors
    /// In the words of the API server: no such Pod or container, or one that never ran.
    pub fn container_log(&self, request: &LogRequest) -> Result<Vec<LogLine>, Status> {
        let pod = self.pod_for(&request.namespace, &request.pod)?;
        let container = chosen(&pod, request.container.as_deref())?;
        if !pod.is_bound() {
            return Ok(Vec::new());
        }
        self.reach_kubelet(&pod, |address| {
            let (meta, name) = (&pod.meta, &container.name);
            let url = format!("https://{address}/containerLogs/{}/{}/{name}", meta.namespace, meta.name);
            format!("Get \"{url}\": dial tcp {address}: connect: connection refused")
        })?;
        let previous = is_previous_meant(&pod, &container.name, request.previous)?;
        let running = self.running_pod(&pod)?;
        let run = running.and_then(|running| running.container(&container.name));
        let process = run.and_then(|run| match previous && run.process.is_running() {
            true => run.previous.as_deref(),
            // Of a container that waits to be started again, the run that ended is the latest one.
            false => Some(&run.process),
        });
        let lines = running.zip(run).zip(process);
        let lines =
            lines.map(|((running, run), process)| running.log(run, process, self.now())).unwrap_or_default();
        Ok(lines.into_iter().map(|(at, text)| LogLine { at, text }).collect())
    }

    /// Answers a request for the subresource `exec` of a Pod.
    ///
    /// # Errors
    /// In the words of the API server and the runtime: no such Pod or container, one that does not run, no such command.
    /// `kubectl exec` prints those behind `error: `.
    pub(super) fn exec(&mut self, request: &Request) -> Result<Response, Status> {
        let asked: ExecRequest = serde_json::from_value(request.body.clone())
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let pod = self.pod_for(&request.namespace, &request.name)?;
        let container = chosen(&pod, asked.container.as_deref())?;
        if asked.command.is_empty() {
            return Err(Status::bad_request("you must specify at least 1 command for the container"));
        }
        if !pod.is_bound() {
            return Err(Status::bad_request(format!("pod {} does not have a host assigned", pod.meta.name)));
        }
        self.reach_kubelet(&pod, |address| {
            format!("error dialing backend: dial tcp {address}: connect: connection refused")
        })?;
        let now = self.now();
        let running = self.running_pod(&pod)?.cloned();
        let run = running.as_ref().and_then(|running| running.container(&container.name));
        let Some(process) = run.map(|run| run.process.clone()).filter(Process::is_running) else {
            let message =
                format!("unable to upgrade connection: container not found (\"{}\")", container.name);
            return Err(Status { message, ..Status::internal("") });
        };
        let ip = running.as_ref().map(|running| running.ip.clone()).unwrap_or_default();
        let environment =
            kubelet::environment_of(&self.store, &pod, &container, &ip, Some(&process)).unwrap_or_default();
        let usual = |file: &str| kubelet::usual_file(&pod, &ip, file);
        let read = |file: &str| {
            let run =
                running.as_ref().and_then(|running| Some((running, running.container(&container.name)?)));
            let found = run.and_then(|(running, run)| running.file(run, file, now));
            found.or_else(|| usual(file).filter(|_| !process.has_removed(file, now)))
        };
        let list = || {
            let run =
                running.as_ref().and_then(|running| Some((running, running.container(&container.name)?)));
            let mut files = run.map(|(running, run)| running.files(run, now)).unwrap_or_default();
            files.extend(
                kubelet::USUAL_FILES.iter().filter(|file| usual(file).is_some()).map(ToString::to_string),
            );
            files
        };
        let first = container.command.first().or(container.args.first());
        let main = first.map_or_else(|| registry::repository(&container.image), String::as_str).to_string();
        let around = Surroundings {
            environment: &environment,
            read: &read,
            list: &list,
            ask: &|question, _| self.asked_from(&pod, question),
            settled_seconds: 0,
            main: &main,
            input: &asked.stdin,
            address: &ip,
            is_plain: false,
        };
        let ran = script::run_beside(&script::quoted(&asked.command), &around);
        let exit_code = match ran.exit_code {
            Some(exit_code) => exit_code,
            None if ran.unknown => {
                let message = format!(
                    "error executing command in container: failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: unable to start container process: exec: \"{}\": executable file not found in $PATH",
                    asked.command[0]
                );
                return Err(Status::internal(message));
            }
            // Somebody ends what would go on for ever.
            None => 130,
        };
        let followed = ran.follows.as_ref().and_then(|file| read(file));
        let followed: Vec<String> =
            followed.iter().flat_map(|text| text.lines()).map(str::to_string).collect();
        let changed = !ran.deeds.is_empty() || ran.signalled;
        let text =
            |lines: &[String]| -> String { lines.iter().map(|line| stamped(line, now) + "\n").collect() };
        let stdout = text(&ran.output) + &text(&followed);
        let executed = Executed { exit_code, stdout, stderr: text(&ran.errors) };
        if changed {
            self.change_inside(&key_of(&pod), &pod.node_name, &container.name, ran.deeds, ran.signalled);
        }
        let object =
            serde_json::to_value(executed).map_err(|error| Status::bad_request(error.to_string()))?;
        Ok(Response { object, changed, warnings: Vec::new() })
    }

    /// What the network answers to somebody in that Pod; a page's text where a process answers.
    fn asked_from(&self, pod: &Pod, question: &Question) -> Answered {
        let namespace = &pod.meta.namespace;
        let view = self.present_view();
        let address = match question.host.as_str() {
            "localhost" | "127.0.0.1" => self.running_pod(pod).ok()??.ip.to_string(),
            _ => kubelet::answer_to(&view, namespace, &Question { port: None, ..question.clone() })?,
        };
        let Some(port) = question.port else { return Some(address) };
        let service = kubelet::service_of(&self.store, namespace, &question.host);
        let (address, port) = match service {
            Some(service) => kubelet::endpoint_of(&self.store, service, port)?,
            None => (address, port),
        };
        let kubelets = self.components().filter_map(|(_, component)| match &component.memory {
            Memory::Kubelet(memory) => Some(memory),
            _ => None,
        });
        let found = kubelets.into_iter().find_map(|memory| memory.runtime.pod_with_ip(&address));
        match found {
            Some((_, running)) => match running.ask(port, &question.path, self.now()) {
                Reply::Answered { answer, .. } => Some(answer.body),
                Reply::Refused | Reply::Silent { .. } => None,
            },
            None => kubelet::answer_to(&view, namespace, question),
        }
    }

    fn pod_for(&self, namespace: &str, name: &str) -> Result<Arc<Pod>, Status> {
        let pod = self.store.get::<Pod>(namespace, name).cloned();
        pod.ok_or_else(|| Status::not_found(Kind::Pod, name))
    }

    /// The API server asks the kubelet of the Pod's node: refused when nobody answers there.
    fn reach_kubelet(&self, pod: &Pod, refusal: impl Fn(&str) -> String) -> Result<(), Status> {
        if self.world.works(&Actor::Kubelet(pod.node_name.clone())) {
            return Ok(());
        }
        let node = self.store.get::<Node>("", &pod.node_name);
        let ip = node.and_then(|node| node.address("InternalIP")).unwrap_or_default();
        Err(Status { message: refusal(&format!("{ip}:10250")), ..Status::internal("") })
    }

    /// What runs of the Pod on its node; `None` before the kubelet has begun.
    fn running_pod(&self, pod: &Pod) -> Result<Option<&RunningPod>, Status> {
        let kubelet = self.component(&Actor::Kubelet(pod.node_name.clone()));
        let Some(Memory::Kubelet(memory)) = kubelet.map(|component| &component.memory) else {
            return Ok(None);
        };
        Ok(memory.runtime.pod(&key_of(pod)).filter(|running| running.uid == pod.meta.uid))
    }
}

fn key_of(pod: &Pod) -> ObjectKey {
    ObjectKey { kind: Kind::Pod, namespace: pod.meta.namespace.clone(), name: pod.meta.name.clone() }
}

/// The container that is meant.
fn chosen(pod: &Pod, name: Option<&str>) -> Result<Container, Status> {
    let (spec, pod_name) = (&pod.spec, &pod.meta.name);
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        if let [only] = spec.containers.as_slice() {
            return Ok(only.clone());
        }
        let names = |containers: &[Container]| {
            containers.iter().map(|container| container.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let mut message = format!(
            "a container name must be specified for pod {pod_name}, choose one of: [{}]",
            names(&spec.containers)
        );
        if !spec.init_containers.is_empty() {
            message.push_str(&format!(" or one of the init containers: [{}]", names(&spec.init_containers)));
        }
        return Err(Status::bad_request(message));
    };
    let mut all = spec.containers.iter().chain(&spec.init_containers);
    let found = all.find(|container| container.name == name).cloned();
    found
        .or_else(|| kubelet::ephemeral_containers(pod).into_iter().find(|container| container.name == name))
        .ok_or_else(|| Status::bad_request(format!("container {name} is not valid for pod {pod_name}")))
}

/// Whether the log is that of the last run that ended, as the Pod's status tells.
fn is_previous_meant(pod: &Pod, container: &str, previous: bool) -> Result<bool, Status> {
    let status = &pod.status;
    let mut all = status.container_statuses.iter().chain(&status.init_container_statuses);
    let found: Option<ContainerStatus> = all.find(|status| status.name == container).cloned();
    let found = found.or_else(|| kubelet::ephemeral_statuses(pod).into_iter().find(|s| s.name == container));
    let pod_name = &pod.meta.name;
    let refuse = |text: String| Err(Status::bad_request(text));
    let Some(found) = found else {
        return refuse(format!("container \"{container}\" in pod \"{pod_name}\" is not available"));
    };
    let has_last = found.last_state.terminated.as_ref().is_some_and(|last| !last.container_id.is_empty());
    if previous {
        return if has_last {
            Ok(true)
        } else {
            refuse(format!("previous terminated container \"{container}\" in pod \"{pod_name}\" not found"))
        };
    }
    match &found.state {
        ContainerState { running: Some(_), .. } => Ok(false),
        ContainerState { terminated: Some(ended), .. } if !ended.container_id.is_empty() => Ok(false),
        _ if has_last => Ok(true),
        ContainerState { terminated: Some(_), .. } => {
            refuse(format!("container \"{container}\" in pod \"{pod_name}\" is terminated"))
        }
        ContainerState { waiting: Some(waiting), .. } => {
            let why = match waiting.reason.as_str() {
                "ErrImagePull" => "image can't be pulled",
                "ImagePullBackOff" => "trying and failing to pull image",
                reason => reason,
            };
            refuse(format!("container \"{container}\" in pod \"{pod_name}\" is waiting to start: {why}"))
        }
        _ => refuse(format!(
            "container \"{container}\" in pod \"{pod_name}\" is waiting to start - no logs yet"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::server::request::Verb;
    use crate::cluster::settings::{NodeSetup, Settings};
    use serde_json::{Value, json};

    fn cluster(spec: Value) -> Cluster {
        let mut settings = Settings::bare(1, vec![NodeSetup::new("node-1")]);
        settings.recorded_runtime = false;
        let mut cluster = Cluster::boot(settings);
        let body = json!({"metadata": {"name": "app"}, "spec": spec});
        let request = Request::new(Verb::Create, Kind::Pod, "default", "app", body);
        cluster.ask(&request, &mut Vec::new()).unwrap();
        cluster
    }

    fn one(script: &str) -> Value {
        json!({"containers": [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script]}]})
    }

    fn ticks(cluster: &mut Cluster, count: u32) {
        (0..count).for_each(|_| cluster.finish_tick(&mut Vec::new()));
    }

    fn log(cluster: &Cluster, container: Option<&str>, previous: bool) -> Result<Vec<String>, String> {
        let request = LogRequest {
            namespace: "default".to_string(),
            pod: "app".to_string(),
            container: container.map(ToString::to_string),
            previous,
        };
        let lines = cluster.container_log(&request).map_err(|status| status.message)?;
        Ok(lines.into_iter().map(|line| line.text).collect())
    }

    fn exec(cluster: &mut Cluster, command: &[&str]) -> Result<Executed, String> {
        let body = json!({"command": command});
        let mut request = Request::new(Verb::Create, Kind::Pod, "default", "app", body);
        request.subresource = "exec".to_string();
        let response = cluster.ask(&request, &mut Vec::new()).map_err(|status| status.message)?;
        Ok(serde_json::from_value(response.object).unwrap())
    }

    #[test]
    fn a_log_is_empty_then_waits_then_grows() {
        let mut cluster = cluster(one("echo hello; while true; do echo tick; sleep 5; done"));
        assert_eq!(log(&cluster, None, false), Ok(Vec::new()));
        ticks(&mut cluster, 2);
        let waiting = "container \"c\" in pod \"app\" is waiting to start: ContainerCreating";
        assert_eq!(log(&cluster, None, false), Err(waiting.to_string()));
        ticks(&mut cluster, 10);
        let lines = log(&cluster, None, false).unwrap();
        assert_eq!(lines[..2], ["hello", "tick"]);
        let other = "container x is not valid for pod app";
        assert_eq!(log(&cluster, Some("x"), false), Err(other.to_string()));
        let none = "previous terminated container \"c\" in pod \"app\" not found";
        assert_eq!(log(&cluster, None, true), Err(none.to_string()));
    }

    #[test]
    fn the_log_of_the_run_before_is_kept() {
        let mut cluster = cluster(one("echo working; sleep 5; echo failed; exit 3"));
        ticks(&mut cluster, 14);
        assert_eq!(log(&cluster, None, true), Ok(vec!["working".to_string(), "failed".to_string()]));
    }

    #[test]
    fn a_command_sees_the_files_of_the_process_and_changes_them() {
        let mut spec = one("touch /tmp/healthy; sleep 3600");
        let probe =
            json!({"exec": {"command": ["cat", "/tmp/healthy"]}, "periodSeconds": 5, "failureThreshold": 1});
        spec["containers"][0]["livenessProbe"] = probe;
        let mut cluster = cluster(spec);
        let stopped = "unable to upgrade connection: container not found (\"c\")";
        ticks(&mut cluster, 1);
        ticks(&mut cluster, 1);
        assert_eq!(exec(&mut cluster, &["true"]).unwrap_err(), stopped);
        ticks(&mut cluster, 20);
        assert_eq!(exec(&mut cluster, &["test", "-f", "/tmp/healthy"]).unwrap().exit_code, 0);
        assert_eq!(exec(&mut cluster, &["hostname"]).unwrap().stdout, "app\n");
        exec(&mut cluster, &["rm", "/tmp/healthy"]).unwrap();
        assert_eq!(exec(&mut cluster, &["test", "-f", "/tmp/healthy"]).unwrap().exit_code, 1);
        let restarts = |cluster: &Cluster| {
            cluster.store.get::<Pod>("default", "app").unwrap().status.container_statuses[0].restart_count
        };
        assert_eq!(restarts(&cluster), 0);
        ticks(&mut cluster, 45);
        assert_eq!(restarts(&cluster), 1, "the liveness probe missed its file");
        assert!(exec(&mut cluster, &["nosuch"]).unwrap_err().contains("executable file not found in $PATH"));
    }

    #[test]
    fn an_init_container_waits_for_a_service_and_a_job_computes() {
        let wait = "until nslookup db; do echo waiting for db; sleep 2; done";
        let mut spec = one("echo started; sleep 3600");
        spec["initContainers"] =
            json!([{"name": "wait", "image": "busybox:1.36", "command": ["sh", "-c", wait]}]);
        let mut cluster = cluster(spec);
        ticks(&mut cluster, 20);
        assert!(cluster.is_quiet(), "asking again is routine");
        let lines = log(&cluster, Some("wait"), false).unwrap();
        assert!(lines.iter().filter(|line| *line == "waiting for db").count() > 3, "{lines:?}");
        assert!(
            log(&cluster, Some("c"), false).unwrap_err().ends_with("is waiting to start: PodInitializing")
        );
        let body = json!({"metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432}]}});
        let request = Request::new(Verb::Create, Kind::Service, "default", "db", body);
        cluster.ask(&request, &mut Vec::new()).unwrap();
        ticks(&mut cluster, 8);
        assert_eq!(log(&cluster, None, false), Ok(vec!["started".to_string()]));
        let found = exec(&mut cluster, &["sh", "-c", "nslookup db | grep -c Name"]).unwrap();
        assert_eq!((found.exit_code, found.stdout.as_str()), (0, "1\n"));
        let refused = exec(&mut cluster, &["wget", "-qO-", "http://db:5432"]).unwrap();
        assert_eq!(refused.exit_code, 1);
        assert!(refused.stderr.starts_with("wget: can't connect to remote host"), "{}", refused.stderr);
    }

    #[test]
    fn containers_share_a_volume_and_one_follows_what_the_other_writes() {
        let mount = json!([{"name": "v", "mountPath": "/shared"}]);
        let script = "i=0; while true; do echo $i >> /shared/log; i=$((i+1)); sleep 1; done";
        let mut cluster = cluster(json!({
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [
                {"name": "writer", "image": "busybox", "command": ["sh", "-c", script], "volumeMounts": mount},
                {"name": "reader", "image": "busybox", "command": ["tail", "-n+1", "-F", "/shared/log"], "volumeMounts": mount},
            ],
        }));
        ticks(&mut cluster, 12);
        let lines = log(&cluster, Some("reader"), false).unwrap();
        assert_eq!(lines[..3], ["0", "1", "2"]);
        let body = json!({"command": ["head", "-n", "1", "/shared/log"], "container": "reader"});
        let mut request = Request::new(Verb::Create, Kind::Pod, "default", "app", body);
        request.subresource = "exec".to_string();
        let object = cluster.ask(&request, &mut Vec::new()).unwrap().object;
        assert_eq!(object["stdout"], "0\n");
    }

    #[test]
    fn a_container_knows_its_host_name_and_the_services_that_were_there_when_it_started() {
        let mut cluster = cluster(one("sleep 3600"));
        ticks(&mut cluster, 5);
        let variables = exec(&mut cluster, &["env"]).unwrap().stdout;
        for line in ["HOSTNAME=app", "KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_PORT_443_TCP_PROTO=tcp"]
        {
            assert!(variables.lines().any(|found| found == line), "{line}: {variables}");
        }
        assert!(variables.starts_with("PATH="), "{variables}");
    }
}
