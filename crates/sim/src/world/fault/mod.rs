//! Faults by name: what each does to a world, how it is mended, and what a run
//! must make of it.
//!
//! A name never travels on a wire: it is turned into knobs before anybody
//! talks to the world. Several faults can be there at once; each turns knobs of
//! its own.

mod begins;
mod table;

/// What a kubelet says that has lost sight of its containers.
pub(super) const PLEG: &str = "PLEG is not healthy: pleg was last seen active 3m2s ago";

use super::World;

pub use begins::Begins;
pub use table::FAULTS;

/// Something that goes wrong in a world.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub does: &'static str,
    /// What a run must make of it, where the cluster has all that the built-in one has.
    pub expected: Expected,
    /// What is left of it once it is mended.
    pub wound: Wound,
    turn: fn(&World, &Cast, Turn),
}

/// What a run must make of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It ends proven, perhaps later.
    Proven,
    /// A gate or probe fails, with this cause.
    Failed {
        /// The gate or probe.
        check: &'static str,
        /// The number of the cause's code.
        code: u16,
    },
    /// What a stage wants to do is refused, before any of its gates is asked.
    Refused {
        /// The stage.
        stage: &'static str,
        /// The number of the cause's code.
        code: u16,
    },
}

/// What is left of a fault once it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wound {
    /// Nothing: a run that goes on gets by.
    Heals,
    /// What it has broken stays broken: only a new cluster helps.
    Lasting,
}

/// Who plays in a world: the names of the nodes that will be made.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    /// The control planes, in order.
    pub control_planes: Vec<String>,
    /// The workers, in order.
    pub workers: Vec<String>,
}

/// Whether a fault begins or is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It begins.
    Strike,
    /// It is over. What it has broken for good stays broken: a server that
    /// vanished does not come back.
    Mend,
}

impl Fault {
    /// Returns the fault of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAULTS.iter().find(|fault| fault.name == name)
    }

    /// Lets it happen in a world.
    pub fn strike(&self, world: &World, cast: &Cast) {
        world.note(self.name, Turn::Strike);
        (self.turn)(world, cast, Turn::Strike);
    }

    /// Puts an end to it. Some parts notice at once, some at their next step.
    pub fn mend(&self, world: &World, cast: &Cast) {
        world.note(self.name, Turn::Mend);
        (self.turn)(world, cast, Turn::Mend);
    }
}

impl Turn {
    /// Returns whether the fault begins.
    pub(super) fn strikes(self) -> bool {
        self == Self::Strike
    }

    /// Returns a value while the fault is there, and what is normal otherwise.
    fn or_normal<T: Default>(self, broken: T) -> T {
        if self.strikes() { broken } else { T::default() }
    }
}

impl Expected {
    /// Returns the gate or probe that fails.
    pub fn check(self) -> Option<&'static str> {
        match self {
            Self::Failed { check, .. } => Some(check),
            Self::Proven | Self::Refused { .. } => None,
        }
    }
}

impl Cast {
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.control_planes.iter().chain(&self.workers).map(String::as_str)
    }

    /// The last control plane: one that joins others, where there are any.
    fn last_control_plane(&self) -> &str {
        self.control_planes.last().map_or("", String::as_str)
    }

    fn first(&self) -> &str {
        self.control_planes.first().map_or("", String::as_str)
    }

    /// The last worker, or the last control plane where there is none.
    fn last(&self) -> &str {
        self.workers.last().or(self.control_planes.last()).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found() {
        assert!(FAULTS.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(Fault::named("node-slow").map(|fault| fault.name), Some("node-slow"));
        assert!(Fault::named("node-fast").is_none());
    }
}
