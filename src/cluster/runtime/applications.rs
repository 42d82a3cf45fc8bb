//! What the processes of known images do: which port they listen on, how they answer, what they need, what they write.
//!
//! Unknown images listen on the ports that their container declares, a second after they start.
//!
//! Leaves out: everything an application does that no Kubernetes object, probe or request can tell; the files in its
//! image.

use std::collections::BTreeMap;

use super::process::{Answer, Deed, End, Listener, Moment, Program, Stop};
use super::script::{Answered, Question, Surroundings, expanded};
use super::{registry, script};
use crate::api::kinds::pod::Container;

/// How a program answers HTTP requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// 200 on every path, with a body that names the Pod.
    #[default]
    Names,
    /// A plain web server: its welcome page, and no health endpoints.
    Welcome(&'static str),
    /// Always the same text.
    Echo(String),
    /// The files below this folder.
    Files(String),
    /// 200 for so many seconds, then 500, as the well-known example of a liveness probe has it.
    HealthyFor(i64),
    /// A proxy without routes for the request.
    NotFound,
    /// It does not speak HTTP: the connection opens and yields nonsense.
    NotHttp,
}

/// Paths that applications have for probes and plain web servers do not.
const HEALTH_PATHS: [&str; 8] =
    ["/health", "/healthz", "/ready", "/readyz", "/live", "/livez", "/readiness", "/liveness"];

impl Answers {
    /// The folder that a web server reads its pages from.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::Welcome("nginx") => Some("/usr/share/nginx/html"),
            Self::Welcome("Apache httpd") => Some("/usr/local/apache2/htdocs"),
            Self::Welcome("Caddy") => Some("/usr/share/caddy"),
            Self::Files(folder) => Some(folder.trim_end_matches('/')),
            _ => None,
        }
    }

    /// The answer of the Pod with that name and address.
    pub fn answer(&self, pod_name: &str, pod_ip: &str, port: i32, path: &str) -> Answer {
        let say = |status: u16, body: String| Answer { status, body };
        match self {
            Self::Names => say(200, format!("Hello from {pod_name} ({pod_ip}:{port}{path})\n")),
            Self::Welcome(server) if HEALTH_PATHS.contains(&path.trim_end_matches('/')) => {
                say(404, format!("404 Not Found ({server})\n"))
            }
            Self::Welcome(server) => say(200, format!("Welcome to {server}! Served by {pod_name}\n")),
            Self::Echo(text) => say(200, format!("{text}\n")),
            Self::HealthyFor(_) => say(200, "ok".to_string()),
            Self::Files(_) => say(404, "404 Not Found\n".to_string()),
            Self::NotFound => say(404, "404 page not found\n".to_string()),
            Self::NotHttp => say(0, String::new()),
        }
    }
}

/// What is known of one image.
#[derive(Clone, Copy, Debug)]
struct Application {
    /// The image without registry and tag.
    repository: &'static str,
    /// The ports it listens on; empty for those that its container declares.
    ports: &'static [i32],
    /// Seconds from its start until it listens.
    start_seconds: i64,
    /// How it answers.
    answers: Answering,
    /// The memory it uses, in MiB.
    memory_mebibytes: i64,
    /// Environment variables of which it needs one.
    needs_one_of: &'static [&'static str],
    /// Lines it writes when it starts.
    log: &'static [&'static str],
}

