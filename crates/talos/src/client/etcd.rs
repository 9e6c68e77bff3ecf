//! What a control plane says about etcd.

use talos_proto::machine as proto;

use super::reply::only;
use super::{Client, ClientError, Reason};

/// A member of the etcd cluster, as one node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdMember {
    /// Its id.
    pub id: u64,
    /// The node that it runs on; empty until it has started.
    pub hostname: String,
    /// Where the other members reach it.
    pub peer_urls: Vec<String>,
    /// Where clients reach it.
    pub client_urls: Vec<String>,
    /// Whether it has no vote yet.
    pub is_learner: bool,
}

/// The state of a node's own etcd member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdStatus {
    /// Its id.
    pub member: u64,
    /// The id of the member that leads; none while there is no leader.
    pub leader: Option<u64>,
    /// The term of that leader.
    pub raft_term: u64,
    /// The last entry of its log.
    pub raft_index: u64,
    /// The last entry that it has applied.
    pub raft_applied_index: u64,
    /// Whether it has no vote yet.
    pub is_learner: bool,
    /// The size of its database in bytes.
    pub db_size: i64,
    /// What is wrong with it.
    pub errors: Vec<String>,
}

impl Client {
    /// Lists the members of etcd as the node's own member sees them. Before
    /// the bootstrap there is no answer, only the deadline.
    pub async fn etcd_members(&self) -> Result<Vec<EtcdMember>, ClientError> {
        self.ask("list the members of etcd", async {
            // Of its own member, so that each node's opinion can be compared.
            let request = proto::EtcdMemberListRequest { query_local: true };
            let answer = self.machine().etcd_member_list(self.question(request)).await;
            let list = only(self.answer(answer)?.messages)?;
            Ok(list.members.into_iter().map(EtcdMember::of).collect())
        })
        .await
    }

    /// Asks for the state of the node's own member.
    pub async fn etcd_status(&self) -> Result<EtcdStatus, ClientError> {
        self.ask("ask for the state of etcd", async {
            let answer = self.machine().etcd_status(self.question(())).await;
            let status = only(self.answer(answer)?.messages)?.member_status;
            let missing = || Reason::Nonsense("no state of a member in it".to_owned());
            status.map(EtcdStatus::of).ok_or_else(missing)
        })
        .await
    }
}

impl EtcdMember {
    fn of(member: proto::EtcdMember) -> Self {
        Self {
            id: member.id,
            hostname: member.hostname,
            peer_urls: member.peer_urls,
            client_urls: member.client_urls,
            is_learner: member.is_learner,
        }
    }
}

impl EtcdStatus {
    fn of(status: proto::EtcdMemberStatus) -> Self {
        Self {
            member: status.member_id,
            leader: Some(status.leader).filter(|leader| *leader != 0),
            raft_term: status.raft_term,
            raft_index: status.raft_index,
            raft_applied_index: status.raft_applied_index,
            is_learner: status.is_learner,
            db_size: status.db_size,
            errors: status.errors,
        }
    }
}
