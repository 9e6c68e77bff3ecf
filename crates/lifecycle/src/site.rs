//! What the stages of a run share: the plan, the clients, and what was learned
//! on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use addons::seal::SealingKey;
use clouds::hetzner::{Hetzner, Id, Image};
use clouds::machines::{Given, Machines};
use engine::{Chance, Hands};
use events::{Clock, Role, Secret, Unit, Verdict};
use peers::Proxies;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use spec::plan::{Hardware, NodePlan, Plan};
use talos::config::{InlineManifest, RegistryAccess};
use talos::credentials::{Identity, IdentityError};
use talos::pki::SpkiHash;
use talos::secrets::Bundle;

use crate::hetzner::{Clerk, Wanted};
use crate::lease::{Lease, Leases, Now};
use crate::{Invocation, MachinePatch, Manifest};

/// The place where a cluster is built.
///
/// What it learns is only a shortcut: a resumed run starts with none of it and
/// learns it again, because every stage looks before it acts.
pub struct Site {
    /// What is wanted.
    pub plan: Plan,
    /// What its nodes stand on.
    pub ground: Ground,
    /// The public addresses of this machine, for the firewall.
    pub mine: Vec<IpAddr>,
    /// The cluster's state folder.
    pub folder: PathBuf,
    /// Time.
    pub clock: Clock,
    /// Chance.
    pub chance: Chance,
    /// How the command was called, for commands that are printed.
    pub invocation: Invocation,
    /// How many times faster than real the cloud is, where it is simulated.
    pub speed: Option<u32>,
    /// The cloud's token, which the cluster's own controllers need too.
    pub token: Secret,
    /// The proxies of the environment.
    pub proxies: Arc<Proxies>,
    /// What the cluster follows.
    pub source: Option<Source>,
    /// Changes to machine configs, in this order.
    pub patches: Vec<MachinePatch>,
    /// Objects that Talos itself applies.
    pub inline_manifests: Vec<InlineManifest>,
    /// How nodes get into registries, by the host that is asked.
    pub registries: BTreeMap<String, RegistryAccess>,
    /// What is applied besides addons, in this order.
    pub manifests: Vec<Manifest>,
    /// The key of Sealed Secrets, where the cluster file names one.
    pub given_sealing_key: Option<SealingKey>,
    bundle: OnceLock<Bundle>,
    sealing_key: OnceLock<SealingKey>,
    talos_admin: OnceLock<Identity>,
    kubernetes_admin: OnceLock<Identity>,
    learned: Mutex<Learned>,
}

/// What the nodes of a cluster stand on.
#[expect(clippy::large_enum_variant, reason = "a process has one or two of them")]
#[derive(Clone, Debug)]
pub enum Ground {
    /// Servers that Hetzner makes.
    Hetzner(Hetzner),
    /// Machines that exist already and wait in maintenance mode.
    Machines(Machines),
}

/// A repository, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The folder in it.
    pub path: String,
    /// The newest commit of the branch, such as `main@sha1:4be1…`.
    pub revision: String,
    /// How often Flux looks, such as `1m0s`.
    pub interval: String,
    /// How Flux gets in.
    pub access: GitAccess,
}

/// How Flux gets into a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitAccess {
    /// Everybody may read it.
    Public,
    /// With an SSH key.
    Ssh {
        /// The private key; none where the cluster is to have one of its own.
        identity: Option<Secret>,
        /// The keys of the host, as OpenSSH writes them.
        known_hosts: String,
    },
    /// With a password or a token.
    Https {
        /// The user.
        username: String,
        /// The password.
        password: Secret,
    },
}

/// What was learned on the way.
#[derive(Default)]
struct Learned {
    images: BTreeMap<spec::Architecture, Id<Image>>,
    addresses: BTreeMap<String, IpAddr>,
    fingerprints: BTreeMap<String, SpkiHash>,
    leases: Leases,
    endpoint: Option<IpAddr>,
    /// Places and server types of which there are none.
    sold_out: BTreeSet<(String, String)>,
    /// The control plane that calls go to.
    api: Option<String>,
    kube: Option<(String, objects::Cluster)>,
}

