//! Simulated etcd: who is a member, and who leads.

use sha2::{Digest, Sha256};

/// One member of an etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdMember {
    /// Its id.
    pub id: u64,
    /// The node that it runs on.
    pub hostname: String,
    /// The address that the other members reach it at.
    pub address: String,
    /// Whether it has no vote yet.
    pub is_learner: bool,
    /// Whether it runs.
    pub running: bool,
    /// Whether its data was wiped, which the others do not know.
    pub wiped: bool,
    /// Whether its database has reached its limit, which is an alarm to all.
    pub is_full: bool,
}

/// One etcd: the members that know each other.
///
/// Bootstrapping a second control plane makes a second one, which is the split
/// brain that a real cluster suffers too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Etcd {
    /// Its members, in the order in which they came.
    pub members: Vec<EtcdMember>,
    /// How often a leader was chosen.
    pub term: u64,
    /// How many entries the log has.
    pub index: u64,
    leader: Option<u64>,
}

impl EtcdMember {
    /// A member that has just started on a node.
    pub(super) fn new(cluster: &str, hostname: &str, address: &str, generation: u64) -> Self {
        Self {
            id: id(&[cluster, hostname, address], generation),
            hostname: hostname.to_owned(),
            address: address.to_owned(),
            is_learner: false,
            running: true,
            wiped: false,
            is_full: false,
        }
    }
}

impl Etcd {
    /// Starts an etcd with its first member.
    pub(super) fn begin(first: EtcdMember) -> Self {
        let mut etcd = Self { members: vec![first], term: 1, index: 4, leader: None };
        etcd.elect();
        etcd
    }

    /// Adds a member that does not vote yet.
    pub(super) fn learn(&mut self, member: EtcdMember) {
        self.members.push(EtcdMember { is_learner: true, ..member });
        self.index += 1;
    }

    /// Gives a member its vote.
    pub(super) fn promote(&mut self, id: u64) {
        self.change(id, |member| member.is_learner = false);
    }

    /// A member has stopped or runs again.
    pub(super) fn set_running(&mut self, id: u64, running: bool) {
        self.change(id, |member| member.running = running);
    }

    /// A member has lost its data, and never comes back.
    pub(super) fn wipe(&mut self, id: u64) {
        self.change(id, |member| (member.running, member.wiped) = (false, true));
    }

    /// A member has reached the limit of its database, or has room again.
    pub(super) fn set_full(&mut self, id: u64, is_full: bool) {
        if self.full().any(|it| it == id) != is_full {
            self.change(id, |member| member.is_full = is_full);
        }
    }

    /// Returns the members that have raised the alarm that they have no room.
    pub(super) fn full(&self) -> impl Iterator<Item = u64> {
        self.members.iter().filter(|member| member.is_full).map(|member| member.id)
    }

    /// Says whether nobody has its data any more.
    pub(super) fn is_gone(&self) -> bool {
        self.members.iter().all(|member| member.wiped)
    }

    /// Takes a member out.
    pub(super) fn remove(&mut self, id: u64) {
        self.members.retain(|member| member.id != id);
        self.index += 1;
        self.elect();
    }

    /// Returns the member that leads, where a majority runs.
    pub fn leader(&self) -> Option<u64> {
        self.leader
    }

    /// Says whether a new member can be taken in: there is a leader, and the
    /// last newcomer has learned all.
    pub(super) fn takes_members(&self) -> bool {
        self.leader.is_some() && !self.members.iter().any(|member| member.is_learner)
    }

    fn change(&mut self, id: u64, change: impl FnOnce(&mut EtcdMember)) {
        if let Some(member) = self.members.iter_mut().find(|member| member.id == id) {
            change(member);
            self.index += 1;
        }
        self.elect();
    }

    fn elect(&mut self) {
        let voters: Vec<_> = self.members.iter().filter(|member| !member.is_learner).collect();
        let running: Vec<_> = voters.iter().filter(|member| member.running).collect();
        let quorum = running.len() * 2 > voters.len();
        let stays = running.iter().find(|member| Some(member.id) == self.leader);
        let chosen = stays.or(running.first()).filter(|_| quorum).map(|member| member.id);
        if chosen.is_some() && chosen != self.leader {
            self.term += 1;
        }
        self.leader = chosen;
    }
}

/// Makes an id as etcd does: from a digest of what a member is.
fn id(parts: &[&str], generation: u64) -> u64 {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
        digest.update([0]);
    }
    digest.update(generation.to_be_bytes());
    let bytes = digest.finalize();
    bytes.iter().take(8).fold(0, |id, byte| id << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(hostname: &str) -> EtcdMember {
        EtcdMember::new("demo", hostname, "10.0.64.2", 0)
    }

    #[test]
    fn a_majority_of_the_voters_has_a_leader() {
        let mut etcd = Etcd::begin(member("cp-1"));
        let first = etcd.members[0].id;
        assert_eq!(etcd.leader(), Some(first));
        for hostname in ["cp-2", "cp-3"] {
            etcd.learn(member(hostname));
            assert!(!etcd.takes_members(), "one newcomer at a time");
            etcd.promote(etcd.members.last().unwrap().id);
        }
        let second = etcd.members[1].id;
        etcd.set_running(first, false);
        assert_eq!(etcd.leader(), Some(second));
        assert_eq!(etcd.term, 3);
        etcd.set_running(second, false);
        assert_eq!(etcd.leader(), None, "one of three is no majority");
        etcd.set_running(first, true);
        assert_eq!(etcd.leader(), Some(first));
    }

    #[test]
    fn an_etcd_is_gone_with_the_last_of_its_data() {
        let mut etcd = Etcd::begin(member("cp-1"));
        etcd.learn(member("cp-2"));
        let [first, second] = [etcd.members[0].id, etcd.members[1].id];
        etcd.promote(second);
        etcd.wipe(first);
        assert_eq!(etcd.leader(), None, "the other one waits for it");
        assert!(!etcd.is_gone());
        etcd.wipe(second);
        assert!(etcd.is_gone());
    }
}
