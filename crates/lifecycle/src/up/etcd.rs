//! `etcd`: bootstrapped exactly once, and all control planes agree.

use engine::{ActError, Ensured, Hands, SendError};
use events::{Because, Cause, Failure, IntentRef, Made, Verdict};
use futures::future::join_all;
use spec::plan::NodePlan;
use talos::client::{Bootstrap, ClientError, Reason};

use super::etcd_sight::{Begun, Past, see, see_without};
use super::nodes::machine_of;
use crate::etcd_opinion::Said;
use crate::etcd_verdict::Known;
use crate::hetzner::explain;
use crate::node_trouble::Asked;
use crate::{Site, codes, etcd_verdict, machine, node_trouble};

/// Under which names it is pinned whose bootstrap was accepted, or has come true.
const ACCEPTED: &str = "bootstrap of ";

/// Starts etcd on the one control plane that an earlier run or this one has chosen.
pub(super) async fn act(site: &Site, hands: &Hands) -> Result<(), ActError> {
    let first = site.control_planes().next().map(|node| node.name.clone()).unwrap_or_default();
    let chosen = hands.pin("bootstrap target", &first).await?;
    let node = site.control_planes().find(|node| node.name == chosen);
    let Some(node) = node else { return without(site, &chosen).await };
    let machine = machine_of(site, node).await?;
    let target = machine::target(&node.name, &machine);
    let accepted = format!("{ACCEPTED}{target}");
    let call = Bootstrap { target: &target }.call();
    let was_accepted = hands.eyes().pinned(&accepted).is_some();
    let maybe_sent = hands.may_have_arrived(&call);
    let begun = hands.eyes().pinned_under(ACCEPTED);
    let begun_elsewhere = begun.iter().any(|(machine, _)| *machine != target);
    let look = async |doubts: Vec<IntentRef>| {
        let begun_here = match (maybe_sent, doubts.is_empty()) {
            _ if was_accepted => Begun::Yes,
            (false, _) => Begun::No,
            (true, false) => Begun::Maybe,
            (true, true) => Begun::Yes,
        };
        see(site, hands, node, Past { begun_here, begun_elsewhere }).await
    };
    let at = site.talos(node).ok_or_else(|| Failure::transient("its address is not known yet"))?;
    let identity = site.talos_admin().clone();
    let (asked, name) = (Asked::new(site, &node.name), target.clone());
    let send = move |permit| async move {
        let client = at.authenticated(&identity).await.map_err(|error| unsent(&asked, &error))?;
        match client.bootstrap(permit, &Bootstrap { target: &name }).await {
            // Where there is an etcd on this node, the gate tells whether it is ours.
            Ok(()) | Err(ClientError { reason: Reason::AlreadyBootstrapped, .. }) => {
                Ok(Made::default())
            }
            Err(error) => Err(unsent(&asked, &error)),
        }
    };
    let ensured = hands.ensure(call, look, send).await?;
    // What came of one that is still pending, the next run sees.
    if !was_accepted && !matches!(ensured, Ensured::Pending(_)) {
        hands.pin(&accepted, "accepted").await?;
    }
    Ok(())
}

/// The node that etcd was started on is not in the file any more. Where others
/// are members, nothing has to be started; where none is, nothing may be.
async fn without(site: &Site, chosen: &str) -> Result<(), ActError> {
    if see_without(site).await? {
        return Ok(());
    }
    let message = format!("etcd was started on {chosen}, which the cluster file does not name");
    Err(Cause::new(codes::ETCD_NOT_RUNNING, message)
        .so("none of the control planes that it names is a member: a second etcd was not started")
        .next(explain(codes::ETCD_NOT_RUNNING), "tells more")
        .into())
}

/// A bootstrap that comes too early can be sent again; what it waits for has a
/// name where it is still so in the end.
fn unsent(asked: &Asked, error: &ClientError) -> SendError {
    let end = asked.unsent(error.class(), error);
    match error.reason {
        Reason::BootstrapWedged => end.named(Some(etcd_verdict::wedged(&asked.name, &asked.at))),
        Reason::TimeNotInSync => end.in_the_end(Some(clock_not_set(asked, error))),
        _ => end,
    }
}

fn clock_not_set(asked: &Asked, error: &ClientError) -> Cause {
    let message = format!("the clock of {} is not in sync", asked.name);
    Cause::new(codes::CLOCK_NOT_IN_SYNC, message)
        .because([format!("{error}: {}", error.reason)])
        .so("etcd is not started before a time server has set the clock")
        .next(format!("talosctl -n {} time", asked.at), "shows what it gets from which server")
        .next(explain(codes::CLOCK_NOT_IN_SYNC), "tells more")
}

/// Looks whether every control plane sees the same members and the same leader.
pub(super) async fn look(site: &Site) -> Verdict {
    // All at once: one that does not answer must not make the others wait.
    let asked = site.control_planes().map(async |node| (node, ask(site, node).await));
    let (mut opinions, mut absent, mut mute) = (Vec::new(), Vec::new(), Vec::new());
    for (node, said) in join_all(asked).await {
        match said {
            Ok(Said::Opinion(opinion)) => opinions.push(opinion),
            Ok(Said::NoLeader) => mute.push(node.name.as_str()),
            Ok(Said::Idle(etcd)) => absent.push((node, etcd)),
            Err(error) => {
                return node_trouble::of(node, node_trouble::verdict(site, node, &error));
            }
        }
    }
    if !mute.is_empty() {
        return etcd_verdict::leaderless(&mute);
    }
    if let Some(verdict) = etcd_verdict::strange(&opinions, &known(site)) {
        return verdict;
    }
    let Some((node, etcd)) = absent.first() else {
        return etcd_verdict::judge(site.control_planes().count(), &opinions);
    };
    let what = format!("etcd on {} does not run yet", node.name);
    let at = node.address.to_string();
    let cause = etcd_verdict::not_running(&node.name, &at, etcd.as_ref(), &opinions);
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// The control planes of the plan, at the addresses that they have for each
/// other and for us.
fn known(site: &Site) -> Known {
    let among_themselves = site.control_planes().map(|node| node.address.into());
    let from_here = site.control_planes().filter_map(|node| site.address(&node.name));
    Known {
        names: site.control_planes().map(|node| node.name.clone()).collect(),
        addresses: among_themselves.chain(from_here).collect(),
    }
}

/// Asks a control plane of its etcd.
pub(super) async fn ask(site: &Site, node: &NodePlan) -> Result<Said, ClientError> {
    match site.talos(node) {
        Some(at) => Said::by(at, site.talos_admin(), &node.name).await,
        None => Ok(Said::Idle(None)),
    }
}