impl Ground {
    /// The machines that a plan names.
    pub fn machines(plan: &Plan) -> Self {
        let given = |node: &NodePlan| Given {
            node: node.name.clone(),
            address: node.address,
            mac: match &node.hardware {
                Hardware::Machine { mac, .. } => mac.as_ref().map(ToString::to_string),
                Hardware::Server { .. } | Hardware::Vm { .. } => None,
            },
        };
        Self::Machines(plan.nodes.iter().map(given).collect())
    }
}

impl Site {
    /// A site on some ground.
    pub fn new(plan: Plan, ground: Ground, folder: &Path, clock: Clock, chance: Chance) -> Self {
        Self {
            plan,
            ground,
            mine: Vec::new(),
            folder: folder.to_owned(),
            clock,
            chance,
            invocation: Invocation::default(),
            speed: None,
            token: Secret::new(""),
            proxies: Arc::default(),
            source: None,
            patches: Vec::new(),
            inline_manifests: Vec::new(),
            registries: BTreeMap::new(),
            manifests: Vec::new(),
            given_sealing_key: None,
            bundle: OnceLock::new(),
            sealing_key: OnceLock::new(),
            talos_admin: OnceLock::new(),
            kubernetes_admin: OnceLock::new(),
            learned: Mutex::default(),
        }
    }

