//! Whoever climbs: a bundle, an administrator, and the steps of the ladder.

use std::net::Ipv4Addr;
use std::time::Duration;

use events::Role as NodeRole;
use talos::client::{Applied, Apply, Bootstrap, Client, ClientError, Node, Reason};
use talos::config::{Cluster, Cni, Contract, Install, InstallDisk, KubeProxy, MachineConfig};
use talos::credentials::{Identity, Role};
use talos::probe::{Mode, Owner, probe};
use talos::secrets::Bundle;

use crate::ground::{Ground, api};
use crate::permits::Permits;
use crate::sample::{bundle, now, rng};

/// How long a real machine may take for one step, on a busy host.
const PATIENCE: Duration = Duration::from_mins(4);
const PAUSE: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_secs(5);

pub(crate) struct Climber {
    pub(crate) ground: Ground,
    pub(crate) bundle: Bundle,
    pub(crate) permits: Permits,
}

impl Climber {
    pub(crate) fn new(ground: Ground) -> Self {
        Self { ground, bundle: bundle(1), permits: Permits::new() }
    }

    pub(crate) fn identity(&self, role: Role) -> Identity {
        Identity::talos(&self.bundle, role, now(), &mut rng(5)).unwrap()
    }

    /// Switches a machine on and waits for maintenance mode.
    pub(crate) async fn machine(&mut self, name: &str) -> Ipv4Addr {
        let address = self.ground.machine(name);
        let node = api(address);
        until("maintenance mode", async || {
            let sighting = probe(node.address, None, LOOK).await;
            if sighting.mode == Mode::Maintenance { Ok(()) } else { Err(sighting.mode) }
        })
        .await;
        address
    }

    /// Writes the config of a machine with our own generator.
    pub(crate) fn config(&self, first: Ipv4Addr, name: &str, role: NodeRole) -> MachineConfig {
        let install = Install {
            disk: InstallDisk::Device("/dev/sda".to_owned()),
            image: format!("ghcr.io/siderolabs/installer:{}", self.ground.release().talos),
        };
        let node = talos::config::Node::new(role, name, install);
        let config = MachineConfig::render(&self.bundle, &self.cluster(first), &node).unwrap();
        let text = config.yaml().reveal();
        let mut documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(text).unwrap();
        for document in &mut documents {
            self.ground.adapt(document);
        }
        let written: Vec<_> = documents.iter().map(ToString::to_string).collect();
        MachineConfig::from_yaml(events::Secret::new(written.join("\n---\n")))
    }

    fn cluster(&self, first: Ipv4Addr) -> Cluster {
        let release = self.ground.release();
        Cluster {
            contract: Contract::of(release.talos).unwrap(),
            cni: Cni::None,
            kube_proxy: KubeProxy::Disabled,
            mirrors: self.ground.mirrors().into_iter().collect(),
            ..Cluster::new("ladder", release.kubernetes, &format!("https://{first}:6443"))
        }
    }

    /// Gives a machine its config.
    pub(crate) async fn apply(
        &self,
        client: &Client,
        config: &MachineConfig,
    ) -> Result<Applied, ClientError> {
        let target = client.address().to_string();
        let apply = Apply { target: &target, config };
        let permit = self.permits.for_call(apply.call()).await;
        client.apply_configuration(permit, &apply).await
    }

    /// Bootstraps, once. The target is the node's, so that no second permit
    /// would be given for the same life of it.
    pub(crate) async fn bootstrap(&self, client: &Client, target: &str) -> Result<(), ClientError> {
        let bootstrap = Bootstrap { target };
        let permit = self.permits.for_call(bootstrap.call()).await;
        client.bootstrap(permit, &bootstrap).await
    }

    /// Up to the second rung: a control plane that has its config.
    pub(crate) async fn configured(&mut self, name: &str) -> Ipv4Addr {
        let address = self.machine(name).await;
        let config = self.config(address, name, NodeRole::ControlPlane);
        let client = api(address).maintenance(None).await.unwrap();
        self.apply(&client, &config).await.unwrap();
        address
    }