/// [`Answers`] as far as the image alone decides.
#[derive(Clone, Copy, Debug)]
enum Answering {
    Names,
    Welcome(&'static str),
    NotFound,
    NotHttp,
}

const fn application(repository: &'static str, ports: &'static [i32], answers: Answering) -> Application {
    Application {
        repository,
        ports,
        start_seconds: 0,
        answers,
        memory_mebibytes: 0,
        needs_one_of: &[],
        log: &[],
    }
}

const APPLICATIONS: &[Application] = &[
    Application {
        memory_mebibytes: 4,
        log: &[
            "/docker-entrypoint.sh: /docker-entrypoint.d/ is not empty, will attempt to perform configuration",
            "/docker-entrypoint.sh: Looking for shell scripts in /docker-entrypoint.d/",
            "/docker-entrypoint.sh: Configuration complete; ready for start up",
            "\u{e003} [notice] 1#1: using the \"epoll\" event method",
            "\u{e003} [notice] 1#1: start worker processes",
            "\u{e003} [notice] 1#1: start worker process 29",
        ],
        ..application("nginx", &[80], Answering::Welcome("nginx"))
    },
    Application {
        log: &["\u{e003} [notice] 1#1: start worker processes"],
        ..application("nginxinc/nginx-unprivileged", &[8080], Answering::Welcome("nginx"))
    },
    Application {
        memory_mebibytes: 6,
        log: &["[core:notice] AH00094: Command line: 'httpd -D FOREGROUND'"],
        ..application("httpd", &[80], Answering::Welcome("Apache httpd"))
    },
    application("caddy", &[80], Answering::Welcome("Caddy")),
    application("haproxy", &[80], Answering::NotFound),
    application("traefik", &[80, 8080], Answering::NotFound),
    application("nginxdemos/hello", &[80], Answering::Names),
    application("traefik/whoami", &[80], Answering::Names),
    application("kennethreitz/httpbin", &[80], Answering::Names),
    application("hashicorp/http-echo", &[5678], Answering::Names),
    application("gcr.io/google-samples/hello-app", &[8080], Answering::Names),
    application("us-docker.pkg.dev/google-samples/containers/gke/hello-app", &[8080], Answering::Names),
    Application {
        log: &["Kubernetes Bootcamp App Started"],
        ..application("gcr.io/google-samples/kubernetes-bootcamp", &[8080], Answering::Names)
    },
    Application {
        log: &["Kubernetes Bootcamp App Started"],
        ..application("jocatalin/kubernetes-bootcamp", &[8080], Answering::Names)
    },
    application(
        "us-docker.pkg.dev/google-samples/containers/gke/gb-frontend",
        &[80],
        Answering::Welcome("the guestbook"),
    ),
    application(
        "us-docker.pkg.dev/google-samples/containers/gke/gb-redis-follower",
        &[6379],
        Answering::NotHttp,
    ),
    application("registry.k8s.io/redis", &[6379], Answering::NotHttp),
    application("registry.k8s.io/nginx-slim", &[80], Answering::Welcome("nginx")),
    application("registry.k8s.io/hpa-example", &[80], Answering::Welcome("OK!")),
    application("registry.k8s.io/echoserver", &[8080], Answering::Names),
    application("registry.k8s.io/e2e-test-images/agnhost", &[8080], Answering::Names),
    Application {
        start_seconds: 3,
        memory_mebibytes: 24,
        log: &["listening"],
        ..application("demo/api", &[], Answering::Names)
    },
    Application {
        memory_mebibytes: 8,
        log: &["* Ready to accept connections tcp"],
        ..application("redis", &[6379], Answering::NotHttp)
    },
    application("memcached", &[11211], Answering::NotHttp),
    Application {
        start_seconds: 3,
        memory_mebibytes: 40,
        needs_one_of: &["POSTGRES_PASSWORD", "POSTGRES_PASSWORD_FILE", "POSTGRES_HOST_AUTH_METHOD"],
        log: &["LOG:  database system is ready to accept connections"],
        ..application("postgres", &[5432], Answering::NotHttp)
    },
    Application {
        start_seconds: 8,
        memory_mebibytes: 380,
        needs_one_of: &[
            "MYSQL_ROOT_PASSWORD",
            "MYSQL_ROOT_PASSWORD_FILE",
            "MYSQL_ALLOW_EMPTY_PASSWORD",
            "MYSQL_RANDOM_ROOT_PASSWORD",
        ],
        log: &["/usr/sbin/mysqld: ready for connections."],
        ..application("mysql", &[3306], Answering::NotHttp)
    },
    Application {
        start_seconds: 5,
        memory_mebibytes: 120,
        needs_one_of: &[
            "MARIADB_ROOT_PASSWORD",
            "MYSQL_ROOT_PASSWORD",
            "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD",
            "MARIADB_RANDOM_ROOT_PASSWORD",
        ],
        log: &["mariadbd: ready for connections."],
        ..application("mariadb", &[3306], Answering::NotHttp)
    },
    Application {
        start_seconds: 2,
        memory_mebibytes: 90,
        ..application("mongo", &[27017], Answering::NotHttp)
    },
    Application {
        start_seconds: 6,
        memory_mebibytes: 110,
        ..application("rabbitmq", &[5672, 15672], Answering::NotHttp)
    },
    Application {
        memory_mebibytes: 16,
        log: &[".:53", "CoreDNS-1.12.1", "linux/amd64, go1.24.1, 707c7c1"],
        ..application("registry.k8s.io/coredns/coredns", &[53, 9153, 8181, 8080], Answering::Names)
    },
    Application {
        memory_mebibytes: 14,
        log: &["\"Using iptables Proxier\"", "\"Starting service config controller\""],
        ..application("registry.k8s.io/kube-proxy", &[10256, 10249], Answering::Names)
    },
    Application {
        start_seconds: 1,
        memory_mebibytes: 80,
        log: &["NGINX Ingress controller", "\"Starting Ingress controller\""],
        ..application("registry.k8s.io/ingress-nginx/controller", &[80, 443, 8443, 10254], Answering::Names)
    },
    application("registry.k8s.io/pause", &[], Answering::Names),
];

/// Images whose entry point is a shell or an interpreter: without a terminal it ends at once.
const SHELLS: &[&str] = &[
    "busybox",
    "alpine",
    "ubuntu",
    "debian",
    "python",
    "node",
    "golang",
    "registry.k8s.io/busybox",
    "curlimages/curl",
    "hello-world",
    "perl",
    "bash",
    "amazonlinux",
    "centos",
    "fedora",
    "nicolaka/netshoot",
    "radial/busyboxplus",
    "rockylinux/rockylinux",
    "tutum/dnsutils",
    "yauritux/busybox-curl",
];

/// Whether the image's own command is a shell or an interpreter.
pub fn is_shell_image(image: &str) -> bool {
    SHELLS.contains(&registry::repository(image))
}

/// Whether a known image runs as root unless it is told otherwise.
pub fn runs_as_root(image: &str) -> bool {
    const ROOT: [&str; 12] = [
        "nginx",
        "httpd",
        "busybox",
        "alpine",
        "ubuntu",
        "debian",
        "python",
        "node",
        "golang",
        "redis",
        "caddy",
        "wordpress",
    ];
    ROOT.contains(&registry::repository(image))
}

/// Everything about a container that its program depends on.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// The container's spec.
    pub container: &'a Container,
    /// Its environment, as far as it is known; includes `HOSTNAME`.
    pub environment: &'a BTreeMap<String, String>,
    /// Whether the runtime is the one that the recordings were made with: it runs `sim-exit` and nothing else ends.
    pub recorded: bool,
    /// Its address.
    pub address: &'a str,
    /// The text of a file that is there before it starts.
    pub read: &'a dyn Fn(&str) -> Option<String>,
    /// The files that are there before it starts.
    pub list: &'a dyn Fn() -> Vec<String>,
    /// What the network has answered it: by question, from which second of its life on which answer.
    pub answers: &'a [(Question, Vec<(i64, Answered)>)],
}

