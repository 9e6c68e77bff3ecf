//! `etcd`: bootstrapped exactly once, and all control planes agree.

use std::time::Duration;

use engine::{ActError, Hands, SendError, Sight};
use events::{Because, Cause, Failure, IntentRef, Made, Verdict};
use futures::future::join_all;
use spec::plan::NodePlan;
use talos::client::{Bootstrap, ClientError, Reason, Stage};

use super::nodes::machine_of;
use crate::etcd_opinion::{self, Opinion, judge};
use crate::hetzner::explain;
use crate::{Site, codes, node_trouble};

/// Talos looks at a bootstrap for up to five seconds before it begins.
const ARRIVAL: Duration = Duration::from_secs(15);

/// Starts etcd on the one control plane that an earlier run or this one has chosen.
pub(super) async fn act(site: &Site, hands: &Hands) -> Result<(), ActError> {
    let first = site.control_planes().next().map(|node| node.name.clone()).unwrap_or_default();
    let chosen = hands.pin("bootstrap target", &first).await?;
    let node = site.control_planes().find(|node| node.name == chosen);
    let Some(node) = node else { return without(site, &chosen).await };
    let machine = machine_of(site, node).await?;
    let target = format!("{} ({})", node.name, machine.title);
    let accepted = format!("bootstrap of {target}");
    let call = Bootstrap { target: &target }.call();
    let was_accepted = hands.eyes().pinned(&accepted).is_some();
    let look = async |doubts: Vec<IntentRef>| {
        let maybe_sent = was_accepted || !doubts.is_empty();
        see(site, hands, node, maybe_sent).await
    };
    let at = site.talos(node).ok_or_else(|| Failure::transient("its address is not known yet"))?;
    let identity = site.talos_admin().clone();
    let name = target.clone();
    let send = move |permit| async move {
        let client = at.authenticated(&identity).await.map_err(|error| send_error(&error))?;
        match client.bootstrap(permit, &Bootstrap { target: &name }).await {
            // Where there is an etcd on this node, the gate tells whether it is ours.
            Ok(()) | Err(ClientError { reason: Reason::AlreadyBootstrapped, .. }) => {
                Ok(Made::default())
            }
            Err(error) => Err(send_error(&error)),
        }
    };
    let ensured = hands.ensure(call, look, send).await?;
    if matches!(ensured, engine::Ensured::Sent(_)) && !was_accepted {
        hands.pin(&accepted, "accepted").await?;
    }
    Ok(())
}

/// The node that etcd was started on is not in the file any more. Where others
/// are members, nothing has to be started; where none is, nothing may be.
async fn without(site: &Site, chosen: &str) -> Result<(), ActError> {
    for at in site.control_planes().filter_map(|node| site.talos(node)) {
        if etcd_opinion::members(at, site.talos_admin()).await.is_ok_and(|them| !them.is_empty()) {
            return Ok(());
        }
    }
    let message = format!("etcd was started on {chosen}, which the cluster file does not name");
    Err(Cause::new(codes::ETCD_NOT_RUNNING, message)
        .so("none of the control planes that it names is a member: a second etcd was not started")
        .next(explain(codes::ETCD_NOT_RUNNING), "tells more")
        .into())
}

/// Looks for an etcd of this cluster. Once a bootstrap may have been sent, an
/// etcd that is still preparing says nothing either way; its machine does.
async fn see(
    site: &Site,
    hands: &Hands,
    node: &NodePlan,
    maybe_sent: bool,
) -> Result<Sight, ActError> {
    for control_plane in site.control_planes() {
        let Some(at) = site.talos(control_plane) else { continue };
        if let Ok(members) = etcd_opinion::members(at, site.talos_admin()).await
            && !members.is_empty()
        {
            return Ok(Sight::There(Made::id("member", members[0].id.to_string())));
        }
    }
    let state = etcd_state(site, node).await.map_err(|error| unanswered(&error))?;
    let waits = state.as_deref().is_none_or(|state| matches!(state, "Preparing" | "Waiting"));
    if waits && (!maybe_sent || never_arrived(site, hands, node).await?) {
        return Ok(Sight::NotThere);
    }
    let state = state.unwrap_or_else(|| "unknown".to_owned());
    Ok(Sight::Unclear { because: format!("etcd on {} is {state}", node.name) })
}

/// Returns whether no bootstrap has reached the machine: it boots until its
/// etcd is told to begin, and runs from then on. One that was sent just before
/// is given its time, since a second one may break etcd for good.
async fn never_arrived(site: &Site, hands: &Hands, node: &NodePlan) -> Result<bool, ActError> {
    if machine_stage(site, node).await? != Some(Stage::Booting) {
        return Ok(false);
    }
    hands.eyes().clock().sleep(ARRIVAL / site.speed.unwrap_or(1).max(1)).await;
    Ok(machine_stage(site, node).await? == Some(Stage::Booting))
}

async fn machine_stage(site: &Site, node: &NodePlan) -> Result<Option<Stage>, ActError> {
    let Some(at) = site.talos(node) else { return Ok(None) };
    let status = async { at.authenticated(site.talos_admin()).await?.machine_status().await };
    Ok(Some(status.await.map_err(|error| unanswered(&error))?.stage))
}

fn unanswered(error: &ClientError) -> ActError {
    ActError::Failed(error.failure())
}

async fn etcd_state(site: &Site, node: &NodePlan) -> Result<Option<String>, ClientError> {
    let Some(at) = site.talos(node) else { return Ok(None) };
    etcd_opinion::state(&at, site.talos_admin()).await
}

fn send_error(error: &ClientError) -> SendError {
    let end = SendError::new(error.failure(), error.arrival);
    let wedged = error.reason == Reason::BootstrapWedged;
    end.named(wedged.then(|| {
        Cause::new(codes::ETCD_DATA_FOREIGN, "etcd on the bootstrap node cannot start")
            .because([error.reason.to_string()])
            .next(explain(codes::ETCD_DATA_FOREIGN), "tells more")
    }))
}

/// Looks whether every control plane sees the same members and the same leader.
pub(super) async fn look(site: &Site) -> Verdict {
    // All at once: one that does not answer must not make the others wait.
    let asked = site.control_planes().map(async |node| (node, opinion(site, node).await));
    let (mut opinions, mut absent): (Vec<Opinion>, Vec<&NodePlan>) = (Vec::new(), Vec::new());
    for (node, opinion) in join_all(asked).await {
        match opinion {
            Ok(Some(opinion)) => opinions.push(opinion),
            Ok(None) => absent.push(node),
            Err(error) => {
                return node_trouble::of(node, node_trouble::verdict(site, node, &error));
            }
        }
    }
    match absent.first() {
        None => judge(site.control_planes().count(), &opinions),
        Some(node) => not_running(site, node, &opinions).await,
    }
}

async fn not_running(site: &Site, node: &NodePlan, others: &[Opinion]) -> Verdict {
    let what = format!("etcd on {} does not run yet", node.name);
    let state = etcd_state(site, node).await.ok().flatten();
    let state = state.map(|state| format!("its service is {state}"));
    let cause = Cause::new(codes::ETCD_NOT_RUNNING, format!("etcd does not run on {}", node.name))
        .because(state)
        .because(others.iter().map(Opinion::line))
        .next(format!("talosctl -n {} service etcd", node.name), "shows what it waits for")
        .next(explain(codes::ETCD_NOT_RUNNING), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

async fn opinion(site: &Site, node: &NodePlan) -> Result<Option<Opinion>, ClientError> {
    let Some(at) = site.talos(node) else { return Ok(None) };
    Opinion::ask(at, site.talos_admin(), &node.name).await
}
