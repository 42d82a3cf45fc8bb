//! What the processes of known images do: which port they listen on, how they answer, what they write.
//!
//! Leaves out: everything an application does that no Kubernetes object, probe or request can tell.

use super::process::Answer;

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
    /// A proxy without routes for the request.
    NotFound,
    /// It does not speak HTTP: the connection opens and yields nonsense.
    NotHttp,
}

/// Paths that applications have for probes and plain web servers do not.
const HEALTH_PATHS: [&str; 8] =
    ["/health", "/healthz", "/ready", "/readyz", "/live", "/livez", "/readiness", "/liveness"];

impl Answers {
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
            Self::NotFound => say(404, "404 page not found\n".to_string()),
            Self::NotHttp => say(0, String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_names_its_pod_and_a_plain_web_server_has_no_health_endpoint() {
        let answer = |answers: Answers, path| answers.answer("api-1", "10.244.1.2", 80, path);
        assert!(answer(Answers::Names, "/api").body.contains("api-1"));
        assert_eq!(answer(Answers::Welcome("nginx"), "/").status, 200);
        assert_eq!(answer(Answers::Welcome("nginx"), "/healthz").status, 404);
        assert_eq!(answer(Answers::Names, "/healthz").status, 200);
    }
}