/// What the container runs.
pub fn program_of(start: &Start<'_>) -> Program {
    let container = start.container;
    if let Some(program) = told_exit(&container.command) {
        return program;
    }
    let repository = registry::repository(&container.image);
    let base = if start.recorded { declared(container, 0) } else { image_program(start, repository) };
    if start.recorded {
        return base;
    }
    let is_shell_image = SHELLS.contains(&repository);
    let words: Vec<String> = match (container.command.as_slice(), container.args.as_slice()) {
        ([], []) if is_shell_image => Vec::new(),
        ([], args) if is_shell_image => args.to_vec(),
        ([], _) => return within_memory(container, base),
        (command, args) => command.iter().chain(args).cloned().collect(),
    };
    let words: Vec<String> =
        words.iter().map(|word| expanded(word, &|name| start.environment.get(name))).collect();
    let is_plain = PLAIN.contains(&repository);
    if let Some(program) = words.first().and_then(|word| option_as_program(word, container, is_shell_image)) {
        return program;
    }
    let first = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let is_open = container.rest.get("stdin").is_some_and(|stdin| stdin == true);
    if is_open && words.len() < 2 && matches!(first, "" | "sh" | "bash" | "ash" | "dash") {
        // A shell that waits for what is typed.
        return within_memory(container, Program { stop: Stop::Never, ..Program::default() });
    }
    let settled = start.answers.iter().filter_map(|(_, told)| told.last()).map(|(at, _)| *at).max();
    let around = Surroundings {
        environment: start.environment,
        read: start.read,
        list: start.list,
        ask: &|question, second| {
            let told = start.answers.iter().find(|(known, _)| known == question)?;
            told.1.iter().rev().find(|(from, _)| *from <= second)?.1.clone()
        },
        settled_seconds: settled.unwrap_or(0),
        main: first,
        input: "",
        address: start.address,
        is_plain,
    };
    let mut program = script::program_of(&script::quoted(&words), &around, base);
    if let Some(word) = program.start_error.take() {
        return Program { start_error: Some(not_found(&word)), ..Program::default() };
    }
    let is_shell = matches!(first, "sh" | "bash" | "ash" | "dash" | "sleep" | "tail");
    if is_shell && program.listens.is_empty() && !matches!(program.stop, Stop::After { .. }) {
        // The first process of a container gets no signal that it has not asked for.
        program.stop = Stop::Never;
    }
    within_memory(container, program)
}

