//! What a run of `verify` looks at, and why it leaves the rest out.

use std::collections::BTreeSet;

use events::CheckName;

use super::table::{ETCD_MEMBERS, MACHINES};

/// The gates that were asked for, and what there is to ask them with.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The gates; empty where all of them were asked for.
    pub gates: BTreeSet<&'static str>,
    /// Whether there are credentials for Talos.
    pub talosconfig: bool,
}

impl Selection {
    /// Returns why a gate as a whole is left out.
    pub(super) fn without_gate(&self, gate: &str) -> Option<&'static str> {
        if !self.gates.is_empty() && !self.gates.contains(gate) {
            return Some("not asked for");
        }
        (gate == MACHINES && !self.talosconfig).then_some("no --talosconfig")
    }

    /// Returns why a check of a gate is left out.
    pub(super) fn left_out(&self, gate: &str, check: &CheckName) -> Option<&'static str> {
        let needs_talos = check.as_str() == ETCD_MEMBERS && !self.talosconfig;
        self.without_gate(gate).or(needs_talos.then_some("no --talosconfig"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_leaves_out_what_was_not_asked_for_and_what_needs_talos() {
        let members = CheckName::from(ETCD_MEMBERS);
        let (all, some) =
            (Selection::default(), Selection { gates: ["etcd"].into(), talosconfig: true });
        assert_eq!(all.without_gate("dns"), None);
        assert_eq!(all.without_gate(MACHINES), Some("no --talosconfig"));
        assert_eq!(all.left_out("etcd", &members), Some("no --talosconfig"));
        assert_eq!(some.left_out("etcd", &members), None);
        assert_eq!(some.without_gate("dns"), Some("not asked for"));
    }
}
