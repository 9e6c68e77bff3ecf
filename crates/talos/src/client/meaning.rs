//! What the failures of the API mean, for people who meet them.

use super::Reason;

/// What a failure means, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What it means.
    pub means: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

impl Reason {
    /// Returns what it means, and what to do about it.
    pub fn meaning(&self) -> Meaning {
        let (means, advice) = match self {
            Self::Refused => (
                "The machine is up and nothing listens on the port of the Talos API. This is normal for seconds while a node starts or takes a config, and on a worker until a control plane answers.",
                "Wait; if it lasts more than two minutes, look at the machine's console.",
            ),
            Self::NoRoute => (
                "The network knows no way to the address.",
                "Compare the node's address with the one that its provider shows.",
            ),
            Self::NoAnswer => (
                "Packets to the port vanish: a firewall drops them, or the address belongs to nobody.",
                "Compare your own public address with the firewall's rule for port 50000, and the node's address with its provider's.",
            ),
            Self::Silent => (
                "Something accepts connections there and does not speak, such as a load balancer without a target or a machine that is out of memory.",
                "Dial the node itself, not a load balancer; look at the machine's console.",
            ),
            Self::Closed => (
                "The connection was accepted and closed again: the API restarts, or a load balancer has no healthy target.",
                "Wait some seconds; if it lasts, dial the node itself, not a load balancer.",
            ),
            Self::Lost(_) => (
                "The connection broke on its way: the API restarted, or the network did.",
                "Look again at what the call wanted before sending it another time.",
            ),
            Self::Local(_) => (
                "This machine has run out of open files or memory; the node was not asked.",
                "Raise the limit that it names, or stop other programs.",
            ),
            Self::NotTls => (
                "Something else than the Talos API listens there: it does not speak TLS 1.3.",
                "Check the address and the port; the Talos API is on port 50000.",
            ),
            Self::CertificateRequired => (
                "The node has its config and wants the certificate of a client, and we presented none. This is not a mismatch of certificates: it is a client for maintenance mode that talks to a node that has left it.",
                "Use the cluster's talosconfig. Never send the config again without a certificate.",
            ),
            Self::UnknownCa => (
                "The node has its config from another secrets bundle than ours: it does not know the authority of our certificate.",
                "Find the bundle that the node was configured with; a bundle is never made anew for a cluster that lives.",
            ),
            Self::BadCertificate(_) => (
                "The node knows our certificate's authority or has not looked, and refuses the certificate itself: it has expired, or is not for clients only.",
                "Compare the clocks of both machines, and write the talosconfig anew from the bundle.",
            ),
            Self::Alert(_) => (
                "The node broke TLS off.",
                "Look at the log of `apid` on the node, or at the machine's console.",
            ),
            Self::StillInMaintenance { .. } => (
                "The node waits for its config: it shows the certificate of maintenance mode, which nobody has signed.",
                "Apply its config; if it has got one, wait until it has installed itself.",
            ),
            Self::OtherAuthority(_) => (
                "The node has a config from another secrets bundle than ours.",
                "Find the bundle that the node was configured with, or reset the node if it is yours to reset.",
            ),
            Self::NotItsAddress(_) => (
                "The node's certificate does not name the address that was dialled.",
                "Dial one of its addresses, or add this one to the certificate's names in the config.",
            ),
            Self::NotAtThisTime(_) => (
                "The node's certificate does not hold now: one of the two clocks is wrong.",
                "Compare both clocks; a node needs UDP port 123 to the outside to set its own.",
            ),
            Self::OtherFingerprint { .. } => (
                "What answers is not the machine whose fingerprint was given, or it has restarted since: the key of maintenance mode is made at every start.",
                "Read the fingerprint on the machine's console again. Send no config to a machine that you do not know.",
            ),
            Self::Credentials(_) => (
                "The certificate or key that we were to present is broken.",
                "Write the talosconfig anew from the secrets bundle.",
            ),
            Self::Deadline => (
                "The node took the call and did not answer in time. Questions about etcd have no answer before etcd runs.",
                "Look again at what the call wanted before sending it another time.",
            ),
            Self::Cancelled => (
                "The node ended the call before its answer: its API restarts.",
                "Look again at what the call wanted before sending it another time.",
            ),
            Self::NotYetAvailable(_) => {
                ("The node is still starting.", "Wait; it comes by itself.")
            }
            Self::TimeNotInSync => (
                "The node's clock is not set, and etcd waits for that.",
                "Allow UDP port 123 to the outside, or name a time server that the node can reach.",
            ),
            Self::ApplyInProgress => (
                "Somebody else applies a config to this node at this moment.",
                "Wait, then look which config it has.",
            ),
            Self::Rebooting => {
                ("The node has taken its config and restarts.", "Wait until it is back.")
            }
            Self::AlreadyBootstrapped => (
                "There is an etcd on this node: an earlier bootstrap has arrived, or the disk holds the data of another cluster.",
                "Compare the members of etcd with the control planes: if they are ours, all is well; otherwise wipe the node.",
            ),
            Self::BootstrapWedged => (
                "A second bootstrap came while etcd was starting and has stopped it. It does not start again by itself, nor can it be started.",
                "Restart the node.",
            ),
            Self::PullFailed(_) => (
                "The node cannot get the image: its registry does not answer, does not have it, or does not let the node in.",
                "Compare the image's name, the registry mirrors of the config, and the node's way out.",
            ),
            Self::InstallerFailed { .. } => (
                "The installer has started on the node and failed. The node still runs what it ran before.",
                "Read what the installer said; most often the image is for another machine or version.",
            ),
            Self::InvalidConfig(_) => (
                "The node's validator refuses the config; nothing was changed.",
                "Correct what its message names, most often a patch.",
            ),
            Self::InvalidArgument(_) => (
                "The node does not take the call as it was made.",
                "Compare the versions of Talos; this may be a bug in seaworthy.",
            ),
            Self::PermissionDenied(_) => (
                "Our certificate's role does not allow the call. In maintenance mode nobody may do more than read and apply a config.",
                "Use a certificate with the role os:admin; right after a config was applied, wait a second.",
            ),
            Self::NoForwarding => (
                "The node was asked to pass a call on to another, which workers and nodes in maintenance mode do not.",
                "Dial the node itself.",
            ),
            Self::Unimplemented(_) => (
                "The node does not have the call, or not in its present mode or role.",
                "Compare its version, mode and role with what the call needs.",
            ),
            Self::NotFound(_) => {
                ("The node has no such thing, or not yet.", "Wait, or look which of them it has.")
            }
            Self::Unavailable(_) => {
                ("The node cannot do it now; its API may be restarting.", "Wait some seconds.")
            }
            Self::Status { .. } => (
                "The node answered with something that has no known meaning.",
                "Look at the log of `machined` on the node.",
            ),
            Self::Nonsense(_) => (
                "What answered does not keep to the API of Talos.",
                "Compare the versions; check that nothing stands between us and the node.",
            ),
            Self::WrongPermit { .. } => (
                "A bug in seaworthy: a call was made under another call's name. It was not sent.",
                "Report it, with the journal of the run.",
            ),
        };
        Meaning { means, advice }
    }
}
