//! How the process ends.

/// The exit codes of `seaworthy`. They are part of its interface: scripts and
/// pipelines decide by them, so that a code is never reused for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Proven healthy, or done as asked.
    Done = 0,
    /// A bug in seaworthy, or the machine it runs on let it down.
    Internal = 1,
    /// The command line or the cluster file is wrong.
    Usage = 2,
    /// A gate failed, or something required was not proven.
    NotProven = 3,
    /// A provider or an API refused.
    Refused = 4,
    /// Interrupted; the same command goes on from here.
    Interrupted = 5,
    /// Something was left behind after a teardown.
    Leftovers = 6,
    /// There is drift, or there are differences.
    Different = 7,
}

impl Exit {
    /// All codes with what they say, for the help and the reference.
    pub(crate) const ALL: [(Self, &'static str); 8] = [
        (Self::Done, "proven healthy, or done as asked"),
        (Self::Internal, "a bug in seaworthy, or its machine let it down"),
        (Self::Usage, "the command line or the cluster file is wrong"),
        (Self::NotProven, "a gate failed, or something required was not proven"),
        (Self::Refused, "a provider or an API refused"),
        (Self::Interrupted, "interrupted; the same command goes on from here"),
        (Self::Leftovers, "something was left behind after a teardown"),
        (Self::Different, "there is drift, or there are differences"),
    ];

    /// Returns the number of the code.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}
