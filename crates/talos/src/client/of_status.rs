//! From a node's answer to why it is no good.
//!
//! Talos uses one code for several things, so some are told by the words of
//! the message: the words of 1.12 to 1.14, which are all in this file.

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
            Code::Unknown if says("failed to pull image") => Self::PullFailed(said()),
            Code::Unknown if says("was not registered") => Self::NotFound(said()),
            Code::NotFound if says("error pulling image") => Self::PullFailed(said()),
            Code::FailedPrecondition if says("time is not in sync") => Self::TimeNotInSync,
            Code::FailedPrecondition if says("another apply configuration") => {
                Self::ApplyInProgress
            }
            Code::FailedPrecondition if says("node is rebooting") => Self::Rebooting,
            Code::FailedPrecondition if says("only be performed on a control plane") => {
                Self::Unimplemented(said())
            }
            Code::FailedPrecondition if says("is not supported in") => Self::Unimplemented(said()),
            Code::FailedPrecondition => Self::NotYetAvailable(said()),
            Code::PermissionDenied if says("no request forwarding") => Self::NoForwarding,
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
