//! Whether there is an etcd of this cluster already: looked for on every control
//! plane before one is begun, because a second one would be empty.

use std::time::Duration;

use engine::{ActError, Hands, Sight};
use events::{Failure, Made};
use futures::future::join_all;
use spec::plan::NodePlan;
use talos::client::{ClientError, EtcdMember, Service};

use super::etcd::ask;
use super::etcd_wait::waits_for_etcd;
use crate::etcd_opinion::{Said, is_coming};
use crate::{Site, etcd_verdict, node_trouble};

/// Talos looks at a bootstrap for up to five seconds before it begins.
const ARRIVAL: Duration = Duration::from_secs(15);

/// What is known of earlier bootstraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    /// Whether this machine has got one.
    pub(super) begun_here: Begun,
    /// Another machine has accepted one: there was an etcd once.
    pub(super) begun_elsewhere: bool,
}

/// Whether a bootstrap has begun an etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// None was sent, or none has arrived.
    No,
    /// One was sent, and nobody knows what came of it.
    Maybe,
    /// One was accepted: there was an etcd once.
    Yes,
}

impl Past {
    fn has_had_etcd(self) -> bool {
        self.begun_elsewhere || self.begun_here == Begun::Yes
    }
}

/// A control plane, and what it said.
type Heard<'a> = (&'a NodePlan, Result<Said, ClientError>);

/// Looks for an etcd of this cluster. Once a bootstrap may have been sent, an
/// etcd that is still preparing says nothing either way; its machine does.
pub(super) async fn see(
    site: &Site,
    hands: &Hands,
    target: &NodePlan,
    past: Past,
) -> Result<Sight, ActError> {
    let heard = hear(site).await;
    if let Some(member) = member(&heard) {
        return Ok(Sight::There(Made::id("member", member.id.to_string())));
    }
    has_leader(&heard)?;
    for heard in heard.iter().filter(|(node, _)| node.name != target.name) {
        has_none(site, heard, past).await?;
    }
    of_target(site, hands, target, past, heard).await
}

/// Looks for an etcd of this cluster where the machine that it was begun on is
/// not there to be asked. Says whether any control plane is a member; who is not
/// seen to hold none is looked at again.
pub(super) async fn see_without(site: &Site) -> Result<bool, ActError> {
    let heard = hear(site).await;
    if member(&heard).is_some() {
        return Ok(true);
    }
    has_leader(&heard)?;
    let past = Past { begun_here: Begun::No, begun_elsewhere: true };
    for heard in &heard {
        has_none(site, heard, past).await?;
    }
    Ok(false)
}

/// Asks all control planes.
async fn hear(site: &Site) -> Vec<Heard<'_>> {
    join_all(site.control_planes().map(async |node| (node, ask(site, node).await))).await
}

/// Returns a member of the etcd that somebody sees.
fn member<'a>(heard: &'a [Heard<'_>]) -> Option<&'a EtcdMember> {
    heard.iter().find_map(|(_, said)| match said {
        Ok(Said::Opinion(opinion)) => opinion.members.first(),
        _ => None,
    })
}

/// Makes sure that a control plane holds no etcd. Where there was one, a machine
/// with its data is on its way too, right after its start.
async fn has_none(site: &Site, heard: &Heard<'_>, past: Past) -> Result<(), ActError> {
    let (node, said) = heard;
    match said {
        Err(error) => Err(unheard(site, node, error)),
        Ok(Said::Idle(etcd)) if !is_coming(etcd.as_ref()) => Err(odd(node, etcd.as_ref())),
        Ok(Said::Idle(etcd)) if past.has_had_etcd() && !waits_for_etcd(site, node).await? => {
            Err(odd(node, etcd.as_ref()))
        }
        Ok(_) => Ok(()),
    }
}

/// Judges by the one control plane that a bootstrap goes to.
async fn of_target(
    site: &Site,
    hands: &Hands,
    target: &NodePlan,
    past: Past,
    heard: Vec<Heard<'_>>,
) -> Result<Sight, ActError> {
    let said = heard.into_iter().find(|(node, _)| node.name == target.name);
    let etcd = match said {
        Some((_, Ok(Said::Idle(etcd)))) => etcd,
        Some((_, Err(error))) => return Err(unheard(site, target, &error)),
        _ => None,
    };
    if is_coming(etcd.as_ref()) {
        match past.begun_here {
            Begun::Maybe | Begun::Yes if !never_arrived(site, hands, target).await? => {}
            _ if past.has_had_etcd() => return Err(gone(target)),
            _ => return Ok(Sight::NotThere),
        }
    }
    let state = etcd.map_or_else(|| "unknown".to_owned(), |etcd| etcd.state);
    Ok(Sight::Unclear { because: format!("etcd on {} is {state}", target.name) })
}

/// An etcd without a leader is an etcd: it has just begun, or it has lost most
/// of its members.
fn has_leader(heard: &[Heard<'_>]) -> Result<(), ActError> {
    let mute = heard.iter().filter(|(_, said)| matches!(said, Ok(Said::NoLeader)));
    let mute: Vec<_> = mute.map(|(node, _)| node.name.as_str()).collect();
    if mute.is_empty() {
        return Ok(());
    }
    let failure = Failure::transient(format!("etcd on {} knows no leader", mute.join(", ")));
    Err(ActError::not_yet(failure, etcd_verdict::quorum_lost(&mute)))
}

/// Who does not answer may hold an etcd.
pub(super) fn unheard(site: &Site, node: &NodePlan, error: &ClientError) -> ActError {
    let what = format!("{} does not say whether it runs etcd: {}", node.name, error.reason);
    let failure = Failure::transient(what);
    ActError::not_yet(failure, node_trouble::cause(site, node, error))
}

/// There was an etcd, and its first machine waits for a bootstrap as if it were
/// new: it was wiped, or it is new and the one before took all along. Whether an
/// empty one may take its place is for people to decide, and whoever has decided
/// so bootstraps by hand; until the deadline that is seen.
fn gone(target: &NodePlan) -> ActError {
    let at = target.address.to_string();
    let what = format!("etcd was begun on {}, and no control plane has it now", target.name);
    ActError::not_yet(Failure::transient(what), etcd_verdict::gone(&target.name, &at))
}

/// Etcd has run there, or was stopped: it may have data.
fn odd(node: &NodePlan, etcd: Option<&Service>) -> ActError {
    let state = etcd.map_or("unknown", |etcd| etcd.state.as_str());
    let failure = Failure::transient(format!("etcd on {} is {state}", node.name));
    let at = node.address.to_string();
    ActError::not_yet(failure, etcd_verdict::not_running(&node.name, &at, etcd, &[]))
}

/// Returns whether no bootstrap has reached the machine. One that was sent just
/// before is given its time, since a second one may break etcd for good.
async fn never_arrived(site: &Site, hands: &Hands, node: &NodePlan) -> Result<bool, ActError> {
    if !waits_for_etcd(site, node).await? {
        return Ok(false);
    }
    hands.eyes().clock().sleep(ARRIVAL / site.speed.unwrap_or(1).max(1)).await;
    waits_for_etcd(site, node).await
}