/// Images in which only the usual commands are found.
const PLAIN: &[&str] = &["busybox", "alpine", "ubuntu", "debian", "bash", "registry.k8s.io/busybox"];

/// The first word that takes the place of the command of an image without an entry point, where it is none: `-c`.
fn option_as_program(word: &str, container: &Container, is_shell_image: bool) -> Option<Program> {
    let is_option = word.starts_with('-') && (is_shell_image || !container.command.is_empty());
    is_option.then(|| Program { start_error: Some(not_found(word)), ..Program::default() })
}

/// Why a command cannot be started, in the runtime's words.
fn not_found(word: &str) -> String {
    let what = if word.contains('/') {
        format!("stat {word}: no such file or directory")
    } else {
        "executable file not found in $PATH".to_string()
    };
    format!(
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: \"{word}\": {what}"
    )
}

/// `sim-exit CODE DURATION [REASON]`.
fn told_exit(command: &[String]) -> Option<Program> {
    let [name, code, duration, reason @ ..] = command else { return None };
    if name != "sim-exit" {
        return None;
    }
    let exit_code = code.parse().ok()?;
    let default = if exit_code == 0 { "Completed" } else { "Error" };
    let reason = reason.first().map_or(default, String::as_str).to_string();
    let after_seconds = script::duration_milliseconds(duration)? / 1000;
    Some(Program { end: Some(End { after_seconds, exit_code, reason }), ..Program::default() })
}

/// A program that listens on the declared ports.
fn declared(container: &Container, after_seconds: i64) -> Program {
    let listens = container.ports.iter().map(|port| Listener { port: port.container_port, after_seconds });
    Program { listens: listens.collect(), ..Program::default() }
}

/// What the image's own entry point does.
fn image_program(start: &Start<'_>, repository: &str) -> Program {
    let container = start.container;
    let known = APPLICATIONS.iter().find(|known| {
        known.repository == repository || repository == format!("registry.example/{}", known.repository)
    });
    let Some(known) = known else { return declared(container, 1) };
    let mut program = declared(container, known.start_seconds);
    if !known.ports.is_empty() {
        let ports = chosen_port(container).map_or_else(|| known.ports.to_vec(), |port| vec![port]);
        let listens = ports.into_iter().map(|port| Listener { port, after_seconds: known.start_seconds });
        program.listens = listens.collect();
    }
    program.answers = match known.answers {
        Answering::Names if container.args.first().is_some_and(|word| word == "liveness") => {
            Answers::HealthyFor(10)
        }
        Answering::Names => told_text(container).map_or(Answers::Names, Answers::Echo),
        Answering::Welcome(server) => Answers::Welcome(server),
        Answering::NotFound => Answers::NotFound,
        Answering::NotHttp => Answers::NotHttp,
    };
    let print =
        |line: &&str| Moment { at_seconds: known.start_seconds, deed: Deed::Print((*line).to_string()) };
    program.moments = known.log.iter().map(print).collect();
    program.memory_bytes = known.memory_mebibytes << 20;
    program.stop = Stop::After { seconds: 1, exit_code: 0 };
    let has = |name: &&str| {
        container.env.iter().any(|variable| variable.name == **name) || start.environment.contains_key(*name)
    };
    if !known.needs_one_of.is_empty() && !known.needs_one_of.iter().any(has) {
        let line = format!(
            "Error: uninitialized database: you must specify one of {}",
            known.needs_one_of.join(", ")
        );
        program.listens.clear();
        program.moments = vec![Moment { at_seconds: 0, deed: Deed::Print(line) }];
        program.end = Some(End { after_seconds: 1, exit_code: 1, reason: "Error".to_string() });
    }
    program
}

/// The port in an argument such as `-listen=:8080`, `--port=8080` or `--http-port 8080`.
fn chosen_port(container: &Container) -> Option<i32> {
    let flags = ["listen", "port", "http-port"];
    let mut words = container.command.iter().chain(&container.args).peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix('-').map(|flag| flag.trim_start_matches('-')) else { continue };
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        if flags.contains(&name) {
            let value = value.or_else(|| words.peek().map(|next| next.as_str()))?;
            return value.rsplit(':').next()?.parse().ok();
        }
    }
    None
}

/// The text in an argument such as `-text=hello`.
fn told_text(container: &Container) -> Option<String> {
    let mut words = container.args.iter().chain(&container.command);
    words
        .find_map(|word| word.trim_start_matches('-').strip_prefix("text="))
        .map(|text| text.trim_matches('"').to_string())
}

