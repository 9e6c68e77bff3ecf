//! Why a node gave no good answer.

use std::io;

use events::Class;
use tonic::Code;

use crate::pki::{CertificateFacts, SpkiHash};

/// Why a node gave no good answer. What each means, and what to do about it,
/// is in [`Reason::meaning`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    // On the way there.
    /// Nobody listens.
    #[error("connection refused")]
    Refused,
    /// The network knows no way.
    #[error("no route to the node")]
    NoRoute,
    /// Nothing answered.
    #[error("nothing answered in time")]
    NoAnswer,
    /// Something accepted the connection and said nothing.
    #[error("the connection was accepted, and then nothing came in time")]
    Silent,
    /// The connection was closed.
    #[error("the connection was closed without an answer (EOF)")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Lost(io::ErrorKind),
    /// This machine has run out of files or memory.
    #[error("this machine cannot connect: {0}")]
    Local(String),

    // In TLS.
    /// What answers does not speak TLS 1.3.
    #[error("what answers does not speak TLS 1.3")]
    NotTls,
    /// The node wants a certificate of ours, and got none.
    #[error("tls: certificate required")]
    CertificateRequired,
    /// The node does not know the authority of our certificate.
    #[error("tls: unknown certificate authority")]
    UnknownCa,
    /// The node does not like our certificate.
    #[error("tls: the node refused our certificate ({0})")]
    BadCertificate(String),
    /// The node broke TLS off for another reason.
    #[error("tls: the node broke off ({0})")]
    Alert(String),
    /// The node shows the certificate of maintenance mode.
    #[error("certificate signed by unknown authority: the node is in maintenance mode")]
    StillInMaintenance {
        /// The fingerprint of its key.
        spki: SpkiHash,
    },
    /// The node shows a certificate that another authority has signed.
    #[error("certificate signed by unknown authority: `{}`", .0.issuer)]
    OtherAuthority(Box<CertificateFacts>),
    /// The node's certificate is for other addresses.
    #[error("the node's certificate is for {}, not for this address", .0.join(", "))]
    NotItsAddress(Vec<String>),
    /// The node's certificate does not hold at this time.
    #[error("the node's certificate holds from {} to {}", .0.not_before, .0.not_after)]
    NotAtThisTime(Box<CertificateFacts>),
    /// The node shows another key than the one that was expected.
    #[error("the node shows the fingerprint {seen}, not {expected}")]
    OtherFingerprint {
        /// The one that was expected.
        expected: Box<SpkiHash>,
        /// The one it shows.
        seen: Box<SpkiHash>,
    },
    /// Our own certificate or key is no good.
    #[error("our certificate or its key cannot be used: {0}")]
    Credentials(String),

    // In its answer.
    /// No answer came in time.
    #[error("no answer came in time")]
    Deadline,
    /// The node gave the call up.
    #[error("the node gave the call up before its answer")]
    Cancelled,
    /// The node has not come that far.
    #[error("not available yet: {0}")]
    NotYetAvailable(String),
    /// The node's clock is not set.
    #[error("the node's time is not in sync yet")]
    TimeNotInSync,
    /// Another config is being applied.
    #[error("another configuration is being applied")]
    ApplyInProgress,
    /// The node restarts.
    #[error("the node restarts with its new configuration")]
    Rebooting,
    /// There is an etcd on this node already.
    #[error("etcd data directory is not empty")]
    AlreadyBootstrapped,
    /// A second bootstrap has stopped etcd.
    #[error("etcd was stopped by a second bootstrap")]
    BootstrapWedged,
    /// The node could not pull an image.
    #[error("the image could not be pulled: {0}")]
    PullFailed(String),
    /// The installer of another version has failed.
    #[error("the installer ended with exit code {code}: {last}")]
    InstallerFailed {
        /// Its exit code.
        code: i32,
        /// What it said last.
        last: String,
    },
    /// The node refuses the config, in its words but without the config's values.
    #[error("the configuration is not valid: {0}")]
    InvalidConfig(String),
    /// The call itself is no good.
    #[error("invalid argument: {0}")]
    InvalidArgument(String),
    /// Our role does not allow it.
    #[error("permission denied: {0}")]
    PermissionDenied(String),
    /// The node does not pass calls on.
    #[error("permission denied: no request forwarding")]
    NoForwarding,
    /// The node has no such call, or not in this mode or role.
    #[error("not implemented here: {0}")]
    Unimplemented(String),
    /// There is no such thing.
    #[error("not found: {0}")]
    NotFound(String),
    /// The node cannot do it now.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Another answer.
    #[error("{code:?}: {message}")]
    Status {
        /// The code of it.
        code: Code,
        /// What it says.
        message: String,
    },
    /// The answer makes no sense.
    #[error("the answer makes no sense: {0}")]
    Nonsense(String),

    // On our side.
    /// The permit is for another call than the one that was to be made.
    #[error("a permit to {permitted} was used to {attempt}, which is a bug in seaworthy")]
    WrongPermit {
        /// What was to be done.
        attempt: String,
        /// What was permitted.
        permitted: String,
    },
}