    /// Up to the third rung: a control plane that lets its administrator in.
    pub(crate) async fn authenticated(&mut self, name: &str) -> (Ipv4Addr, Client) {
        let address = self.configured(name).await;
        (address, self.admin(address).await)
    }

    /// Waits until the administrator is let in, on a new connection.
    pub(crate) async fn admin(&self, address: Ipv4Addr) -> Client {
        let (node, admin) = (api(address), self.identity(Role::Admin));
        until("an administrator", async || {
            node.prove_admin(&admin).await.map_err(|error| error.reason)
        })
        .await;
        node.authenticated(&admin).await.unwrap()
    }

    /// Up to the fourth rung: an etcd of one member.
    pub(crate) async fn bootstrapped(&mut self, name: &str) -> (Ipv4Addr, Client) {
        let address = self.configured(name).await;
        (address, self.start_etcd(address).await)
    }

    /// Bootstraps a node that has its config, and waits for its etcd.
    pub(crate) async fn start_etcd(&self, address: Ipv4Addr) -> Client {
        let client = self.admin(address).await;
        self.begin_etcd(&client).await;
        self.etcd_is_sound(&client).await;
        client
    }

    /// Waits for an etcd that waits for its bootstrap.
    pub(crate) async fn etcd_waits(&self, client: &Client) {
        until("an etcd that waits", async || {
            let services = client.service_list().await.map_err(|error| error.to_string())?;
            let etcd = services.into_iter().find(|service| service.id == "etcd");
            let etcd = etcd.ok_or_else(|| "no etcd".to_owned())?;
            if etcd.state == "Preparing" { Ok(()) } else { Err(etcd.state) }
        })
        .await;
    }

    pub(crate) async fn etcd_is_sound(&self, client: &Client) {
        until("a sound etcd", async || {
            let services = client.service_list().await.map_err(|error| error.to_string())?;
            let etcd = services.into_iter().find(|service| service.id == "etcd").unwrap();
            let sound = etcd.health == talos::client::Health::Healthy;
            if sound { Ok(()) } else { Err(format!("{etcd:?}")) }
        })
        .await;
    }

    /// Looks before it sends, and sends again only what was refused.
    pub(crate) async fn begin_etcd(&self, client: &Client) {
        let mut attempt = 0;
        until("a bootstrap", async || {
            let services = client.service_list().await.map_err(|error| error.to_string())?;
            let etcd = services.iter().find(|service| service.id == "etcd");
            let state = etcd.map(|etcd| etcd.state.as_str());
            if !matches!(state, Some("Preparing" | "Waiting")) {
                return Err(format!("{state:?}"));
            }
            attempt += 1;
            let target = format!("{} {attempt}", client.address());
            match self.bootstrap(client, &target).await {
                Ok(()) => Ok(()),
                Err(ClientError { reason: reason @ Reason::NotYetAvailable(_), .. }) => {
                    Err(reason.to_string())
                }
                Err(error) => panic!("{}", error.failure()),
            }
        })
        .await;
    }

    /// Waits until the node shows a certificate of our authority and insists
    /// on ours.
    pub(crate) async fn left_maintenance(&self, node: Node) {
        until("the configured mode", async || {
            let sighting = probe(node.address, Some(self.bundle.os.certificate()), LOOK).await;
            let done = sighting.mode == Mode::Configured(Owner::Us);
            if done { Ok(sighting) } else { Err(sighting.mode) }
        })
        .await;
    }
}

/// Asks until there is an answer.
#[expect(clippy::disallowed_methods, reason = "a test polls the world as a client would")]
pub(crate) async fn until<T, E: std::fmt::Debug>(
    what: &str,
    mut ask: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let began = std::time::Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(why) => assert!(began.elapsed() < PATIENCE, "{what}: {why:?}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
