//! Requests that the learner sent, and what became of each.

use crate::cluster::because::Because;
use crate::cluster::history::History;
use crate::cluster::network::trace::{Trace, TraceRequest};

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Its number in the session, counted from 1: requests in a row spread over endpoints.
    pub number: u64,
    /// Its address.
    pub url: String,
    /// The branch it was sent on.
    pub branch: usize,
    /// The moment it was sent at.
    pub moment: usize,
    /// The tick, as shown.
    pub tick: i64,
    /// What the client saw.
    pub answer: String,
    /// Whether it was what the client wanted.
    pub is_success: bool,
}

/// All requests of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The requests, oldest first.
    pub sent: Vec<Sent>,
    /// The address in the form.
    pub url: String,
    /// The number of the request on screen; `None` for the newest at the moment on screen.
    pub shown: Option<u64>,
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

impl Requests {
    /// Sends a request at a moment of the branch on screen.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn send(&mut self, history: &History, moment: usize, url: &str) -> Result<&Sent, Because> {
        let number = self.sent.last().map_or(1, |last| last.number + 1);
        let request = TraceRequest::get(&with_scheme(url), number)?;
        let (branch, _) = history.position();
        let moments = &history.current().moments;
        let cluster = &moments[moment.min(moments.len() - 1)].cluster;
        let sees = cluster.trace(&request).outcome.sees;
        if self.sent.len() >= REQUESTS_LIMIT {
            self.sent.remove(0);
        }
        self.sent.push(Sent {
            number,
            url: request.url.to_string(),
            branch,
            moment,
            tick: cluster.visible_tick(),
            answer: sees.word(),
            is_success: sees.is_success(),
        });
        self.shown = None;
        self.hop = None;
        Ok(&self.sent[self.sent.len() - 1])
    }

    /// The requests of the branch on screen up to its moment on screen, also those sent before the branch was forked.
    pub fn until_now<'a>(&'a self, history: &'a History) -> impl DoubleEndedIterator<Item = &'a Sent> {
        let (_, now) = history.position();
        self.of_branch(history).filter(move |sent| sent.moment <= now)
    }

    /// All requests of the branch on screen.
    pub fn of_branch<'a>(&'a self, history: &'a History) -> impl DoubleEndedIterator<Item = &'a Sent> {
        self.sent.iter().filter(move |sent| is_on(history, history.position().0, sent))
    }

    /// The request on screen.
    pub fn on_screen<'a>(&'a self, history: &'a History) -> Option<&'a Sent> {
        let chosen = self.shown.and_then(|number| self.of_branch(history).find(|sent| sent.number == number));
        chosen.or_else(|| self.until_now(history).next_back())
    }
}

/// Whether a request was sent on a branch, or on the one it was forked from, before it was.
fn is_on(history: &History, branch: usize, sent: &Sent) -> bool {
    let mut at = branch;
    let mut until = usize::MAX;
    loop {
        if sent.branch == at {
            return sent.moment <= until;
        }
        match history.branches().get(at).and_then(|branch| branch.parent) {
            Some((parent, moment)) => {
                at = parent;
                until = until.min(moment);
            }
            None => return false,
        }
    }
}

/// The journey of a request, followed again.
pub fn trace_of(history: &History, sent: &Sent) -> Option<Trace> {
    let request = TraceRequest::get(&sent.url, sent.number).ok()?;
    let moment = history.branches().get(sent.branch)?.moments.get(sent.moment)?;
    Some(moment.cluster.trace(&request))
}

fn with_scheme(url: &str) -> String {
    let url = url.trim();
    if url.contains("://") { url.to_string() } else { ["http://", url].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::command::Command;
    use crate::cluster::settings::Settings;

    #[test]
    fn a_request_belongs_to_the_branches_that_grew_out_of_its_moment() {
        let mut history = History::new(Settings::bare(1, Vec::new()));
        history.perform(Command::Tick);
        history.perform(Command::Tick);
        let mut requests = Requests::default();
        requests.send(&history, 1, "shop.example").expect("an address");
        requests.send(&history, 2, "shop.example").expect("an address");
        assert_eq!(requests.until_now(&history).count(), 2);
        history.seek(1);
        assert_eq!(requests.until_now(&history).count(), 1, "the second lies in the future");
        history.perform(Command::Tick);
        assert_eq!(requests.of_branch(&history).count(), 1, "the second lies on the other branch");
        assert!(requests.send(&history, 2, "ftp://x").is_err());
    }
}
