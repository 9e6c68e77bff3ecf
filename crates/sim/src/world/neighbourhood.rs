//! What is around the nodes of a world: their clusters, and Kubernetes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::ClusterInventory;
use super::kubernetes::Kubernetes;
use super::lives::Lives;
use crate::talos::{Cluster, Clusters, MachineConfig, NodeFacts, Surroundings};
use crate::tenants::{self, Cloud};
use crate::{Clock, Effects, Tempo};

/// What is around the nodes of a world.
pub(super) struct Neighbourhood {
    tempo: Tempo,
    clock: Clock,
    effects: Effects,
    lives: Lives,
    clusters: Clusters,
    /// What was kept in an etcd that is gone is gone too: a cluster that is
    /// built again has another Kubernetes.
    kubernetes: Mutex<BTreeMap<Life, Kubernetes>>,
    /// The cloud, which starts after its neighbourhood.
    cloud: OnceLock<Arc<dyn Cloud>>,
    knobs: Mutex<tenants::Knobs>,
}

/// A cluster by its id, and how many etcds it has lost.
type Life = (String, usize);

impl Neighbourhood {
    pub(super) fn new(
        (tempo, clock): (Tempo, Clock),
        effects: Effects,
        lives: Lives,
        knobs: tenants::Knobs,
    ) -> Self {
        Self {
            tempo,
            clock,
            effects,
            lives,
            clusters: Clusters::default(),
            kubernetes: Mutex::default(),
            cloud: OnceLock::new(),
            knobs: Mutex::new(knobs),
        }
    }

    /// Changes what is wrong inside the clusters, those to come included.
    pub(super) fn turn(&self, turn: impl FnOnce(&mut tenants::Knobs)) {
        let mut knobs = self.knobs();
        turn(&mut knobs);
        for kubernetes in self.all().values() {
            kubernetes.turn(knobs.clone());
        }
    }

    fn knobs(&self) -> MutexGuard<'_, tenants::Knobs> {
        self.knobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what the clusters' own controllers reach the cloud by.
    pub(super) fn is_in(&self, cloud: Arc<dyn Cloud>) {
        let _ = self.cloud.set(cloud);
    }

    /// A machine is gone for good. Kubernetes ends with the last of its machines.
    pub(super) fn gone(&self, node: &NodeFacts) {
        self.all().retain(|_, kubernetes| kubernetes.outlives(node));
    }

    /// Returns what there is in every cluster.
    pub(super) fn inventory(&self) -> Vec<ClusterInventory> {
        let kubernetes = self.all();
        let inventory = |(id, cluster): (String, Cluster)| {
            let now = kubernetes.get(&(id, cluster.lost_etcds()));
            let objects = now.map(Kubernetes::objects).unwrap_or_default();
            ClusterInventory { etcds: cluster.etcds(), objects }
        };
        self.clusters.all().into_iter().map(inventory).collect()
    }

    /// Does something with the Kubernetes of a configuration's cluster, which
    /// begins with its first node.
    fn kubernetes<T>(
        &self,
        config: &MachineConfig,
        use_it: impl FnOnce(&mut Kubernetes) -> T,
    ) -> T {
        // Who turns knobs has them first and the clusters then, too.
        let knobs = self.knobs();
        let mut all = self.all();
        let begin = || {
            let cloud = self.cloud.get().expect("servers run only once the cloud has started");
            let (effects, lives) = (self.effects.clone(), self.lives.clone());
            let time = (self.tempo, self.clock.clone());
            Kubernetes::begin(time, effects, lives, Arc::clone(cloud), knobs.clone())
        };
        let life = (config.cluster.id.clone(), self.clusters.of(config).lost_etcds());
        use_it(all.entry(life).or_insert_with(begin))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Life, Kubernetes>> {
        self.kubernetes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Surroundings for Neighbourhood {
    fn cluster(&self, config: &MachineConfig) -> Cluster {
        self.clusters.of(config)
    }

    fn control_plane_up(&self, node: &NodeFacts, config: &Arc<MachineConfig>) {
        self.kubernetes(config, |it| it.serve(node, config));
    }

    fn kubelet_up(&self, node: &NodeFacts, hostname: &str, config: &Arc<MachineConfig>) {
        self.kubernetes(config, |it| it.join(node, hostname, config));
    }

    fn kubernetes_down(&self, node: &NodeFacts) {
        let mut all = self.all();
        all.values_mut().for_each(|kubernetes| kubernetes.leave(node));
        // Controllers of a Kubernetes whose etcd is gone would go on in the cloud.
        let lost: BTreeMap<_, _> =
            self.clusters.all().into_iter().map(|(id, it)| (id, it.lost_etcds())).collect();
        all.retain(|(id, life), _| lost.get(id).is_none_or(|lost| lost == life));
    }
}

impl fmt::Debug for Neighbourhood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Neighbourhood").field("lives", &self.lives).finish_non_exhaustive()
    }
}
