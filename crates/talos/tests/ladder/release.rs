//! The versions that the ladder is climbed with.

use sim::talos::Dialect;

/// A version of Talos, and one of Kubernetes that it runs.
#[derive(Clone, Copy)]
pub(crate) struct Release {
    pub(crate) talos: &'static str,
    pub(crate) kubernetes: &'static str,
}

impl Release {
    /// The oldest that a cluster file may name.
    pub(crate) const V1_8: Self = Self { talos: "v1.8.4", kubernetes: "v1.31.4" };
    /// The last whose maintenance mode has a server of its own.
    pub(crate) const V1_12: Self = Self { talos: "v1.12.1", kubernetes: "v1.35.0" };
    /// The first that has one server for both modes.
    pub(crate) const V1_13: Self = Self { talos: "v1.13.6", kubernetes: "v1.36.3" };
    /// The one that real nodes run.
    pub(crate) const V1_14: Self = Self { talos: "v1.14.1", kubernetes: "v1.36.3" };

    /// Says whether it talks as versions up to 1.12 do.
    pub(crate) fn is_of_the_old_dialect(self) -> bool {
        Dialect::of(self.talos) == Dialect::Separate
    }

    /// What a node that waits for its config says once it has got it; of old
    /// it says nothing.
    pub(crate) fn says_to_its_first_config(self) -> &'static str {
        if self.is_of_the_old_dialect() { "" } else { "Applied configuration without a reboot" }
    }

    /// What a worker says to a bootstrap.
    pub(crate) fn says_to_a_bootstrap_of_a_worker(self) -> &'static str {
        if self.is_of_the_old_dialect() {
            "bootstrap can only be performed on a control plane node"
        } else {
            "bootstrap is only available on control plane nodes"
        }
    }
}
