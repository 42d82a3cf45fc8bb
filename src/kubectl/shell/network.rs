//! `curl`, `wget`, `nslookup` and `dig`: from the terminal, which stands outside the cluster, or from inside a Pod.
//!
//! A request is a request like any other: the host traces it. `curl localhost:8080` goes through a forwarded port.
//!
//! Models: curl 8, the wget and nslookup of BusyBox. Leaves out: uploads, redirects, encryption, headers of answers but
//! the first line.

use crate::api::kinds::networking::Service;
use crate::api::kinds::pod::Pod;
use crate::api::manifest;
use crate::cluster::network::dns::{self, Answer};
use crate::cluster::network::trace::{Sees, Trace, TraceRequest, Url};
use crate::i18n::{Language, catalogue};
use crate::kubectl::commands::raw::{self, Answer as Raw};
use crate::kubectl::commands::streams::Forward;
use crate::kubectl::execution::Output;
use crate::kubectl::host::Host;

/// Where a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the terminal.
    Outside,
    /// In a Pod, by namespace and name.
    Pod(String, String),
}

/// The commands of this file.
const COMMANDS: [&str; 4] = ["curl", "wget", "nslookup", "dig"];

/// The words of a command of this file, also inside `sh -c`, if it is one.
pub(crate) fn words_of(command: &[String]) -> Option<Vec<String>> {
    let plain = |word: &String| word.rsplit('/').next().unwrap_or(word).to_string();
    match command {
        [first, ..] if COMMANDS.contains(&plain(first).as_str()) => {
            let mut words = command.to_vec();
            words[0] = plain(first);
            Some(words)
        }
        [shell, flag, script] if matches!(plain(shell).as_str(), "sh" | "bash" | "ash") && flag == "-c" => {
            let statements = super::line::parse(script).ok()?;
            match statements.as_slice() {
                [one] if one.stages.len() == 1 && one.from_file.is_none() => words_of(&one.stages[0]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Runs a command of this file. `number` counts requests, which spread over endpoints.
pub(crate) fn run(
    words: &[String],
    place: &Place,
    number: u64,
    forwards: &[Forward],
    host: &mut dyn Host,
) -> Output {
    let (command, args) = words.split_first().map_or(("", words), |(first, rest)| (first.as_str(), rest));
    match command {
        "nslookup" | "dig" => look_up(command, args, place, &*host),
        _ => request(command, args, place, number, forwards, host),
    }
}

fn failed(text: &str, exit: i32) -> Output {
    Output { stderr: format!("{text}\n"), exit, ..Output::default() }
}

/// What the options of `curl` and `wget` ask for.
#[derive(Default)]
struct Asked {
    url: Option<String>,
    method: Option<String>,
    host: Option<String>,
    silent: bool,
    shows_errors: bool,
    fails: bool,
    head: bool,
    include: bool,
    output: Option<String>,
    format: Option<String>,
}

fn options(command: &str, args: &[String]) -> Asked {
    let mut asked = Asked::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, attached) = match arg.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, value)) => (name.to_string(), Some(value.to_string())),
                None => (long.to_string(), None),
            },
            None => match arg.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                Some(letters) => {
                    let mut rest = letters;
                    let mut last = String::new();
                    // All letters but the last are switches.
                    while let Some(letter) = rest.chars().next() {
                        last = letter.to_string();
                        rest = &rest[letter.len_utf8()..];
                        if takes_value(command, &last) || rest.is_empty() {
                            break;
                        }
                        switch(&mut asked, &last);
                    }
                    (last, (!rest.is_empty()).then(|| rest.to_string()))
                }
                None => {
                    asked.url.get_or_insert_with(|| arg.clone());
                    continue;
                }
            },
        };
        if !takes_value(command, &name) {
            switch(&mut asked, &name);
            continue;
        }
        let value = attached.or_else(|| args.next().cloned()).unwrap_or_default();
        match name.as_str() {
            "X" | "request" => asked.method = Some(value),
            "H" | "header" => {
                if let Some((name, text)) = value.split_once(':')
                    && name.eq_ignore_ascii_case("host")
                {
                    asked.host = Some(text.trim().to_string());
                }
            }
            "o" | "output" | "O" => asked.output = Some(value),
            "w" | "write-out" => asked.format = Some(value),
            "d" | "data" => asked.method = asked.method.take().or(Some("POST".to_string())),
            "url" => asked.url = Some(value),
            _ => {}
        }
    }
    asked
}

fn takes_value(command: &str, name: &str) -> bool {
    let words: &[&str] = match command {
        "wget" => &["O", "T", "t", "timeout", "tries", "header"],
        _ => &[
            "X",
            "request",
            "H",
            "header",
            "o",
            "output",
            "w",
            "write-out",
            "m",
            "max-time",
            "connect-timeout",
            "d",
            "data",
            "A",
            "user-agent",
            "u",
            "user",
            "retry",
            "resolve",
            "url",
            "cacert",
        ],
    };
    words.contains(&name)
}

