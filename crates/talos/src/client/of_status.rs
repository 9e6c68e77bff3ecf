//! From a node's answer to why it is no good.
//!
//! Talos uses one code for several things, so some are told by the words of
//! the message: the words of 1.9 to 1.14, which are all in this file.

use tonic::Code;

use super::Reason;

/// What the library says where our own deadline has passed.
const OUR_DEADLINE: &str = "Timeout expired";
const NOT_EMPTY: &str = "etcd data directory is not empty";

impl Reason {
    /// Why a call was answered with `code`.
    pub(super) fn of_status(code: Code, message: &str) -> Self {
        let says = |words: &str| message.contains(words);
        let said = || message.to_owned();
        match code {
            Code::AlreadyExists if says(NOT_EMPTY) => Self::AlreadyBootstrapped,
            Code::Unknown if says(NOT_EMPTY) => Self::BootstrapWedged,
            // A phase of the installation, after which it can be had.
            Code::Unknown if says("is not allowed during unattended install") => {
                Self::NotYetAvailable(said())
            }
            // What maintenance mode says until 1.12, as an error of no kind.
            Code::Unknown if says("failed to parse config: ") => Self::InvalidArgument(said()),
            Code::Unknown if says("failed to pull image") => Self::PullFailed(said()),
            Code::Unknown if says("was not registered") => Self::NotFound(said()),
            Code::NotFound if says("error pulling image") => Self::PullFailed(said()),
            Code::FailedPrecondition if says("time is not in sync") => Self::TimeNotInSync,
            Code::FailedPrecondition if says("another apply configuration") => {
                Self::ApplyInProgress
            }
            // Another installation or upgrade, which comes to its end.
            Code::FailedPrecondition if says("is already in progress") => {
                Self::NotYetAvailable(said())
            }
            Code::FailedPrecondition if says("node is rebooting") => Self::Rebooting,
            Code::FailedPrecondition if says("only be performed on a control plane") => {
                Self::Unimplemented(said())
            }
            Code::FailedPrecondition if says("is not supported in") => Self::Unimplemented(said()),
            // All others wait for somebody, not for the node: no disk, no authority in
            // the config, a device that is in use.
            Code::FailedPrecondition if says("is not available yet") => {
                Self::NotYetAvailable(said())
            }
            Code::PermissionDenied if says("no request forwarding") => Self::NoForwarding,
            // What a version has no resources of is refused to everybody.
            Code::PermissionDenied if says("resource type") && says("is not supported") => {
                Self::Unimplemented(said())
            }
            Code::PermissionDenied | Code::Unauthenticated => Self::PermissionDenied(said()),
            Code::InvalidArgument => Self::InvalidArgument(said()),
            Code::Unimplemented => Self::Unimplemented(said()),
            Code::NotFound => Self::NotFound(said()),
            Code::Unavailable => Self::Unavailable(said()),
            Code::DeadlineExceeded => Self::Deadline,
            Code::Cancelled if message == OUR_DEADLINE => Self::Deadline,
            Code::Cancelled => Self::Cancelled,
            _ => Self::Status { code, message: said() },
        }
    }
}

#[cfg(test)]
mod tests {
    use events::Class::{Conflict, Permanent, Transient};

    use super::*;

    /// The words of nodes from 1.9 to 1.14, in the order of a cluster's life.
    #[test]
    fn every_answer_of_a_node_has_its_reason() {
        #[rustfmt::skip]
        let rows = [
            (Code::Unimplemented, "API is not implemented in maintenance mode", Permanent, "not implemented here"),
            (Code::Unimplemented, "apply configuration --mode='staged' is not supported in maintenance mode", Permanent, "not implemented here"),
            (Code::Unimplemented, "the REBOOT mode is not supported, please use AUTO", Permanent, "not implemented here"),
            (Code::InvalidArgument, "unknown keys found during decoding:\nmachine:\n    unheard: of", Permanent, "invalid argument"),
            (Code::Unknown, "failed to parse config: unknown keys found during decoding:\nmachine:\n    unheard: of", Permanent, "invalid argument"),
            (Code::InvalidArgument, "configuration validation failed: 1 error occurred:\n\t* install disk is required", Permanent, "invalid argument"),
            (Code::FailedPrecondition, "another apply configuration is already in progress", Conflict, "another configuration"),
            (Code::FailedPrecondition, "configuration is already applied and node is rebooting", Transient, "the node restarts"),
            (Code::PermissionDenied, "not authorized", Permanent, "permission denied"),
            (Code::PermissionDenied, "resource type \"Disks.block.talos.dev\" is not supported", Permanent, "not implemented here"),
            (Code::PermissionDenied, "no request forwarding", Permanent, "permission denied: no request forwarding"),
            (Code::FailedPrecondition, "bootstrap is not available yet", Transient, "not available yet"),
            (Code::Unimplemented, "bootstrap is only available on control plane nodes", Permanent, "not implemented here"),
            (Code::FailedPrecondition, "bootstrap can only be performed on a control plane node", Permanent, "not implemented here"),
            (Code::InvalidArgument, "etcd is not configured, bootstrap is not possible", Permanent, "invalid argument"),
            (Code::Unknown, "bootstrap is not allowed during unattended install (phase: installing)", Transient, "not available yet"),
            (Code::FailedPrecondition, "time is not in sync yet", Transient, "the node's time is not in sync yet"),
            (Code::AlreadyExists, "etcd data directory is not empty", Conflict, "etcd data directory is not empty"),
            (Code::Unknown, "etcd data directory is not empty", Permanent, "etcd was stopped by a second bootstrap"),
            (Code::Unimplemented, "member list is only available on control plane nodes", Permanent, "not implemented here"),
            (Code::FailedPrecondition, "method is not supported in container mode", Permanent, "not implemented here"),
            (Code::FailedPrecondition, "another upgrade is already in progress", Transient, "not available yet"),
            (Code::FailedPrecondition, "system disk not found", Permanent, "FailedPrecondition: system disk not found"),
            (Code::FailedPrecondition, "Talos is not installed", Permanent, "FailedPrecondition: Talos is not installed"),
            (Code::FailedPrecondition, "k8s API server CA config is not set", Permanent, "FailedPrecondition: k8s API"),
            (Code::FailedPrecondition, "words that nobody knows yet", Permanent, "FailedPrecondition: words that"),
            (Code::NotFound, "resource Nothings(x/y@undefined) doesn't exist", Permanent, "not found"),
            (Code::Unavailable, "connection error: desc = \"transport: Error while dialing\"", Transient, "unavailable"),
            (Code::DeadlineExceeded, "context deadline exceeded", Transient, "no answer came in time"),
        ];
        for (code, message, class, shown) in rows {
            let reason = Reason::of_status(code, message);
            assert_eq!(reason.class(), class, "{message}: {reason:?}");
            assert!(reason.to_string().starts_with(shown), "{message}: {reason}");
            let meaning = reason.meaning();
            assert!(!meaning.means.is_empty() && !meaning.advice.is_empty(), "{message}");
        }
    }
}
