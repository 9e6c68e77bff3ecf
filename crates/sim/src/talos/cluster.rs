//! What the nodes of one cluster share: where trustd is, etcd, and knowing each
//! other.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::watch;

use super::{Etcd, EtcdMember, MachineConfig, MachineType, NodeFacts};

/// All the clusters of a world, by their id.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    by_id: Arc<Mutex<BTreeMap<String, Cluster>>>,
}

/// The side of a cluster that its nodes see; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    state: Arc<watch::Sender<State>>,
    /// The addresses of the control planes that sign certificates: apart from
    /// the rest, since every worker waits for one and for nothing else.
    ///
    /// A real worker has them from the endpoint of its configuration or from
    /// discovery. Endpoints of simulated clusters may be names that nobody
    /// resolves, so the nodes find each other here.
    trustd: Arc<watch::Sender<BTreeSet<Ipv4Addr>>>,
}

/// A node as the others of its cluster know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The name that it has given itself, of letters and digits.
    pub id: String,
    /// Its hostname.
    pub hostname: String,
    /// What kind of node it is.
    pub machine_type: MachineType,
    /// Its addresses.
    pub addresses: Vec<String>,
    /// The version of Talos that it runs.
    pub version: String,
}

/// Which member of which etcd a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Membership {
    etcd: usize,
    pub(super) id: u64,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// The nodes that run, by their address.
    peers: BTreeMap<String, Peer>,
    etcds: Vec<Etcd>,
    /// Counts members that ever were, so that no id comes twice.
    generation: u64,
}

impl Clusters {
    /// Returns the cluster that a configuration belongs to.
    pub fn of(&self, config: &MachineConfig) -> Cluster {
        let mut clusters = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.entry(config.cluster.id.clone()).or_default().clone()
    }

    /// Returns every cluster with its id.
    pub fn all(&self) -> Vec<(String, Cluster)> {
        let clusters = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.iter().map(|(id, cluster)| (id.clone(), cluster.clone())).collect()
    }
}

impl Cluster {
    /// Returns the nodes that run, by their address.
    pub fn peers(&self) -> Vec<Peer> {
        self.state.borrow().peers.values().cloned().collect()
    }

    /// Returns each etcd that was bootstrapped and that some node still has the
    /// data of; there should be one.
    pub fn etcds(&self) -> Vec<Etcd> {
        self.state.borrow().etcds.iter().filter(|etcd| !etcd.is_gone()).cloned().collect()
    }

    /// Returns how many etcds are gone with all that was in them.
    pub fn lost_etcds(&self) -> usize {
        self.state.borrow().etcds.iter().filter(|etcd| etcd.is_gone()).count()
    }

    /// Tells of every change.
    pub(super) fn changes(&self) -> watch::Receiver<impl Sized + use<>> {
        self.state.subscribe()
    }

    /// A node is there.
    pub(super) fn enter(&self, node: &NodeFacts, peer: Peer) {
        self.state.send_modify(|state| drop(state.peers.insert(node.address.to_string(), peer)));
    }

    /// A node has gone or restarts, with all that it did for the others.
    pub(super) fn leave(&self, node: &NodeFacts) {
        let address = node.address.to_string();
        self.state.send_modify(|state| drop(state.peers.remove(&address)));
        self.trustd.send_if_modified(|trustd| trustd.remove(&node.address));
    }

    /// A control plane signs certificates from now on.
    pub(super) fn open_trustd(&self, node: &NodeFacts) {
        self.trustd.send_if_modified(|trustd| trustd.insert(node.address));
    }

    /// Returns the control planes that sign certificates, and tells of every
    /// change.
    pub(super) fn signers(&self) -> watch::Receiver<BTreeSet<Ipv4Addr>> {
        self.trustd.subscribe()
    }

    /// Starts a new etcd with a node as its first member.
    pub(super) fn begin_etcd(&self, hostname: &str, address: &str) -> Membership {
        let mut begun = None;
        self.state.send_modify(|state| begun = Some(state.begin(hostname, address)));
        begun.expect("send_modify calls its closure")
    }

    /// Joins the etcd that is there as a member without a vote; nothing where
    /// none takes members now, and then nobody is told of a change: those who
    /// wait for one would wake each other without end.
    pub(super) fn join_etcd(&self, hostname: &str, address: &str) -> Option<Membership> {
        let mut joined = None;
        self.state.send_if_modified(|state| {
            joined = state.join(hostname, address);
            joined.is_some()
        });
        joined
    }

    /// Changes the etcd that a member is in.
    pub(super) fn change_etcd(&self, member: Membership, change: impl FnOnce(&mut Etcd, u64)) {
        self.state.send_modify(|state| {
            if let Some(etcd) = state.etcds.get_mut(member.etcd) {
                change(etcd, member.id);
            }
        });
    }

    /// Returns the etcd that a member is in.
    pub(super) fn etcd_of(&self, member: Membership) -> Etcd {
        self.state.borrow().etcds.get(member.etcd).cloned().unwrap_or_default()
    }
}

impl State {
    fn begin(&mut self, hostname: &str, address: &str) -> Membership {
        let member = self.newcomer(hostname, address);
        let membership = Membership { etcd: self.etcds.len(), id: member.id };
        self.etcds.push(Etcd::begin(member));
        membership
    }

    fn join(&mut self, hostname: &str, address: &str) -> Option<Membership> {
        let etcd = self.etcds.iter().position(Etcd::takes_members)?;
        let member = self.newcomer(hostname, address);
        let membership = Membership { etcd, id: member.id };
        self.etcds[etcd].learn(member);
        Some(membership)
    }

    fn newcomer(&mut self, hostname: &str, address: &str) -> EtcdMember {
        self.generation += 1;
        EtcdMember::new("etcd", hostname, address, self.generation)
    }
}