    /// Returns what the plan wants at Hetzner.
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted::by(&self.plan, &self.mine)
    }

    /// Returns who brings wishes to the cloud.
    pub(crate) fn clerk<'a>(&'a self, hands: &'a Hands) -> Clerk<'a> {
        Clerk { hands, hetzner: self.hetzner(), speed: self.speed }
    }

    /// Returns the cloud, for stages that only a cluster at Hetzner has.
    pub(crate) fn hetzner(&self) -> &Hetzner {
        match &self.ground {
            Ground::Hetzner(hetzner) => hetzner,
            Ground::Machines(_) => unreachable!("stages of Hetzner are left out for machines"),
        }
    }

    /// Returns where the secrets bundle lies.
    pub fn bundle_file(&self) -> PathBuf {
        self.folder.join("secrets.yaml")
    }

    /// Returns the secrets bundle, which the stage `secrets` has made or found.
    pub(crate) fn bundle(&self) -> &Bundle {
        self.bundle.get().expect("the stage `secrets` comes before all that need it")
    }

    /// Keeps the bundle, and makes what this run identifies itself with.
    pub(crate) fn keep_bundle(&self, bundle: Bundle) -> Result<(), IdentityError> {
        let (now, mut rng) = (self.clock.now(), self.rng());
        let talos = Identity::talos(&bundle, talos::credentials::Role::Admin, now, &mut rng)?;
        let kubernetes = Identity::kubernetes_admin(&bundle, now, &mut rng)?;
        // They never change within a run: whoever was first has the same ones.
        let _ = self.talos_admin.set(talos);
        let _ = self.kubernetes_admin.set(kubernetes);
        let _ = self.bundle.set(bundle);
        Ok(())
    }

    /// Returns the key of Sealed Secrets, once the stage `seal` has made or found it.
    pub(crate) fn sealing_key(&self) -> Option<&SealingKey> {
        self.sealing_key.get()
    }

    pub(crate) fn keep_sealing_key(&self, key: SealingKey) {
        let _ = self.sealing_key.set(key);
    }

    /// Returns what this run shows to nodes.
    pub(crate) fn talos_admin(&self) -> &Identity {
        self.talos_admin.get().expect("the stage `secrets` comes before all that need it")
    }

    /// Returns what this run shows to the Kubernetes API.
    pub(crate) fn kubernetes_admin(&self) -> &Identity {
        self.kubernetes_admin.get().expect("the stage `secrets` comes before all that need it")
    }

    /// Returns the same, where the stage `secrets` has passed.
    pub(crate) fn known_talos_admin(&self) -> Option<&Identity> {
        self.talos_admin.get()
    }

    /// Returns the same, where the stage `secrets` has passed.
    pub(crate) fn known_kubernetes_admin(&self) -> Option<&Identity> {
        self.kubernetes_admin.get()
    }

    /// Returns the Talos API of a node, once its address is known.
    pub(crate) fn talos(&self, node: &NodePlan) -> Option<talos::client::Node> {
        let address = self.address(&node.name)?;
        Some(talos::client::Node::at(SocketAddr::new(address, talos::client::Node::PORT)))
    }

    /// Marks what was seen where a simulator answered.
    pub(crate) fn marked(&self, mut verdict: Verdict) -> Verdict {
        if let Some(evidence) = verdict.evidence_mut().filter(|_| self.speed.is_some()) {
            evidence.simulated = true;
        }
        verdict
    }

    /// Returns randomness for keys.
    pub(crate) fn rng(&self) -> StdRng {
        StdRng::from_seed(self.chance.key())
    }

    /// Returns the node that a unit is about.
    pub(crate) fn node(&self, unit: &Unit) -> &NodePlan {
        let named =
            |node: &&NodePlan| unit.node.as_ref().is_some_and(|it| it.as_str() == node.name);
        self.plan.nodes.iter().find(named).expect("units are made from the plan's nodes")
    }

    pub(crate) fn control_planes(&self) -> impl Iterator<Item = &NodePlan> {
        self.plan.nodes.iter().filter(|node| node.role == Role::ControlPlane)
    }

    pub(crate) fn image(&self, architecture: spec::Architecture) -> Option<Id<Image>> {
        self.learned().images.get(&architecture).copied()
    }

    pub(crate) fn learn_image(&self, architecture: spec::Architecture, image: Id<Image>) {
        self.learned().images.insert(architecture, image);
    }

    /// Takes note that a server type is sold out at a place; false where that was known.
    pub(crate) fn learn_sold_out(&self, offer: &(String, String)) -> bool {
        self.learned().sold_out.insert(offer.clone())
    }

    /// Returns the address that a node is reached by, once its server runs.
    pub(crate) fn address(&self, node: &str) -> Option<IpAddr> {
        self.learned().addresses.get(node).copied()
    }

    pub(crate) fn learn_address(&self, node: &str, address: IpAddr) {
        self.learned().addresses.insert(node.to_owned(), address);
    }

    /// Returns the fingerprint of the machine whose identity was proven.
    pub(crate) fn fingerprint(&self, node: &str) -> Option<SpkiHash> {
        self.learned().fingerprints.get(node).copied()
    }

    pub(crate) fn learn_fingerprint(&self, node: &str, spki: SpkiHash) {
        self.learned().fingerprints.insert(node.to_owned(), spki);
    }

    /// Says what speaks against a node with such a lease.
    pub(crate) fn stale_lease(&self, node: &str, lease: Lease) -> Option<String> {
        self.learned().leases.stale(node, lease, Now::by(self.clock))
    }

    /// Returns the address of the load balancer, once there is one.
    pub(crate) fn endpoint(&self) -> Option<IpAddr> {
        self.learned().endpoint
    }

    pub(crate) fn learn_endpoint(&self, address: IpAddr) {
        self.learned().endpoint = Some(address);
    }

    /// Returns the control plane that answered last.
    pub(crate) fn api(&self) -> Option<String> {
        self.learned().api.clone()
    }

    pub(crate) fn learn_api(&self, server: &str) {
        self.learned().api = Some(server.to_owned());
    }

    /// Returns the client for a control plane, where there is one already.
    pub(crate) fn kube(&self, server: &str) -> Option<objects::Cluster> {
        let learned = self.learned();
        let (of, cluster) = learned.kube.as_ref()?;
        (of == server).then(|| cluster.clone())
    }

    pub(crate) fn keep_kube(&self, server: &str, cluster: objects::Cluster) {
        self.learned().kube = Some((server.to_owned(), cluster));
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
