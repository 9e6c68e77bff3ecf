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
use crate::{Site, bundle, codes, node_trouble};

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
    if let Some(cause) = foreign(site, &seen, &Berth::maybe_known(eyes)) {
        return Verdict::failed(cause.so("nothing was sent to any machine").seen(evidence));
    }
    match seen.iter().find_map(|(node, sighting)| absent(node, sighting, ours.is_some())) {
        Some(verdict) => verdict,
        None => Verdict::ready(evidence),
    }
}

/// Says why machines have configs that are not ours. They are somebody else's,
/// unless this cluster has had them: then it has lost its bundle, or another one
/// stands in its place, which none of them takes.
fn foreign(site: &Site, seen: &[(&NodePlan, Sighting)], known: &[Berth]) -> Option<Cause> {
    let has_another =
        |mode: &Mode| matches!(mode, Mode::Configured(Owner::Somebody | Owner::Unknown));
    let foreign: Vec<_> = seen.iter().filter(|(_, it)| has_another(&it.mode)).collect();
    let (_, first) = foreign.first()?;
    let lines = foreign
        .iter()
        .map(|(node, _)| format!("{} at {} has a config already", node.name, node.address))
        .collect();
    if first.mode == Mode::Configured(Owner::Unknown) && !known.is_empty() {
        return Some(bundle::missing(site, lines));
    }
    let takes_ours = seen.iter().any(|(_, it)| it.mode == Mode::Configured(Owner::Us));
    let is_known = |node: &NodePlan| known.iter().any(|it| it.address == node.address);
    Some(match foreign.iter().find(|(node, _)| is_known(node)) {
        Some((_, shown)) if !takes_ours => bundle::replaced(site, lines, shown),
        _ => Cause::new(codes::NOT_OURS, "a machine belongs to another cluster")
            .because(lines)
            .next(explain(codes::NOT_OURS), "tells more"),
    })
}

/// Returns what to wait for where a machine does not answer. A worker that has
/// our config from an earlier run is closed until a control plane answers.
fn absent(node: &NodePlan, sighting: &Sighting, ran_before: bool) -> Option<Verdict> {
    let mode = &sighting.mode;
    let (why, code) = match mode {
        Mode::Maintenance | Mode::Configured(_) => return None,
        Mode::Unreachable(Reason::Refused) if ran_before => return None,
        Mode::Unreachable(reason) => {
            (reason.to_string(), node_trouble::named(&node.name, reason).0)
        }
        Mode::InTransition if sighting.is_faceless() => {
            (Reason::Closed.to_string(), codes::NODE_NOT_ANSWERING)
        }
        Mode::InTransition => ("it takes its config".to_owned(), codes::NODE_NOT_ANSWERING),
        Mode::NotTalos(why) => (why.clone(), codes::NOT_TALOS),
    };
    let what = format!("{} at {}: {why}", node.name, node.address);
    let cause = Cause::new(code, format!("{} cannot be reached", node.name))
        .because([what.clone()])
        .so([&sighting.means(), sighting.advice().unwrap_or_default()].join(" ").trim_end())
        .next(format!("seaworthy talos probe {}", node.address), "tells what answers there")
        .next(explain(code), "tells what to look at");
    Some(Verdict::not_yet(Because::new(what).in_the_end(cause)))
}
