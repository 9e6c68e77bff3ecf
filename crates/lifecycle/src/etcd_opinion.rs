//! What each control plane says of etcd, and whether they say the same.

use std::collections::BTreeSet;
use std::time::Duration;

use events::{Because, Cause, Evidence, Verdict};
use talos::client::{ClientError, EtcdMember, EtcdStatus, Node};
use talos::credentials::Identity;

use crate::codes;
use crate::hetzner::explain;

/// A member that has not joined yet does not answer for as long as it is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a control plane says of etcd.
pub(crate) struct Opinion {
    node: String,
    members: Vec<EtcdMember>,
    status: EtcdStatus,
}

impl Opinion {
    /// Asks a control plane; none where its etcd does not run.
    pub(crate) async fn ask(
        at: Node,
        identity: &Identity,
        name: &str,
    ) -> Result<Option<Self>, ClientError> {
        let members = members(at, identity).await?;
        if members.is_empty() {
            return Ok(None);
        }
        let status = at.authenticated(identity).await?.etcd_status().await?;
        Ok(Some(Self { node: name.to_owned(), members, status }))
    }

    /// Says it in a line.
    pub(crate) fn line(&self) -> String {
        let names: Vec<_> = self.members.iter().map(|member| member.hostname.as_str()).collect();
        let leader = self.status.leader.map_or_else(|| "none".to_owned(), |id| format!("{id:x}"));
        format!("{} sees {} and the leader {leader}", self.node, names.join(", "))
    }
}

/// Returns the members that a control plane knows; none where its etcd does
/// not run: a question about members has no answer then.
pub(crate) async fn members(
    mut at: Node,
    identity: &Identity,
) -> Result<Vec<EtcdMember>, ClientError> {
    at.deadlines.read = PATIENCE;
    if state(&at, identity).await?.as_deref() != Some("Running") {
        return Ok(Vec::new());
    }
    at.authenticated(identity).await?.etcd_members().await
}

/// Returns the state of the service.
pub(crate) async fn state(at: &Node, identity: &Identity) -> Result<Option<String>, ClientError> {
    let services = at.authenticated(identity).await?.service_list().await?;
    let etcd = services.into_iter().find(|service| service.id == "etcd");
    Ok(etcd.map(|etcd| etcd.state))
}

/// Talos tells no cluster id: equal members and an equal leader on every
/// control plane are the test against two clusters.
pub(crate) fn judge(wanted: usize, opinions: &[Opinion]) -> Verdict {
    let ids =
        |opinion: &Opinion| opinion.members.iter().map(|member| member.id).collect::<BTreeSet<_>>();
    let sets: BTreeSet<_> = opinions.iter().map(ids).collect();
    let leaders: BTreeSet<_> = opinions.iter().map(|it| it.status.leader).collect();
    let learners = opinions.iter().any(|it| it.members.iter().any(|member| member.is_learner));
    let complete = sets.iter().all(|members| members.len() == wanted);
    let agreed = sets.len() == 1 && leaders.len() == 1 && !leaders.contains(&None);
    let mut evidence = Evidence::new("").fact("members", wanted);
    for opinion in opinions {
        evidence = evidence.fact(format!("seen by {}", opinion.node), opinion.line());
    }
    if complete && agreed && !learners {
        let leader = opinions.iter().find(|it| Some(it.status.member) == it.status.leader);
        let leader = leader.map_or("one", |it| it.node.as_str());
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