impl Reason {
    /// Returns what may be done about it.
    ///
    /// What a node in another mode than expected says is permanent: the call
    /// cannot succeed on this connection, and the [probe](crate::probe) tells
    /// which mode it is.
    pub fn class(&self) -> Class {
        match self {
            Self::Refused
            | Self::NoRoute
            | Self::NoAnswer
            | Self::Silent
            | Self::Closed
            | Self::Lost(_)
            | Self::Local(_)
            | Self::Deadline
            | Self::Cancelled
            | Self::NotYetAvailable(_)
            | Self::TimeNotInSync
            | Self::Rebooting
            | Self::PullFailed(_)
            | Self::Unavailable(_) => Class::Transient,
            Self::ApplyInProgress | Self::AlreadyBootstrapped => Class::Conflict,
            Self::NotTls
            | Self::CertificateRequired
            | Self::UnknownCa
            | Self::BadCertificate(_)
            | Self::Alert(_)
            | Self::StillInMaintenance { .. }
            | Self::OtherAuthority(_)
            | Self::NotItsAddress(_)
            | Self::NotAtThisTime(_)
            | Self::OtherFingerprint { .. }
            | Self::Credentials(_)
            | Self::BootstrapWedged
            | Self::InstallerFailed { .. }
            | Self::InvalidConfig(_)
            | Self::InvalidArgument(_)
            | Self::PermissionDenied(_)
            | Self::NoForwarding
            | Self::Unimplemented(_)
            | Self::NotFound(_)
            | Self::Status { .. }
            | Self::Nonsense(_)
            | Self::WrongPermit { .. } => Class::Permanent,
        }
    }

    /// Returns what is in the node's own words, which may repeat what it was given.
    pub(super) fn words_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::NotYetAvailable(said)
            | Self::PullFailed(said)
            | Self::InstallerFailed { last: said, .. }
            | Self::InvalidConfig(said)
            | Self::InvalidArgument(said)
            | Self::PermissionDenied(said)
            | Self::Unimplemented(said)
            | Self::NotFound(said)
            | Self::Unavailable(said)
            | Self::Status { message: said, .. }
            | Self::Nonsense(said) => Some(said),
            Self::Refused
            | Self::NoRoute
            | Self::NoAnswer
            | Self::Silent
            | Self::Closed
            | Self::Lost(_)
            | Self::Local(_)
            | Self::NotTls
            | Self::CertificateRequired
            | Self::UnknownCa
            | Self::BadCertificate(_)
            | Self::Alert(_)
            | Self::StillInMaintenance { .. }
            | Self::OtherAuthority(_)
            | Self::NotItsAddress(_)
            | Self::NotAtThisTime(_)
            | Self::OtherFingerprint { .. }
            | Self::Credentials(_)
            | Self::Deadline
            | Self::Cancelled
            | Self::TimeNotInSync
            | Self::ApplyInProgress
            | Self::Rebooting
            | Self::AlreadyBootstrapped
            | Self::BootstrapWedged
            | Self::NoForwarding
            | Self::WrongPermit { .. } => None,
        }
    }

    /// Returns whether the node itself has said no, so that nothing was changed.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::NotYetAvailable(_)
            | Self::TimeNotInSync
            | Self::ApplyInProgress
            | Self::Rebooting
            | Self::AlreadyBootstrapped
            | Self::PullFailed(_)
            | Self::InvalidConfig(_)
            | Self::InvalidArgument(_)
            | Self::PermissionDenied(_)
            | Self::NoForwarding
            | Self::Unimplemented(_)
            | Self::NotFound(_)
            | Self::CertificateRequired
            | Self::UnknownCa
            | Self::BadCertificate(_)
            | Self::WrongPermit { .. } => true,
            // What it stands for, whatever the words are: nothing was begun.
            Self::Status { code, .. } => *code == Code::FailedPrecondition,
            Self::Refused
            | Self::NoRoute
            | Self::NoAnswer
            | Self::Silent
            | Self::Closed
            | Self::Lost(_)
            | Self::Local(_)
            | Self::NotTls
            | Self::Alert(_)
            | Self::StillInMaintenance { .. }
            | Self::OtherAuthority(_)
            | Self::NotItsAddress(_)
            | Self::NotAtThisTime(_)
            | Self::OtherFingerprint { .. }
            | Self::Credentials(_)
            | Self::Deadline
            | Self::Cancelled
            | Self::BootstrapWedged
            | Self::InstallerFailed { .. }
            | Self::Unavailable(_)
            | Self::Nonsense(_) => false,
        }
    }
}
