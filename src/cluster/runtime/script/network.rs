//! Commands that ask the network: does a name resolve, does a port answer, what does a page say?

use super::{Answered, Flow, Question, Shell, Target};

impl Shell<'_> {
    fn ask(&mut self, host: &str, port: Option<i32>, path: &str) -> Answered {
        let question = Question { host: host.to_string(), port, path: path.to_string() };
        let answer = (self.around.ask)(&question, self.at_seconds());
        if !self.asks.contains(&question) {
            self.asks.push(question);
        }
        answer
    }

    /// Carries out the command if it is one of these; `None` if it is not, or if it asks its own container.
    pub(super) fn ask_network(&mut self, name: &str, arguments: &[String], target: &Target) -> Option<Flow> {
        let plain: Vec<&str> =
            arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
        let behind = |flags: &[&str]| {
            let at = arguments.iter().position(|word| flags.contains(&word.as_str()))?;
            arguments.get(at + 1).map(String::as_str)
        };
        match name {
            "nslookup" | "getent" | "dig" | "host" | "ping" => {
                let host = plain.iter().find(|word| !matches!(**word, "hosts" | "ahosts")).copied()?;
                self.resolve(name, host, target);
            }
            "wget" | "curl" => self.fetch(name, arguments, target)?,
            "nc" | "ncat" => {
                let port = plain.iter().rev().find_map(|word| word.parse::<i32>().ok());
                let host = plain.iter().find(|word| word.parse::<i32>().is_err()).copied()?;
                let answer = self.ask(host, Some(port?), "");
                self.last_code = i32::from(answer.is_none());
            }
            "pg_isready" | "mysqladmin" | "mysql" | "psql" | "redis-cli" | "mongosh" => {
                let host = behind(&["-h", "--host"])?;
                let usual = match name {
                    "pg_isready" | "psql" => 5432,
                    "redis-cli" => 6379,
                    "mongosh" => 27017,
                    _ => 3306,
                };
                let port =
                    behind(&["-p", "-P", "--port"]).and_then(|port| port.parse().ok()).unwrap_or(usual);
                let answer = self.ask(host, Some(port), "");
                match (name, answer.is_some()) {
                    ("pg_isready", true) => {
                        self.put([format!("{host}:{port} - accepting connections")], target)
                    }
                    ("pg_isready", false) => self.put([format!("{host}:{port} - no response")], target),
                    ("redis-cli", true) => self.put(["PONG".to_string()], target),
                    ("mysqladmin", true) => self.put(["mysqld is alive".to_string()], target),
                    _ => {}
                }
                self.last_code = match answer {
                    Some(_) => 0,
                    None if name == "pg_isready" => 2,
                    None => 1,
                };
            }
            _ => return None,
        }
        Some(Flow::Next)
    }

    fn resolve(&mut self, name: &str, host: &str, target: &Target) {
        let answer = self.ask(host, None, "");
        self.last_code = i32::from(answer.is_none());
        match (name, answer) {
            ("getent", Some(address)) => self.put([format!("{address:<16}  {host}")], target),
            ("getent", None) => self.last_code = 2,
            ("ping", Some(address)) => {
                self.put([format!("PING {host} ({address}): 56 data bytes")], target);
            }
            ("ping", None) => self.complain(format!("ping: bad address '{host}'"), target),
            (_, answer) => {
                let server = ["Server:\t\t10.96.0.10", "Address:\t10.96.0.10:53", ""].map(str::to_string);
                self.put(server, target);
                match answer {
                    Some(address) => {
                        self.put(
                            [format!("Name:\t{host}"), format!("Address: {address}"), String::new()],
                            target,
                        );
                    }
                    None => {
                        self.put([format!("** server can't find {host}: NXDOMAIN"), String::new()], target)
                    }
                }
            }
        }
    }

    /// `wget` and `curl`.
    fn fetch(&mut self, name: &str, arguments: &[String], target: &Target) -> Option<()> {
        let takes_value = |word: &str| match name {
            "wget" => matches!(word, "-O" | "-T" | "-t" | "-o" | "-P" | "--timeout" | "--tries"),
            _ => matches!(
                word,
                "-o" | "-w" | "-m" | "-H" | "-X" | "-d" | "--max-time" | "--connect-timeout" | "--retry"
            ),
        };
        let (mut url, mut file, mut flags) = (None, None, String::new());
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if takes_value(word) {
                let value = words.next();
                if matches!((name, word.as_str()), ("wget", "-O") | ("curl", "-o")) {
                    file = value.cloned();
                }
            } else if let Some(flag) = word.strip_prefix('-') {
                if name == "wget" && flag.ends_with("O-") {
                    file = Some("-".to_string());
                }
                flags.push_str(flag);
                flags.push(' ');
            } else {
                url.get_or_insert(word.as_str());
            }
        }
        let url = url?;
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let usual = if scheme == "https" { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, usual),
        };
        if !self.beside && matches!(host, "localhost" | "127.0.0.1") {
            return None;
        }
        let address = self.ask(host, None, "");
        let answer = address.as_ref().and_then(|_| self.ask(host, Some(port), path));
        let Some(body) = answer else {
            let silent =
                name == "curl" && flags.split(' ').any(|flag| flag.starts_with('s') && !flag.contains('S'));
            let quiet = Target { quiet: target.quiet || silent, ..target.clone() };
            let (code, text) = match (name, address) {
                ("wget", None) => (1, format!("wget: bad address '{host}'")),
                ("wget", Some(address)) => {
                    (1, format!("wget: can't connect to remote host ({address}): Connection refused"))
                }
                (_, None) => (6, format!("curl: (6) Could not resolve host: {host}")),
                (_, Some(_)) => (
                    7,
                    format!(
                        "curl: (7) Failed to connect to {host} port {port} after 0 ms: Could not connect to server"
                    ),
                ),
            };
            self.complain(text, &quiet);
            self.last_code = code;
            return Some(());
        };
        self.last_code = 0;
        let lines = body.lines().map(str::to_string);
        match file.as_deref() {
            Some("-") => self.put(lines, target),
            Some("/dev/null") => {}
            Some(file) => self.write(file.to_string(), body.clone()),
            None if name == "curl" => self.put(lines, target),
            // wget without a name for the file takes the page's own.
            None if !flags.contains("spider") => self.write("index.html".to_string(), body.clone()),
            None => {}
        }
        Some(())
    }
}