/// A program that needs more memory than its container may use is killed as soon as it has taken it.
fn within_memory(container: &Container, mut program: Program) -> Program {
    let wanted = stressed_bytes(container).unwrap_or(program.memory_bytes);
    if container.memory_limit().is_some_and(|limit| wanted > limit) {
        program.end = Some(End { after_seconds: 1, exit_code: 137, reason: "OOMKilled".to_string() });
    }
    program.memory_bytes = wanted;
    program
}

/// The memory that `stress --vm-bytes 250M` takes.
fn stressed_bytes(container: &Container) -> Option<i64> {
    let mut words = container.command.iter().chain(&container.args).skip_while(|word| *word != "--vm-bytes");
    let amount = words.nth(1)?;
    let digits = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &amount[digits.len()..] {
        "" | "B" | "b" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return None,
    };
    digits.parse::<i64>().ok().map(|number| number << unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::{Value, json};

    fn program(container: Value) -> Program {
        let container = Container::decode(container).unwrap();
        program_of(&Start {
            container: &container,
            environment: &BTreeMap::new(),
            recorded: false,
            address: "10.244.1.2",
            read: &|_| None,
            list: &Vec::new,
            answers: &[],
        })
    }

    fn ports(container: Value) -> Vec<i32> {
        program(container).listens.iter().map(|listener| listener.port).collect()
    }

    #[test]
    fn an_application_names_its_pod_and_a_plain_web_server_has_no_health_endpoint() {
        let answer = |answers: Answers, path| answers.answer("api-1", "10.244.1.2", 80, path);
        assert!(answer(Answers::Names, "/api").body.contains("api-1"));
        assert_eq!(answer(Answers::Welcome("nginx"), "/").status, 200);
        assert_eq!(answer(Answers::Welcome("nginx"), "/healthz").status, 404);
        assert_eq!(answer(Answers::Names, "/healthz").status, 200);
    }

    #[test]
    fn known_images_listen_on_their_own_port_and_unknown_ones_on_the_declared_ports() {
        let declares = |image: &str| json!({"image": image, "ports": [{"containerPort": 8080}]});
        assert_eq!(ports(declares("nginx:1.27")), [80]);
        assert_eq!(ports(declares("shop/api:2.0")), [8080]);
        assert_eq!(ports(json!({"image": "shop/api:2.0"})), [0; 0]);
        assert_eq!(
            ports(json!({"image": "hashicorp/http-echo", "args": ["-listen=:9000", "-text=hi"]})),
            [9000]
        );
        assert_eq!(
            ports(json!({"image": "nginx", "command": ["sh", "-c", "while true; do sleep 5; done"]})),
            [0; 0]
        );
        assert_eq!(ports(json!({"image": "nginx", "command": ["nginx", "-g", "daemon off;"]})), [80]);
    }

    #[test]
    fn programs_end_for_the_reasons_that_real_ones_do() {
        let end = |container: Value| program(container).end.map(|end| (end.exit_code, end.reason));
        let oom = Some((137, "OOMKilled".to_string()));
        let table = [
            ("a server runs", json!({"image": "nginx"}), None),
            (
                "a shell without a terminal ends",
                json!({"image": "busybox"}),
                Some((0, "Completed".to_string())),
            ),
            (
                "a database without a password gives up",
                json!({"image": "postgres:16"}),
                Some((1, "Error".to_string())),
            ),
            (
                "a database with one runs",
                json!({"image": "postgres:16", "env": [{"name": "POSTGRES_PASSWORD", "value": "x"}]}),
                None,
            ),
            (
                "too little memory kills",
                json!({"image": "mysql:8", "env": [{"name": "MYSQL_ROOT_PASSWORD", "value": "x"}], "resources": {"limits": {"memory": "64Mi"}}}),
                oom.clone(),
            ),
            (
                "stress takes what it is told",
                json!({"image": "polinux/stress", "command": ["stress"], "args": ["--vm", "1", "--vm-bytes", "250M"], "resources": {"limits": {"memory": "100Mi"}}}),
                oom,
            ),
            (
                "a told exit",
                json!({"image": "x", "command": ["sim-exit", "3", "2s"]}),
                Some((3, "Error".to_string())),
            ),
        ];
        for (sentence, container, expected) in table {
            assert_eq!(end(container), expected, "{sentence}");
        }
    }

    #[test]
    fn a_sleeping_first_process_ignores_the_signal() {
        assert_eq!(program(json!({"image": "busybox", "command": ["sleep", "3600"]})).stop, Stop::Never);
        assert_eq!(program(json!({"image": "nginx"})).stop, Stop::After { seconds: 1, exit_code: 0 });
        assert_eq!(program(json!({"image": "shop/api:1.0"})).stop, Stop::AtOnce);
    }
}
