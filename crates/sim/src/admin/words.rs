//! What is asked, and what is answered: one line of JSON each.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::Counters;

/// What the owner of a world asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Question {
    /// Which faults there are, and which of them are there now.
    Faults,
    /// Let something go wrong.
    Strike {
        /// The fault's name.
        fault: String,
    },
    /// Put an end to it.
    Mend {
        /// The fault's name.
        fault: String,
    },
    /// How often what happened.
    Counters,
    /// Which machines there are.
    Machines,
    /// End the world.
    End,
}

/// What the world says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Answer {
    /// All faults, by name; to strikes and mends too, as they are afterwards.
    Faults {
        /// The faults.
        faults: Vec<FaultNow>,
    },
    /// How often what happened.
    Counters {
        /// The counts.
        #[serde(flatten)]
        counters: Counters,
    },
    /// The machines, by name.
    Machines {
        /// The machines.
        machines: Vec<MachineNow>,
    },
    /// The world ends once this is said.
    Ending,
    /// It was not understood; nothing has changed.
    Refused {
        /// Why.
        why: String,
    },
}

/// A fault, and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultNow {
    /// Its name.
    pub name: String,
    /// What it does, in one line.
    pub does: String,
    /// Whether it was struck, and not mended since.
    pub struck: bool,
}

/// A machine of the world: a server, and the node on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineNow {
    /// Its name.
    pub name: String,
    /// The address that it listens on.
    pub address: Ipv4Addr,
    /// The platform's id of it.
    pub instance: String,
    /// How far it has come, in the words of Talos.
    pub stage: String,
    /// Why it could not come up, where it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}
