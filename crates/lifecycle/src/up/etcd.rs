//! `etcd`: bootstrapped exactly once, and all control planes agree.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{ActError, Hands, SendError, Sight};
use events::{Because, Cause, Evidence, Failure, IntentRef, Made, Verdict};
use futures::future::join_all;
use spec::plan::NodePlan;
use talos::client::{Bootstrap, ClientError, EtcdMember, EtcdStatus, Reason, Stage};

use super::nodes::machine_of;
use crate::hetzner::explain;
use crate::{Site, codes, node_trouble};

/// A member that has not joined yet does not answer for as long as it is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// Talos looks at a bootstrap for up to five seconds before it begins.
const ARRIVAL: Duration = Duration::from_secs(15);

/// Starts etcd on the one control plane that an earlier run or this one has chosen.
pub(super) async fn act(site: &Site, hands: &Hands) -> Result<(), ActError> {
    let first = site.control_planes().next().map(|node| node.name.clone()).unwrap_or_default();
    let chosen = hands.pin("bootstrap target", &first).await?;
    let node = site.control_planes().find(|node| node.name == chosen);
    let node = node.ok_or_else(|| Failure::permanent(format!("{chosen} is not in the plan")))?;
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

/// Looks for an etcd of this cluster. Once a bootstrap may have been sent, an
/// etcd that is still preparing says nothing either way; its machine does.
async fn see(
    site: &Site,
    hands: &Hands,
    node: &NodePlan,
    maybe_sent: bool,
) -> Result<Sight, ActError> {
    for control_plane in site.control_planes() {
        if let Ok(members) = members(site, control_plane).await
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
    let services = at.authenticated(site.talos_admin()).await?.service_list().await?;
    let etcd = services.into_iter().find(|service| service.id == "etcd");
    Ok(etcd.map(|etcd| etcd.state))
}

async fn members(site: &Site, node: &NodePlan) -> Result<Vec<EtcdMember>, ClientError> {
    let Some(mut at) = site.talos(node) else { return Ok(Vec::new()) };
    at.deadlines.read = PATIENCE;
    // A question about members has no answer before etcd runs.
    if etcd_state(site, node).await?.as_deref() != Some("Running") {
        return Ok(Vec::new());
    }
    at.authenticated(site.talos_admin()).await?.etcd_members().await
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
    let (mut opinions, mut absent) = (Vec::new(), Vec::new());
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
        None => judge(site, &opinions),
        Some(node) => not_running(site, node, &opinions).await,
    }
}

async fn not_running(site: &Site, node: &NodePlan, others: &[Opinion<'_>]) -> Verdict {
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

struct Opinion<'a> {
    node: &'a NodePlan,
    members: Vec<EtcdMember>,
    status: EtcdStatus,
}

impl Opinion<'_> {
    fn line(&self) -> String {
        let names: Vec<_> = self.members.iter().map(|member| member.hostname.as_str()).collect();
        let leader = self.status.leader.map_or_else(|| "none".to_owned(), |id| format!("{id:x}"));
        format!("{} sees {} and the leader {leader}", self.node.name, names.join(", "))
    }
}

async fn opinion<'a>(site: &Site, node: &'a NodePlan) -> Result<Option<Opinion<'a>>, ClientError> {
    let members = members(site, node).await?;
    let Some(at) = site.talos(node).filter(|_| !members.is_empty()) else { return Ok(None) };
    let status = at.authenticated(site.talos_admin()).await?.etcd_status().await?;
    Ok(Some(Opinion { node, members, status }))
}

/// Talos tells no cluster id: equal members and an equal leader on every
/// control plane are the test against two clusters.
fn judge(site: &Site, opinions: &[Opinion<'_>]) -> Verdict {
    let ids = |opinion: &Opinion<'_>| {
        opinion.members.iter().map(|member| member.id).collect::<BTreeSet<_>>()
    };
    let sets: BTreeSet<_> = opinions.iter().map(ids).collect();
    let leaders: BTreeSet<_> = opinions.iter().map(|it| it.status.leader).collect();
    let wanted = site.control_planes().count();
    let learners = opinions.iter().any(|it| it.members.iter().any(|member| member.is_learner));
    let complete = sets.iter().all(|members| members.len() == wanted);
    let agreed = sets.len() == 1 && leaders.len() == 1 && !leaders.contains(&None);
    let mut evidence = Evidence::new("").fact("members", wanted);
    for opinion in opinions {
        evidence = evidence.fact(format!("seen by {}", opinion.node.name), opinion.line());
    }
    if complete && agreed && !learners {
        let leader = opinions.iter().find(|it| Some(it.status.member) == it.status.leader);
        let leader = leader.map_or("one", |it| it.node.name.as_str());
        let members = if wanted == 1 { "1 member".to_owned() } else { format!("{wanted} members") };
        evidence.summary = format!("{members}, leader {leader}");
        return Verdict::ready(evidence);
    }
    let seen = sets.iter().map(BTreeSet::len).max().unwrap_or(0);
    let what = match (complete, agreed) {
        (false, _) => format!("{seen} of {wanted} members have joined"),
        (true, false) => "the control planes do not agree about members or leader".to_owned(),
        (true, true) => "a member has no vote yet".to_owned(),
    };
    let cause = Cause::new(codes::ETCD_DISAGREES, format!("etcd: {what}"))
        .because(opinions.iter().map(Opinion::line))
        .seen(evidence)
        .next(explain(codes::ETCD_DISAGREES), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}
