//! What the answers of a node mean to a stage: wait, or a cause with a name.

use std::time::Duration;

use engine::{ActError, SendError};
use events::{Because, Cause, Class, Code, Evidence, Failure, Verdict};
use spec::plan::NodePlan;
use talos::client::{ClientError, Reason};
use talos::pki::SpkiHash;

use crate::hetzner::explain;
use crate::{Site, codes};

/// A node that takes its config leaves maintenance mode within seconds; one that
/// starts from its first medium again comes back to it within a minute or two.
const LEAVES_MAINTENANCE: Duration = Duration::from_mins(1);

/// Says what a failed look at a node means. A node changes its server while it
/// takes its config, so that nothing is hopeless at first sight; what is still
/// so at the deadline has a name.
pub(crate) fn verdict(site: &Site, node: &NodePlan, error: &ClientError) -> Verdict {
    let because = Because::new(error.reason.to_string());
    let because = because.in_the_end(cause(site, node, error));
    Verdict::not_yet(match error.reason {
        Reason::StillInMaintenance { .. } => because.sure_after(LEAVES_MAINTENANCE),
        _ => because,
    })
}

/// Puts the name of the node before what is said about it, where a unit is
/// about more than one.
pub(crate) fn of(node: &NodePlan, mut verdict: Verdict) -> Verdict {
    if let Verdict::NotYet { because } = &mut verdict {
        because.what = format!("{}: {}", node.name, because.what);
    }
    verdict
}

/// Returns the cause that an answer stands for.
pub(crate) fn cause(site: &Site, node: &NodePlan, error: &ClientError) -> Cause {
    Asked::new(site, &node.name).cause(error)
}

/// Whom a call is made to, and with what: all that is needed to tell what came of
/// it, also for a call that outlives its stage.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The node.
    pub(crate) name: String,
    /// Where other nodes reach it, who do not know its name.
    pub(crate) at: String,
    /// The fingerprint of the bundle's authority.
    pub(crate) ours: SpkiHash,
}

impl Asked {
    /// A call to a node of that name.
    pub(crate) fn new(site: &Site, name: &str) -> Self {
        let planned = site.plan.nodes.iter().find(|node| node.name == name);
        let at = planned.map_or_else(|| name.to_owned(), |node| node.address.to_string());
        Self { name: name.to_owned(), at, ours: authority(site) }
    }

    /// Says why a look before a call gave nothing.
    pub(crate) fn unseen(&self, class: Class, error: &ClientError) -> ActError {
        ActError::not_yet(Failure::of(class, error), self.cause(error))
    }

    /// Says why a call has no good answer.
    pub(crate) fn unsent(&self, class: Class, error: &ClientError) -> SendError {
        let end = SendError::new(Failure::of(class, error), error.arrival);
        end.in_the_end(Some(self.cause(error)))
    }

    /// Returns the cause that an answer stands for.
    pub(crate) fn cause(&self, error: &ClientError) -> Cause {
        let (code, message) = named(&self.name, &error.reason);
        Cause::new(code, message)
            .because([format!("{error}: {}", error.reason)])
            .because_of_each(self.compared(error))
            .so(meant(&error.reason))
            .seen(self.evidence(error))
            .next(explain(code), "tells more")
    }

    /// Two keys that should be one are told side by side.
    fn compared(&self, error: &ClientError) -> Vec<String> {
        let Reason::OtherAuthority(facts) = &error.reason else { return Vec::new() };
        let issuer = &facts.issuer;
        vec![
            format!("its certificate is signed by `{issuer}`, not by the bundle's authority"),
            format!("the bundle's authority has the fingerprint {}", self.ours),
        ]
    }

    fn evidence(&self, error: &ClientError) -> Evidence {
        let evidence = Evidence::new(error.reason.to_string())
            .fact("node", error.node.to_string())
            .fact("answer", error.reason.to_string())
            .fact("bundle.os.spki", self.ours.to_string());
        match &error.reason {
            Reason::OtherAuthority(facts) | Reason::NotAtThisTime(facts) => evidence
                .fact("certificate.issuer", facts.issuer.clone())
                .fact("certificate.subject", facts.subject.clone())
                .fact("certificate.spki", facts.spki.to_string()),
            Reason::StillInMaintenance { spki } => {
                evidence.fact("maintenance.spki", spki.to_string())
            }
            _ => evidence,
        }
    }
}

fn authority(site: &Site) -> SpkiHash {
    site.bundle().os.certificate().spki()
}

/// Says what an answer means, and what to do about it.
pub(crate) fn meant(reason: &Reason) -> String {
    match reason {
        // Whoever else gets this answer has presented none; we always do.
        Reason::CertificateRequired => {
            "our certificate did not reach the node: something on the way there ends TLS".to_owned()
        }
        reason => {
            let meaning = reason.meaning();
            format!("{} {}", meaning.means, meaning.advice)
        }
    }
}

