//! What a node says about its etcd.

use std::time::Duration;

use talos_proto::machine::{
    EtcdAlarm, EtcdMember, EtcdMemberAlarm, EtcdMemberStatus, EtcdMembers,
    etcd_member_alarm::AlarmType,
};
use tonic::Status;

use super::{Api, closing};
use crate::talos::{Etcd, EtcdMember as Member, server::Caller};

/// The version of etcd that the nodes run.
const VERSION: &str = "3.7.3";
const STORAGE_VERSION: &str = "3.7.0";

/// How long etcd looks for a leader on behalf of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(7);

/// The size of a young database.
const DATABASE: i64 = 4 << 20;

impl Api {
    /// Lists the members. Waits without end where there is no etcd yet, just
    /// as a node does.
    pub(super) async fn members(&self, caller: &Caller) -> Result<EtcdMembers, Status> {
        self.on_control_planes("member list")?;
        let etcd = self.agreed_etcd(caller).await?;
        Ok(EtcdMembers {
            metadata: None,
            legacy_members: etcd.members.iter().map(|member| member.hostname.clone()).collect(),
            members: etcd.members.iter().map(on_the_wire).collect(),
        })
    }

    /// Returns the state of the node's own member.
    pub(super) async fn member_status(&self, caller: &Caller) -> Result<EtcdMemberStatus, Status> {
        self.on_control_planes("etcd status")?;
        let (id, etcd) = self.sound_etcd(caller).await?;
        let own = etcd.members.iter().find(|member| member.id == id);
        // A disk that is slow is behind with what the others have agreed upon.
        let behind = u64::from(self.machine.knobs.borrow().disk_slowness.max(1) - 1);
        Ok(EtcdMemberStatus {
            protocol_version: VERSION.to_owned(),
            storage_version: STORAGE_VERSION.to_owned(),
            db_size: DATABASE,
            db_size_in_use: DATABASE / 2,
            leader: etcd.leader().unwrap_or_default(),
            raft_index: etcd.index,
            raft_term: etcd.term,
            raft_applied_index: etcd.index.saturating_sub(behind),
            errors: errors(&etcd),
            is_learner: own.is_some_and(|member| member.is_learner),
            member_id: id,
        })
    }

    /// Returns the alarms of all members.
    pub(super) async fn alarms(&self, caller: &Caller) -> Result<EtcdAlarm, Status> {
        self.on_control_planes("etcd alarm list")?;
        let (_, etcd) = self.sound_etcd(caller).await?;
        let no_space = |member_id| EtcdMemberAlarm { member_id, alarm: AlarmType::Nospace.into() };
        Ok(EtcdAlarm { metadata: None, member_alarms: etcd.full().map(no_space).collect() })
    }

    /// Who the members are is what a majority says: without a leader the
    /// question waits for one, until etcd gives it up.
    async fn agreed_etcd(&self, caller: &Caller) -> Result<Etcd, Status> {
        let (_, etcd) = self.sound_etcd(caller).await?;
        if etcd.leader().is_some() {
            return Ok(etcd);
        }
        let patience = self.machine.pass(REQUEST_TIMEOUT);
        caller.stop.run_until_cancelled(patience).await.ok_or_else(closing)?;
        let (_, etcd) = self.sound_etcd(caller).await?;
        let timed_out = || Status::unavailable("etcdserver: request timed out");
        etcd.leader().map(|_| etcd.clone()).ok_or_else(timed_out)
    }

    /// Waits for the node's etcd, and returns its member's id with it.
    pub(super) async fn sound_etcd(&self, caller: &Caller) -> Result<(u64, Etcd), Status> {
        let sound = self.machine.state_is(|state| state.services.is_healthy("etcd"));
        caller.stop.run_until_cancelled(sound).await.ok_or_else(closing)?;
        let state = self.machine.state();
        let (cluster, member) = state.cluster.as_ref().zip(state.member()).ok_or_else(closing)?;
        Ok((member.id, cluster.etcd_of(member)))
    }
}

/// Returns what any member says is wrong, in etcd's own words: every one tells the alarms
/// of all. They have a space at their end.
fn errors(etcd: &Etcd) -> Vec<String> {
    let leaderless = etcd.leader().is_none().then(|| "etcdserver: no leader".to_owned());
    let full = etcd.full().map(|id| format!("memberID:{id} alarm:NOSPACE "));
    leaderless.into_iter().chain(full).collect()
}

fn on_the_wire(member: &Member) -> EtcdMember {
    EtcdMember {
        id: member.id,
        hostname: member.hostname.clone(),
        peer_urls: vec![format!("https://{}:2380", member.address)],
        client_urls: vec![format!("https://{}:2379", member.address)],
        is_learner: member.is_learner,
    }
}