fn switch(asked: &mut Asked, name: &str) {
    match name {
        "s" | "silent" | "q" | "quiet" => asked.silent = true,
        "S" | "show-error" => asked.shows_errors = true,
        "f" | "fail" => asked.fails = true,
        "I" | "head" => asked.head = true,
        "i" | "include" | "show-headers" => asked.include = true,
        _ => {}
    }
}

fn request(
    command: &str,
    args: &[String],
    place: &Place,
    number: u64,
    forwards: &[Forward],
    host: &mut dyn Host,
) -> Output {
    let asked = options(command, args);
    let Some(url) = &asked.url else {
        return failed("curl: (2) no URL specified", 2);
    };
    let mut request = match TraceRequest::get(url, number) {
        Ok(request) => request,
        Err(because) => {
            let text = crate::kubectl::trace_text::say(&because, catalogue(Language::En));
            return failed(&format!("{command}: (3) {text}"), 3);
        }
    };
    if asked.head {
        request.method = "HEAD".to_string();
    }
    if let Some(method) = &asked.method {
        request.method.clone_from(method);
    }
    request.host = asked.host.clone();
    let is_local = matches!(request.url.host.as_str(), "localhost" | "127.0.0.1");
    match place {
        Place::Pod(namespace, name) => {
            if is_local {
                request.url.host = ip_of(host, namespace, name);
            }
            request = request.from_pod(namespace, name);
        }
        Place::Outside if is_local => {
            let forward = forwards.iter().find(|forward| forward.local == request.url.port);
            let Some(forward) = forward.filter(|forward| forward.is_alive(host)) else {
                return answer(command, &asked, &refused(&request.url));
            };
            if forward.pod.is_empty() && !matches!(request.method.as_str(), "GET" | "HEAD") {
                return failed(WRITES_BY_PROXY, 2);
            }
            if forward.pod.is_empty() {
                return answer(command, &asked, &through_proxy(url, number, request.url, host));
            }
            let told = request.host.take().unwrap_or_else(|| request.url.host.clone());
            request.host = Some(told);
            request.url.host = ip_of(host, &forward.namespace, &forward.pod);
            request.url.port = forward.remote;
            request = request.from_pod(&forward.namespace, &forward.pod);
        }
        Place::Outside => {}
    }
    let trace = host.send(&request);
    answer(command, &asked, &Seen::of(&trace))
}

fn ip_of(host: &dyn Host, namespace: &str, name: &str) -> String {
    host.store().get::<Pod>(namespace, name).map(|pod| pod.status.pod_ip.to_string()).unwrap_or_default()
}

/// Said to a request that would write through `kubectl proxy`.
const WRITES_BY_PROXY: &str = "curl: requests that write through kubectl proxy are not in this release: kubectl create, replace, patch and delete do";

/// What the API server answers through `kubectl proxy`, in lines, as it does for a curl.
fn through_proxy(address: &str, number: u64, url: Url, host: &mut dyn Host) -> Seen {
    let below = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = below.find('/').map_or("/", |at| &below[at..]);
    let (code, body) = match raw::answer(host, number, path) {
        Ok(Raw::Json(value)) => (200, manifest::to_json_pretty(&value)),
        Ok(Raw::Text(code, text)) => (code, text),
        Err(status) => (status.code, manifest::to_json_pretty(&status.to_value())),
    };
    Seen { sees: Sees::Status(code), body, url }
}

/// What a client saw of a request.
struct Seen {
    sees: Sees,
    body: String,
    url: Url,
}

impl Seen {
    fn of(trace: &Trace) -> Self {
        let body = trace.outcome.body.replace('\r', "");
        Self { sees: trace.outcome.sees, body, url: trace.request.url.clone() }
    }
}

fn refused(url: &Url) -> Seen {
    let body = format!(
        "curl: (7) Failed to connect to {} port {} after 0 ms: Could not connect to server",
        url.host, url.port
    );
    Seen { sees: Sees::Refused, body, url: url.clone() }
}

fn answer(command: &str, asked: &Asked, seen: &Seen) -> Output {
    if command == "wget" {
        return wget(asked, seen);
    }
    let Sees::Status(code) = seen.sees else {
        let exit = match seen.sees {
            Sees::NoSuchName | Sees::NoNameServer => 6,
            Sees::Refused => 7,
            Sees::EmptyReply => 52,
            _ => 28,
        };
        let text = if seen.body.is_empty() { "curl: (28) Connection timed out" } else { seen.body.as_str() };
        let mut output = if asked.silent && !asked.shows_errors {
            Output { exit, ..Output::default() }
        } else {
            failed(text, exit)
        };
        output.stdout = written_out(asked, 0);
        return output;
    };
    if asked.fails && code >= 400 {
        let mut output = if asked.silent && !asked.shows_errors {
            Output { exit: 22, ..Output::default() }
        } else {
            failed(&format!("curl: (22) The requested URL returned error: {code}"), 22)
        };
        output.stdout = written_out(asked, code);
        return output;
    }
    let mut stdout = String::new();
    if asked.output.is_none() {
        if asked.head || asked.include {
            stdout.push_str(&format!("HTTP/1.1 {code} {}\n\n", reason(code)));
        }
        if !asked.head {
            stdout.push_str(&seen.body);
        }
    }
    stdout.push_str(&written_out(asked, code));
    if !stdout.is_empty() && !stdout.ends_with('\n') {
        stdout.push('\n');
    }
    Output::of(stdout)
}

