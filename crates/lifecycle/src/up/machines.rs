//! Machines that exist already: nobody makes them, so they are only looked at.

use std::net::SocketAddr;
use std::time::Duration;

use engine::Eyes;
use events::{Because, Cause, Evidence, Verdict};
use futures::future::join_all;
use spec::plan::NodePlan;
use talos::client::{Node, Reason};
use talos::probe::{Mode, Owner, Sighting, probe};

use crate::berth::Berth;
use crate::hetzner::explain;
use crate::{Site, bundle, codes};

/// How long a machine may take to show itself.
const LOOK: Duration = Duration::from_secs(5);

/// Looks at all machines at once, before any of them is touched. What belongs
/// to somebody else ends it; what does not answer yet may still come.
pub(super) async fn preflight(site: &Site, eyes: &Eyes) -> Verdict {
    let bundle = match bundle::find(site) {
        Ok(bundle) => bundle,
        Err(cause) => return Verdict::failed(*cause),
    };
    let ours = bundle.as_ref().map(|bundle| bundle.os.certificate());
    let looks = site.plan.nodes.iter().map(async |node| {
        let address = SocketAddr::new(node.address.into(), Node::PORT);
        (node, probe(address, ours, LOOK).await)
    });
    let seen = join_all(looks).await;
    let mut evidence = Evidence::new(match seen.len() {
        1 => "1 machine".to_owned(),
        count => format!("{count} machines"),
    });
    for (node, sighting) in &seen {
        evidence = evidence.fact(node.name.clone(), sighting.mode.word());
    }
    let foreign: Vec<String> = seen.iter().filter_map(foreign).collect();
    if !foreign.is_empty() {
        let had_bundle = ours.is_some() || Berth::known(eyes).is_empty();
        return Verdict::failed(not_ours(site, had_bundle, foreign).seen(evidence));
    }
    match seen.iter().find_map(|(node, sighting)| absent(node, sighting, ours.is_some())) {
        Some(verdict) => verdict,
        None => Verdict::ready(evidence),
    }
}

fn foreign((node, sighting): &(&NodePlan, Sighting)) -> Option<String> {
    let has_another = matches!(sighting.mode, Mode::Configured(Owner::Somebody | Owner::Unknown));
    has_another.then(|| format!("{} at {} has a config already", node.name, node.address))
}

/// A machine with a config that is not ours is somebody else's, unless this
/// cluster had a bundle once and has none now.
fn not_ours(site: &Site, had_bundle: bool, foreign: Vec<String>) -> Cause {
    let file = site.bundle_file();
    let (code, message) = if had_bundle {
        (codes::NOT_OURS, "a machine belongs to another cluster".to_owned())
    } else {
        (codes::BUNDLE_LOST, format!("{} is missing, and machines have configs", file.display()))
    };
    Cause::new(code, message)
        .because(foreign)
        .so("nothing was sent to any machine")
        .next(explain(code), "tells more")
}

/// Returns what to wait for where a machine does not answer. A worker that has
/// our config from an earlier run is closed until a control plane answers.
fn absent(node: &NodePlan, sighting: &Sighting, ran_before: bool) -> Option<Verdict> {
    let (why, code) = match &sighting.mode {
        Mode::Maintenance | Mode::Configured(_) => return None,
        Mode::Unreachable(Reason::Refused) if ran_before => return None,
        Mode::Unreachable(Reason::Refused) => (Reason::Refused.to_string(), codes::NODE_REFUSES),
        Mode::InTransition => ("it takes its config".to_owned(), codes::NODE_REFUSES),
        Mode::Unreachable(reason) => (reason.to_string(), codes::NODE_UNREACHABLE),
        Mode::NotTalos(why) => (why.clone(), codes::NODE_UNREACHABLE),
    };
    let what = format!("{} at {}: {why}", node.name, node.address);
    let cause = Cause::new(code, format!("{} cannot be reached", node.name))
        .because([what.clone()])
        .next(format!("seaworthy talos probe {}", node.address), "tells what answers there")
        .next(explain(code), "tells what to look at");
    Some(Verdict::not_yet(Because::new(what).in_the_end(cause)))
}
