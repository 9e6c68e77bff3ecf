//! What each control plane says of etcd.

use std::time::Duration;

use talos::client::{ClientError, EtcdMember, EtcdStatus, Node, Service};
use talos::credentials::Identity;

/// A member that has not joined yet does not answer for as long as it is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// What Talos says of an etcd that it has stopped for a bootstrap.
const STOPPED: (&str, &str) = ("Finished", "Bootstrap requested");

/// What a control plane says of its etcd.
pub(crate) enum Said {
    /// It is a member.
    Opinion(Opinion),
    /// It runs, and knows no leader: who the members are, only a majority tells.
    NoLeader,
    /// It does not run. So is its service, where there is one.
    Idle(Option<Service>),
}

/// What a control plane that is a member says of etcd.
pub(crate) struct Opinion {
    pub(crate) node: String,
    pub(crate) members: Vec<EtcdMember>,
    pub(crate) status: EtcdStatus,
}

impl Said {
    /// Asks a control plane.
    pub(crate) async fn by(at: Node, identity: &Identity, name: &str) -> Result<Self, ClientError> {
        let mut hurried = at;
        hurried.deadlines.read = PATIENCE;
        let client = hurried.authenticated(identity).await?;
        let service = client.service_list().await?.into_iter().find(|it| it.id == "etcd");
        if service.as_ref().is_none_or(|service| service.state != "Running") {
            return Ok(Self::Idle(service));
        }
        let members = client.etcd_members().await;
        let status = at.authenticated(identity).await?.etcd_status().await;
        match (members, status) {
            (Ok(members), _) if members.is_empty() => Ok(Self::Idle(service)),
            (Ok(members), Ok(status)) => {
                Ok(Self::Opinion(Opinion { node: name.to_owned(), members, status }))
            }
            (Err(_), Ok(EtcdStatus { leader: None, .. })) => Ok(Self::NoLeader),
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
        }
    }
}

impl Opinion {
    /// Says it in a line.
    pub(crate) fn line(&self) -> String {
        let names: Vec<_> = self.members.iter().map(|member| member.hostname.as_str()).collect();
        let leader = self.status.leader.map_or_else(|| "none".to_owned(), |id| format!("{id:x}"));
        format!("{} sees {} and the leader {leader}", self.node, names.join(", "))
    }

    /// Returns the member that the control plane is itself.
    pub(crate) fn own(&self) -> Option<&EtcdMember> {
        self.members.iter().find(|member| member.id == self.status.member)
    }
}

/// Returns whether a bootstrap has stopped etcd, and nothing has started it
/// again. The first bootstrap does so for a moment; a second one, that comes
/// while etcd begins, for good.
pub(crate) fn is_stopped(etcd: Option<&Service>) -> bool {
    etcd.is_some_and(|etcd| (etcd.state.as_str(), etcd.last_event.as_str()) == STOPPED)
}

/// Returns whether etcd is still on its way to its start, or waits to be
/// bootstrapped or taken in: it has not run since the machine started.
pub(crate) fn is_coming(etcd: Option<&Service>) -> bool {
    let state = etcd.map_or("", |etcd| etcd.state.as_str());
    matches!(state, "" | "Initialized" | "Starting" | "Waiting" | "Preparing")
}

#[cfg(test)]
impl Opinion {
    /// What the control plane of a number says that sees so many members, led by the
    /// first.
    pub(crate) fn sample(of: u64, members: u64) -> Self {
        let member = |id| EtcdMember {
            id,
            hostname: format!("cp-{id}"),
            peer_urls: vec![format!("https://10.0.0.{id}:2380")],
            client_urls: Vec::new(),
            is_learner: false,
        };
        let status = EtcdStatus {
            member: of,
            leader: Some(1),
            raft_term: 1,
            raft_index: 1,
            raft_applied_index: 1,
            is_learner: false,
            db_size: 1,
            errors: Vec::new(),
        };
        Self { node: format!("10.0.0.{of}"), members: (1..=members).map(member).collect(), status }
    }
}
