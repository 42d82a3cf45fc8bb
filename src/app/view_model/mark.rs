//! The two marks that stand beside everything: it exists, and it achieves its purpose.

/// One mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Not yet.
    #[default]
    Empty,
    /// Under way.
    UnderWay,
    /// Done.
    Done,
    /// Tried and failed.
    Failed,
}

/// Both marks of one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The object exists.
    pub exists: Mark,
    /// Its purpose is achieved.
    pub achieved: Mark,
}

impl Mark {
    /// The state class that carries its tone and shape.
    pub fn class(self) -> &'static str {
        match self {
            Mark::Empty => "is-empty",
            Mark::UnderWay => "is-under-way",
            Mark::Done => "is-done",
            Mark::Failed => "is-failed",
        }
    }

    /// The catalogue key of its word.
    pub fn key(self) -> &'static str {
        match self {
            Mark::Empty => "mark.empty",
            Mark::UnderWay => "mark.under_way",
            Mark::Done => "mark.done",
            Mark::Failed => "mark.failed",
        }
    }
}

impl Marks {
    /// Marks from their two halves.
    pub fn new(exists: Mark, achieved: Mark) -> Marks {
        Marks { exists, achieved }
    }

    /// Neither exists nor achieves anything.
    pub const NONE: Marks = Marks { exists: Mark::Empty, achieved: Mark::Empty };
    /// Exists and achieves its purpose.
    pub const BOTH: Marks = Marks { exists: Mark::Done, achieved: Mark::Done };

    /// The tone of the whole: failed if either half is, done if both are, empty if neither began.
    pub fn tone(self) -> Mark {
        match (self.exists, self.achieved) {
            (Mark::Failed, _) | (_, Mark::Failed) => Mark::Failed,
            (Mark::Done, Mark::Done) => Mark::Done,
            (Mark::Empty, Mark::Empty) => Mark::Empty,
            _ => Mark::UnderWay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tone_of_two_marks() {
        for (exists, achieved, expected) in [
            (Mark::Empty, Mark::Empty, Mark::Empty),
            (Mark::Done, Mark::Empty, Mark::UnderWay),
            (Mark::Done, Mark::Done, Mark::Done),
            (Mark::Done, Mark::Failed, Mark::Failed),
            (Mark::UnderWay, Mark::Empty, Mark::UnderWay),
        ] {
            assert_eq!(Marks::new(exists, achieved).tone(), expected, "{exists:?} {achieved:?}");
        }
    }
}
