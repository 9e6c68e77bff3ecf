//! A simulated cluster on a loopback port, with a kubeconfig.

use rig::Kubectl;
use rig::pki::{Authority, Identity};
use sim::kube::kubelet::{NodeSettings, Trouble};
use sim::kube::{Kube, Server, server_config};
use sim::{Clock, Effects, Tempo};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// A cluster that lives as long as this does.
pub(crate) struct Cluster {
    pub(crate) kube: Kube,
    pub(crate) effects: Effects,
    pub(crate) address: String,
    pub(crate) authority: Authority,
    pub(crate) dir: TempDir,
    pub(crate) runtime: Runtime,
}

impl Cluster {
    /// Starts a cluster with its controllers, and no node.
    pub(crate) fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let authority = Authority::new("cluster").unwrap();
        let pair = authority.server("kube-apiserver", &["127.0.0.1".to_owned()]).unwrap();
        let certificate = &authority.pair().certificate;
        let tls = server_config(&pair.certificate, &pair.key, certificate).unwrap();
        let kube = Kube::empty(Clock::real(), 7);
        let effects = Effects::default();
        let server = Server::new(kube.clone(), effects.clone(), "v1.36.3", certificate).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        runtime.spawn(async move { server.serve(listener, tls).await });
        let controllers = kube.clone();
        runtime.spawn(async move { controllers.run_controllers(Tempo::INSTANT).await });
        let dir = tempfile::tempdir().unwrap();
        Self { kube, effects, address, authority, dir, runtime }
    }

    /// Lets a node join.
    pub(crate) fn join(&self, name: &str, number: u8, trouble: Trouble) {
        let (address, prefix) = (format!("10.0.64.{number}"), format!("10.244.{number}"));
        let node = NodeSettings::new(name, &address, &prefix);
        let (kube, (_, trouble)) = (self.kube.clone(), watch::channel(trouble));
        self.runtime.spawn(async move { kube.run_kubelet(node, Tempo::INSTANT, trouble).await });
    }

    /// Returns the kubeconfig of a user of some group.
    pub(crate) fn kubeconfig(&self, user: &str, group: Option<&str>) -> String {
        let client = self.authority.client(Identity { user, group }).unwrap();
        let certificate = &self.authority.pair().certificate;
        rig::kubeconfig::kubeconfig(&self.address, certificate, &client)
    }

    /// Returns kubectl as a user of some group.
    pub(crate) fn kubectl_as(&self, user: &str, group: Option<&str>) -> Option<Kubectl> {
        let binary = rig::need::binary("kubectl")?;
        let path = self.dir.path().join(format!("{user}.kubeconfig"));
        std::fs::write(&path, self.kubeconfig(user, group)).unwrap();
        Some(Kubectl::new(&binary, &path))
    }

    /// Returns kubectl as the administrator.
    pub(crate) fn kubectl(&self) -> Option<Kubectl> {
        self.kubectl_as("admin", Some("system:masters"))
    }
}
