//! Faults by name: what each does to a world, how it is mended, and what a run
//! must make of it.
//!
//! A name never travels on a wire: it is turned into knobs before anybody
//! talks to the world. Several faults can be there at once; each turns knobs of
//! its own.

mod table;

use super::World;

pub use table::FAULTS;

/// Something that goes wrong in a world.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub does: &'static str,
    /// What a run must make of it.
    pub expected: Expected,
    turn: fn(&World, &Cast, Turn),
}

/// What a run must make of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It ends proven, perhaps later.
    Proven,
    /// It fails at this gate, with this cause.
    Failed {
        /// The stage whose gate shows it.
        gate: &'static str,
        /// The number of the cause's code.
        code: u16,
    },
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

impl Cast {
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
