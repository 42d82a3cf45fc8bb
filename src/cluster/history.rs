//! Everything that happened in a session: moments to return to, facts, commands, branches.
//!
//! A moment is a whole cluster; moments share what did not change, so keeping all of them is cheap and going back is
//! a look-up. A command given in the past begins a new branch, which shares the moments up to there.

use std::sync::Arc;

use imbl::Vector;

use super::command::Command;
use super::fact::{Fact, FactId};
use super::machine::{Cluster, Moved};
use super::server::request::Response;
use super::server::status::Status;
use super::settings::Settings;

/// Up to this many steps of one tick are kept as moments of their own; of longer ticks only the end is kept.
pub const MOMENTS_PER_TICK: usize = 64;

/// One moment of a session.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The whole cluster.
    pub cluster: Arc<Cluster>,
    /// How many facts of the branch had happened.
    pub facts: usize,
    /// How many commands of the branch's log were needed to get here.
    pub commands: usize,
}

/// One line of history.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The branch it was forked from, and at which moment; `None` for the first.
    pub parent: Option<(usize, usize)>,
    /// Every moment kept, oldest first; never empty.
    pub moments: Vector<Moment>,
    /// Every fact, oldest first.
    pub facts: Vector<Arc<Fact>>,
    /// The commands that lead from the settings to the newest moment.
    pub log: Vector<Command>,
}

/// A session: settings, branches, and where one stands.
#[derive(Clone, Debug)]
pub struct History {
    branches: Vec<Branch>,
    branch: usize,
    moment: usize,
}

/// What came of one command.
#[derive(Debug)]
pub struct Performed {
    /// The answer to a request.
    pub answer: Option<Result<Response, Status>>,
    /// The facts it led to.
    pub facts: Vec<Arc<Fact>>,
    /// Whether a new branch was begun.
    pub forked: bool,
}

impl History {
    /// A session that begins with the cluster of those settings.
    pub fn new(settings: Settings) -> Self {
        Self::from_cluster(Cluster::boot(settings))
    }

    /// A session that begins with that cluster.
    pub fn from_cluster(cluster: Cluster) -> Self {
        let moment = Moment { cluster: Arc::new(cluster), facts: 0, commands: 0 };
        let branch =
            Branch { parent: None, moments: Vector::unit(moment), facts: Vector::new(), log: Vector::new() };
        Self { branches: vec![branch], branch: 0, moment: 0 }
    }

    /// The cluster at the moment one stands at.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.here().cluster
    }

    /// The moment one stands at.
    pub fn here(&self) -> &Moment {
        &self.current().moments[self.moment]
    }

    /// The branch one stands on.
    pub fn current(&self) -> &Branch {
        &self.branches[self.branch]
    }

    /// All branches, oldest first.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Which branch one stands on, and at which of its moments.
    pub fn position(&self) -> (usize, usize) {
        (self.branch, self.moment)
    }

    /// How many moments the branch has.
    pub fn moments(&self) -> usize {
        self.current().moments.len()
    }

    /// Whether one stands at the newest moment of the branch.
    pub fn is_at_end(&self) -> bool {
        self.moment + 1 == self.moments()
    }

    /// The facts up to the moment one stands at, oldest first.
    pub fn facts(&self) -> impl DoubleEndedIterator<Item = &Arc<Fact>> {
        self.current().facts.iter().take(self.here().facts)
    }

    /// All facts of the branch, also those after the moment one stands at.
    pub fn all_facts(&self) -> &Vector<Arc<Fact>> {
        &self.current().facts
    }

    /// The fact of that number, if it happened on this branch.
    pub fn fact(&self, id: FactId) -> Option<&Arc<Fact>> {
        let facts = &self.current().facts;
        facts.binary_search_by(|fact| fact.id.cmp(&id)).ok().and_then(|index| facts.get(index))
    }

    /// The facts that led to this one, nearest first.
    pub fn causes(&self, id: FactId) -> Vec<&Arc<Fact>> {
        let mut chain = Vec::new();
        let mut next = self.fact(id).and_then(|fact| fact.cause);
        while let Some(fact) = next.and_then(|id| self.fact(id)) {
            chain.push(fact);
            next = fact.cause;
        }
        chain
    }

    /// The facts between the moment before and the one one stands at.
    pub fn latest_facts(&self) -> impl Iterator<Item = &Arc<Fact>> {
        let from = if self.moment == 0 { 0 } else { self.current().moments[self.moment - 1].facts };
        self.current().facts.iter().take(self.here().facts).skip(from)
    }

    /// Goes to a moment of the branch; past the end it is the newest.
    pub fn seek(&mut self, moment: usize) {
        self.moment = moment.min(self.moments() - 1);
    }

    /// Goes to another branch, at a moment of it. Nothing happens if there is no such branch.
    pub fn switch(&mut self, branch: usize, moment: usize) {
        if branch < self.branches.len() {
            self.branch = branch;
            self.seek(moment);
        }
    }

    /// Carries out a command at the moment one stands at, and goes to the moment after it. In the past this begins a
    /// new branch.
    pub fn perform(&mut self, command: Command) -> Performed {
        let forked = !self.is_at_end();
        if forked {
            self.fork();
        }
        let mut cluster = (**self.cluster()).clone();
        let mut facts = Vec::new();
        let mut answer = None;
        self.log(&command);
        match &command {
            Command::Ask(request) => {
                answer = Some(cluster.ask(request, &mut facts));
                self.push_moment(cluster, &facts, 0);
            }
            Command::Fault(fault) => {
                cluster.cause(fault, &mut facts);
                self.push_moment(cluster, &facts, 0);
            }
            Command::Step => {
                // Heartbeats and looks that change nothing are passed over, but never a whole tick.
                while cluster.step(&mut facts) == (Moved::Step { routine: true }) {}
                self.push_moment(cluster, &facts, 0);
            }
            Command::Tick => {
                let mut kept = 0;
                let mut recorded = 0;
                loop {
                    match cluster.step(&mut facts) {
                        Moved::Step { routine: false } if kept < MOMENTS_PER_TICK => {
                            kept += 1;
                            self.push_moment(cluster.clone(), &facts, recorded);
                            recorded = facts.len();
                        }
                        Moved::Step { .. } => {}
                        Moved::TickEnded => break,
                    }
                }
                self.push_moment(cluster, &facts, recorded);
            }
        }
        Performed { answer, facts, forked }
    }

    fn fork(&mut self) {
        let (parent, here) = (self.branch, self.here().clone());
        let from = self.current();
        let branch = Branch {
            parent: Some((parent, self.moment)),
            moments: from.moments.clone().slice(..=self.moment),
            facts: from.facts.clone().slice(..here.facts),
            log: from.log.clone().slice(..here.commands),
        };
        self.branches.push(branch);
        self.branch = self.branches.len() - 1;
    }

    fn log(&mut self, command: &Command) {
        let log = &mut self.branches[self.branch].log;
        log.push_back(command.clone());
    }

    fn push_moment(&mut self, cluster: Cluster, facts: &[Arc<Fact>], recorded: usize) {
        let branch = &mut self.branches[self.branch];
        branch.facts.extend(facts[recorded..].iter().cloned());
        let moment =
            Moment { cluster: Arc::new(cluster), facts: branch.facts.len(), commands: branch.log.len() };
        branch.moments.push_back(moment);
        self.moment = branch.moments.len() - 1;
    }
}
