//! What the answers of a node mean to a stage: wait, or a cause with a name.

use events::{Because, Cause, Code, Evidence, Verdict};
use spec::plan::NodePlan;
use talos::client::{ClientError, Reason};

use crate::hetzner::explain;
use crate::{Site, codes};

/// Says what a failed look at a node means. A node changes its server while it
/// takes its config, so that nothing is hopeless at first sight; what is still
/// so at the deadline has a name.
pub(crate) fn verdict(site: &Site, node: &NodePlan, error: &ClientError) -> Verdict {
    let what = error.reason.to_string();
    match cause(site, node, error) {
        Some(cause) => Verdict::not_yet(Because::new(what).in_the_end(cause)),
        // Right after a config the old server may still answer, and refuse
        // administrators as it refuses everybody.
        None if !error.class().is_retryable() => Verdict::not_yet(what),
        None => Verdict::blind(error.failure()),
    }
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
pub(crate) fn cause(site: &Site, node: &NodePlan, error: &ClientError) -> Option<Cause> {
    let (code, message) = named(&node.name, &error.reason)?;
    let so = match &error.reason {
        // Whoever else gets this answer has presented none; this run always does.
        Reason::CertificateRequired => {
            "our certificate did not reach the node: something on the way there ends TLS"
        }
        reason => reason.meaning().means,
    };
    Some(
        Cause::new(code, message)
            .because([format!("{error}: {}", error.reason)])
            .because(compared(site, code, error))
            .so(so)
            .seen(evidence(site, error))
            .next(explain(code), "tells more"),
    )
}

/// Returns what an answer is called, and what it says of a node.
pub(crate) fn named(name: &str, reason: &Reason) -> Option<(Code, String)> {
    Some(match reason {
        Reason::Refused | Reason::Closed => {
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
        Reason::InvalidConfig(_) => {
            (codes::CONFIG_REFUSED, format!("{name} refuses its configuration"))
        }
        _ => return None,
    })
}

/// Two keys that should be one are told side by side.
fn compared(site: &Site, code: Code, error: &ClientError) -> Vec<String> {
    let Reason::OtherAuthority(facts) = &error.reason else { return Vec::new() };
    if code != codes::PKI_MISMATCH {
        return Vec::new();
    }
    let ours = site.bundle().os.certificate().spki();
    vec![
        format!("its certificate is signed by `{}`, not by the bundle's authority", facts.issuer),
        format!("the bundle's authority has the fingerprint {ours}"),
    ]
}

fn evidence(site: &Site, error: &ClientError) -> Evidence {
    let evidence = Evidence::new(error.reason.to_string())
        .fact("node", error.node.to_string())
        .fact("answer", error.reason.to_string())
        .fact("bundle.os.spki", site.bundle().os.certificate().spki().to_string());
    match &error.reason {
        Reason::OtherAuthority(facts) => evidence
            .fact("certificate.issuer", facts.issuer.clone())
            .fact("certificate.subject", facts.subject.clone())
            .fact("certificate.spki", facts.spki.to_string()),
        Reason::StillInMaintenance { spki } => evidence.fact("maintenance.spki", spki.to_string()),
        _ => evidence,
    }
}