/// The text of `-w`.
fn written_out(asked: &Asked, code: u16) -> String {
    let code = format!("{code:03}");
    let format = asked.format.as_deref().unwrap_or_default();
    let format = format.replace("%{http_code}", &code).replace("%{response_code}", &code);
    format.replace("\\n", "\n").replace("\\t", "\t").replace("%{time_total}", "0.001")
}

fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Temporarily Unavailable",
        504 => "Gateway Time-out",
        _ => "",
    }
}

fn wget(asked: &Asked, seen: &Seen) -> Output {
    match seen.sees {
        Sees::Status(code) if code < 400 => {
            if asked.output.as_deref() != Some("-") {
                return Output::default();
            }
            let newline = if seen.body.ends_with('\n') { "" } else { "\n" };
            Output::of(format!("{}{newline}", seen.body))
        }
        Sees::Status(code) => {
            failed(&format!("wget: server returned error: HTTP/1.1 {code} {}", reason(code)), 1)
        }
        Sees::NoSuchName | Sees::NoNameServer => failed(&format!("wget: bad address '{}'", seen.url.host), 1),
        Sees::Refused => {
            failed(&format!("wget: can't connect to remote host ({}): Connection refused", seen.url.host), 1)
        }
        _ => failed("wget: download timed out", 1),
    }
}

/// The name server that the terminal asks.
const OUTSIDE_SERVER: &str = "203.0.113.53";

fn look_up(command: &str, args: &[String], place: &Place, host: &dyn Host) -> Output {
    let Some(name) = args.iter().find(|arg| !arg.starts_with(['-', '+', '@'])) else {
        return failed(&format!("usage: {command} NAME"), 1);
    };
    let cluster = host.cluster();
    let (server, asked, addresses) = match place {
        Place::Outside => {
            let attempt = dns::ask_outside(&cluster.world, name.trim_end_matches('.'));
            let addresses = match attempt.answer {
                Answer::Records(records) => records,
                _ => Vec::new(),
            };
            (OUTSIDE_SERVER.to_string(), attempt.name, addresses)
        }
        Place::Pod(namespace, pod) => {
            let server = host.store().get::<Service>("kube-system", "kube-dns");
            let server = server.map(|service| service.spec.cluster_ip.to_string()).unwrap_or_default();
            let probe = TraceRequest::get(&format!("http://{name}/"), 0).ok();
            let probe = probe.map(|request| cluster.trace(&request.from_pod(namespace, pod)));
            let unanswered = probe.is_none_or(|trace| trace.outcome.sees == Sees::NoNameServer);
            let Some(zone) = cluster.dns_zone().filter(|_| !unanswered) else {
                return failed(";; connection timed out; no servers could be reached", 1);
            };
            let found = zone.resolve(&cluster.world, namespace, name);
            let asked = found.attempts.last().map_or(name.clone(), |attempt| attempt.name.clone());
            (server, asked, found.addresses)
        }
    };
    if command == "dig" {
        return dig(args, &asked, &server, &addresses);
    }
    let inside = matches!(place, Place::Pod(..));
    let port = if inside { ":53" } else { "#53" };
    let mut out = format!("Server:\t\t{server}\nAddress:\t{server}{port}\n\n");
    if addresses.is_empty() {
        out.push_str(&format!("** server can't find {name}: NXDOMAIN\n\n"));
        return Output { stdout: out, exit: 1, ..Output::default() };
    }
    if !inside {
        out.push_str("Non-authoritative answer:\n");
    }
    for address in addresses {
        out.push_str(&format!("Name:\t{asked}\nAddress: {address}\n"));
    }
    out.push('\n');
    Output::of(out)
}

fn dig(args: &[String], name: &str, server: &str, addresses: &[String]) -> Output {
    if args.iter().any(|arg| arg == "+short") {
        return Output::of(addresses.iter().map(|address| format!("{address}\n")).collect::<String>());
    }
    let status = if addresses.is_empty() { "NXDOMAIN" } else { "NOERROR" };
    let mut out = format!(
        ";; ->>HEADER<<- opcode: QUERY, status: {status}\n\n;; QUESTION SECTION:\n;{name}.\t\tIN\tA\n"
    );
    if !addresses.is_empty() {
        out.push_str("\n;; ANSWER SECTION:\n");
        out.extend(addresses.iter().map(|address| format!("{name}.\t30\tIN\tA\t{address}\n")));
    }
    out.push_str(&format!("\n;; SERVER: {server}#53({server}) (UDP)\n"));
    Output::of(out)
}