/// Returns what an answer is called, and what it says of a node.
pub(crate) fn named(name: &str, reason: &Reason) -> (Code, String) {
    match reason {
        Reason::Refused => {
            (codes::NODE_REFUSES, format!("{name} refuses connections on port 50000"))
        }
        Reason::NoAnswer | Reason::NoRoute | Reason::Silent => {
            (codes::NODE_UNREACHABLE, format!("{name} cannot be reached on port 50000"))
        }
        Reason::CertificateRequired => (
            codes::NO_CLIENT_CERTIFICATE,
            format!("{name} says that no client certificate was presented"),
        ),
        Reason::UnknownCa | Reason::OtherAuthority(_) => {
            (codes::PKI_MISMATCH, format!("{name} belongs to another PKI"))
        }
        Reason::StillInMaintenance { .. } => (
            codes::STILL_IN_MAINTENANCE,
            format!("{name} has taken its config and stays in maintenance mode"),
        ),
        Reason::NotAtThisTime(_) => (
            codes::CERTIFICATE_NOT_NOW,
            format!("{name} shows a certificate that does not hold at this time"),
        ),
        Reason::NotItsAddress(_) => (
            codes::CERTIFICATE_ELSEWHERE,
            format!("{name} shows a certificate that is for other addresses"),
        ),
        Reason::BadCertificate(_) => {
            (codes::CERTIFICATE_REFUSED, format!("{name} refuses our certificate"))
        }
        Reason::Credentials(_) => {
            (codes::CERTIFICATE_REFUSED, format!("our certificate for {name} cannot be used"))
        }
        Reason::OtherFingerprint { .. } => {
            (codes::WRONG_MACHINE, format!("what answers for {name} is not the machine it was"))
        }
        Reason::NotTls | Reason::Alert(_) | Reason::Nonsense(_) => {
            (codes::NOT_TALOS, format!("what answers for {name} does not speak as Talos does"))
        }
        Reason::InvalidConfig(_) => {
            (codes::CONFIG_REFUSED, format!("{name} refuses its configuration"))
        }
        Reason::TimeNotInSync => {
            (codes::CLOCK_NOT_IN_SYNC, format!("the clock of {name} is not in sync"))
        }
        Reason::BootstrapWedged => {
            (codes::ETCD_WEDGED, format!("a second bootstrap has stopped etcd on {name}"))
        }
        Reason::PullFailed(_) => (codes::IMAGE_UNAVAILABLE, format!("{name} gets no images")),
        Reason::PermissionDenied(_)
        | Reason::NoForwarding
        | Reason::Unimplemented(_)
        | Reason::InvalidArgument(_)
        | Reason::NotFound(_)
        | Reason::AlreadyBootstrapped
        | Reason::InstallerFailed { .. }
        | Reason::Status { .. } => {
            (codes::CALL_REFUSED, format!("{name} refuses what it is asked for"))
        }
        Reason::Closed
        | Reason::Lost(_)
        | Reason::Local(_)
        | Reason::Deadline
        | Reason::Cancelled
        | Reason::NotYetAvailable(_)
        | Reason::ApplyInProgress
        | Reason::Rebooting
        | Reason::Unavailable(_) => {
            (codes::NODE_NOT_ANSWERING, format!("the Talos API of {name} gives no answer"))
        }
        Reason::WrongPermit { .. } => (engine::codes::BUG, "a bug in seaworthy".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use events::Arrival;

    use super::*;

    fn asked() -> Asked {
        let (name, at) = ("cp-1".to_owned(), "10.0.0.1".to_owned());
        Asked { name, at, ours: SpkiHash::of(b"ours") }
    }

    fn error(reason: Reason) -> ClientError {
        let node = "10.0.0.1:50000".parse().expect("it is an address");
        ClientError { attempt: "look", node, arrival: Arrival::No, reason }
    }

    /// No answer of a node ends a stage without what it means and what to do.
    #[test]
    fn every_answer_has_a_page_and_says_what_to_do() {
        let mut codes = BTreeSet::new();
        for reason in Reason::every() {
            let cause = asked().cause(&error(reason.clone()));
            codes.insert(cause.code);
            assert!(crate::explain(cause.code).is_some(), "{} of {reason}", cause.code);
            let so = cause.so.expect("it means something");
            let meaning = reason.meaning();
            let says_it = so.contains(meaning.means) && so.contains(meaning.advice);
            assert!(says_it || reason == Reason::CertificateRequired, "{reason}: {so}");
            assert!(cause.because.iter().any(|line| line.contains(&reason.to_string())));
        }
        for code in [codes::CERTIFICATE_NOT_NOW, codes::CERTIFICATE_ELSEWHERE] {
            assert!(codes.contains(&code), "{code}");
        }
    }

    /// A call that no other try helps ends at once, and by its name.
    #[test]
    fn a_name_is_told_at_the_end_whatever_the_class() {
        for reason in Reason::every() {
            let error = error(reason);
            let end = asked().unsent(error.class(), &error);
            assert_eq!(end.failure.class, error.class());
            assert_eq!(end.in_the_end.map(|it| *it), Some(asked().cause(&error)));
            let seen = asked().unseen(error.class(), &error);
            assert!(matches!(seen, ActError::NotYet { .. }), "{seen}");
        }
    }
}
