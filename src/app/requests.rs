//! Requests that the learner sent, and what became of each.

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Its address.
    pub url: String,
    /// The branch it was sent on.
    pub branch: usize,
    /// The moment it was sent at.
    pub moment: usize,
    /// The tick, as shown.
    pub tick: i64,
}

/// All requests of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The requests, oldest first.
    pub sent: Vec<Sent>,
    /// The address in the form.
    pub url: String,
    /// The request on screen, by place in `sent`; `None` for the newest at the moment on screen.
    pub shown: Option<usize>,
    /// The hop on screen; `None` for the one that decided.
    pub hop: Option<usize>,
}

/// The address that a new session offers.
pub const FIRST_URL: &str = "http://shop.example/api";
/// The most requests that are kept.
pub const REQUESTS_LIMIT: usize = 200;

impl Default for Requests {
    fn default() -> Self {
        Requests { sent: Vec::new(), url: FIRST_URL.to_string(), shown: None, hop: None }
    }
}
