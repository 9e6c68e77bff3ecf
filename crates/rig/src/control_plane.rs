//! A real control plane on loopback ports: etcd, kube-apiserver, controller
//! manager, scheduler.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rcgen::KeyPair;
use thiserror::Error;

use crate::access::Access;
use crate::builder::{self, BuildError};
use crate::component::component;
use crate::daemon::{Daemon, DaemonError};
use crate::kubeconfig::kubeconfig;
use crate::kubectl::Kubectl;
use crate::pki::{Authority, Identity, Pair};
use crate::run::{Run, RunError};
use crate::settings::Settings;

/// How long a component may take to be ready. It takes a few seconds on quiet
/// cores; tests run beside compilers.
const PATIENCE: Duration = Duration::from_mins(2);

/// The user of the proxy's certificate; the API server believes the identities
/// that it passes on.
const FRONT_PROXY: &str = "rig-proxy";

/// The names under which the API server is reached, from pods too.
const SERVING_HOSTS: [&str; 5] = [
    "127.0.0.1",
    "10.96.0.1",
    "localhost",
    "kubernetes.default",
    "kubernetes.default.svc",
];

/// A control plane that this process owns; dropping it takes it away.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped in this order: what writes goes before what it writes to.
    daemons: Vec<Daemon>,
    access: Access,
    authority: Authority,
    run: Run,
}

/// Why a control plane or a node did not come up.
#[derive(Debug, Error)]
pub enum StartError {
    /// A component is neither given nor built.
    #[error("{name} {version} is not built; `cargo xtask rig` builds it")]
    NotBuilt {
        /// The component.
        name: String,
        /// Its version.
        version: String,
    },
    /// A component could not be looked for.
    #[error(transparent)]
    Find(#[from] BuildError),
    /// A daemon is not up.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// The run could not be kept.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Certificates could not be made.
    #[error("could not make the certificates")]
    Certificates(#[from] rcgen::Error),
    /// The control plane's files could not be read back.
    #[error("could not read the control plane's kubeconfig")]
    Access(#[from] std::io::Error),
}

impl ControlPlane {
    /// Starts a control plane of its own and waits until it is ready.
    pub fn start() -> Result<Self, StartError> {
        let mut run = Run::start()?;
        let port = run.port()?;
        let authority = Authority::new("rig")?;
        let server = format!("https://127.0.0.1:{port}");
        let admin = Identity {
            user: "rig-admin",
            group: Some("system:masters"),
        };
        let admin = kubeconfig(
            &server,
            &authority.pair().certificate,
            &authority.client(admin)?,
        );
        run.write("kubeconfig", admin)?;
        let access = Access::open(run.dir(), &binary("kubectl")?)?;
        let mut plane = Self {
            daemons: Vec::new(),
            access,
            authority,
            run,
        };
        plane.write_credentials()?;
        let etcd = plane.start_etcd()?;
        plane.start_api_server(port, &etcd)?;
        plane.start_controllers()?;
        Ok(plane)
    }

    /// Returns how to reach it.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns kubectl, as administrator.
    pub fn kubectl(&self) -> &Kubectl {
        self.access.kubectl()
    }

    /// Returns the authority that signs its certificates.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns a kubeconfig for a client of this control plane.
    pub(crate) fn kubeconfig_for(&self, identity: Identity<'_>) -> Result<String, StartError> {
        let client = self.authority.client(identity)?;
        let authority = &self.authority.pair().certificate;
        Ok(kubeconfig(self.access.server(), authority, &client))
    }

    fn write_credentials(&self) -> Result<(), StartError> {
        self.run.folder("pki")?;
        let hosts = SERVING_HOSTS.map(str::to_owned);
        let kubelet = Identity {
            user: "kube-apiserver",
            group: Some("system:masters"),
        };
        self.write_pair("ca", self.authority.pair())?;
        self.write_pair(
            "apiserver",
            &self.authority.server("kube-apiserver", &hosts)?,
        )?;
        self.write_pair("kubelet-client", &self.authority.client(kubelet)?)?;
        // An authority of its own: a certificate of the other one would make
        // the proxy a user, instead of somebody who may speak for users.
        let front_proxy = Authority::new("rig-front-proxy")?;
        let proxy = Identity {
            user: FRONT_PROXY,
            group: None,
        };
        self.write_pair("front-proxy-ca", front_proxy.pair())?;
        self.write_pair("proxy-client", &front_proxy.client(proxy)?)?;
        self.write_pair("proxy", &self.authority.server(FRONT_PROXY, &hosts)?)?;
        let accounts = KeyPair::generate()?;
        self.run
            .write("pki/accounts.key", accounts.serialize_pem())?;
        self.run
            .write("pki/accounts.pub", accounts.public_key_pem())?;
        for name in ["kube-controller-manager", "kube-scheduler"] {
            let user = format!("system:{name}");
            let config = self.kubeconfig_for(Identity {
                user: &user,
                group: None,
            })?;
            self.run.write(&format!("{name}.kubeconfig"), config)?;
        }
        Ok(())
    }

    fn write_pair(&self, name: &str, pair: &Pair) -> Result<(), RunError> {
        self.run
            .write(&format!("pki/{name}.crt"), &pair.certificate)?;
        self.run.write(&format!("pki/{name}.key"), &pair.key)?;
        Ok(())
    }

    /// Starts etcd and returns its address. It loses data in a power cut, and
    /// that is all the same to a test.
    fn start_etcd(&mut self) -> Result<String, StartError> {
        let (client, peer) = (self.run.port()?, self.run.port()?);
        let client = format!("http://127.0.0.1:{client}");
        let peer = format!("http://127.0.0.1:{peer}");
        let mut etcd = Command::new(binary("etcd")?);
        etcd.args([
            "--name=rig",
            "--unsafe-no-fsync",
            "--logger=zap",
            "--log-level=warn",
        ]);
        etcd.arg(flag("data-dir", self.run.path("etcd").display()));
        etcd.arg(flag("listen-client-urls", &client))
            .arg(flag("advertise-client-urls", &client));
        etcd.arg(flag("listen-peer-urls", &peer))
            .arg(flag("initial-advertise-peer-urls", &peer));
        etcd.arg(flag("initial-cluster", format!("rig={peer}")));
        let mut daemon = Daemon::start(&mut self.run, "etcd", etcd)?;
        let address = client.trim_start_matches("http://").to_owned();
        daemon.wait_until(PATIENCE, || connects(&address))?;
        self.daemons.insert(0, daemon);
        Ok(client)
    }

    fn start_api_server(&mut self, port: u16, etcd: &str) -> Result<(), StartError> {
        let pki = self.run.path("pki");
        let file = |name: &str| pki.join(name).display().to_string();
        let mut server = Command::new(binary("kube-apiserver")?);
        server
            .arg(flag("etcd-servers", etcd))
            .arg("--bind-address=127.0.0.1")
            .arg(flag("secure-port", port))
            .arg(flag("tls-cert-file", file("apiserver.crt")))
            .arg(flag("tls-private-key-file", file("apiserver.key")))
            .arg(flag("client-ca-file", file("ca.crt")))
            .arg(flag(
                "requestheader-client-ca-file",
                file("front-proxy-ca.crt"),
            ))
            .arg(flag("requestheader-allowed-names", FRONT_PROXY))
            .arg("--requestheader-username-headers=X-Remote-User")
            .arg("--requestheader-group-headers=X-Remote-Group")
            .arg("--requestheader-extra-headers-prefix=X-Remote-Extra-")
            .arg(flag("kubelet-certificate-authority", file("ca.crt")))
            .arg(flag(
                "kubelet-client-certificate",
                file("kubelet-client.crt"),
            ))
            .arg(flag("kubelet-client-key", file("kubelet-client.key")))
            .arg("--kubelet-preferred-address-types=InternalIP")
            .arg("--service-account-issuer=https://kubernetes.default.svc")
            .arg(flag("service-account-key-file", file("accounts.pub")))
            .arg(flag(
                "service-account-signing-key-file",
                file("accounts.key"),
            ))
            .arg("--service-cluster-ip-range=10.96.0.0/16")
            .arg("--authorization-mode=Node,RBAC")
            .arg("--enable-admission-plugins=NodeRestriction")
            .arg("--allow-privileged=true")
            // Nothing but loopback could be advertised, and that is refused.
            .arg("--endpoint-reconciler-type=none");
        let mut daemon = Daemon::start(&mut self.run, "kube-apiserver", server)?;
        let kubectl = self.access.kubectl();
        daemon.wait_until(PATIENCE, || ready(kubectl, &["get", "--raw", "/readyz"]))?;
        self.daemons.insert(0, daemon);
        Ok(())
    }

    fn start_controllers(&mut self) -> Result<(), StartError> {
        let (mut manager, _) = self.controller("kube-controller-manager")?;
        let pki = self.run.path("pki");
        let file = |name: &str| pki.join(name).display().to_string();
        manager
            .arg(flag("root-ca-file", file("ca.crt")))
            .arg(flag(
                "service-account-private-key-file",
                file("accounts.key"),
            ))
            .arg(flag("cluster-signing-cert-file", file("ca.crt")))
            .arg(flag("cluster-signing-key-file", file("ca.key")))
            .arg("--use-service-account-credentials=true")
            // Its own restraint, meant for large clusters, costs seconds at
            // the start: every controller fetches a token and discovers.
            .args(["--kube-api-qps=500", "--kube-api-burst=1000"]);
        let (scheduler, port) = self.controller("kube-scheduler")?;
        let mut manager = Daemon::start(&mut self.run, "kube-controller-manager", manager)?;
        let mut scheduler = Daemon::start(&mut self.run, "kube-scheduler", scheduler)?;
        let kubectl = self.access.kubectl();
        // The service account controller's work shows that controllers run;
        // no pod is admitted before it.
        let account = ["-n", "default", "get", "serviceaccount", "default"];
        manager.wait_until(PATIENCE, || ready(kubectl, &account))?;
        let server = format!("--server=https://127.0.0.1:{port}");
        let health = [
            &server,
            "--insecure-skip-tls-verify",
            "get",
            "--raw",
            "/readyz",
        ];
        scheduler.wait_until(PATIENCE, || ready(kubectl, &health))?;
        self.daemons.insert(0, manager);
        self.daemons.insert(0, scheduler);
        Ok(())
    }

    /// Returns what controller manager and scheduler have in common, and the
    /// port. With one of each there is nothing to elect, and an election costs
    /// seconds.
    fn controller(&mut self, name: &str) -> Result<(Command, u16), StartError> {
        let port = self.run.port()?;
        let kubeconfig = self.run.path(format!("{name}.kubeconfig"));
        let mut command = Command::new(binary(name)?);
        command.args(["--bind-address=127.0.0.1", "--leader-elect=false"]);
        command
            .arg(flag("secure-port", port))
            .arg(flag("kubeconfig", kubeconfig.display()));
        command.arg(flag("cert-dir", self.run.path("pki").join(name).display()));
        Ok((command, port))
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // All at once, so that their graces do not add up.
        for daemon in &self.daemons {
            daemon.ask_to_end();
        }
    }
}

/// Returns the binary of a component that must already be there.
pub(crate) fn binary(name: &str) -> Result<PathBuf, StartError> {
    let component = component(name).expect("the rig asks for what its catalogue has");
    match builder::find(component, Settings::get())? {
        Some(found) => Ok(found.path().to_owned()),
        None => Err(StartError::NotBuilt {
            name: component.name.clone(),
            version: component.version.clone(),
        }),
    }
}

pub(crate) fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

/// Says whether kubectl gets an answer; if not, why.
pub(crate) fn ready(kubectl: &Kubectl, args: &[&str]) -> Result<(), String> {
    let args: Vec<&str> = ["--request-timeout=5s"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    kubectl
        .run(&args)
        .map(drop)
        .map_err(|error| error.to_string())
}

fn connects(address: &str) -> Result<(), String> {
    let connected = std::net::TcpStream::connect(address);
    connected
        .map(drop)
        .map_err(|error| format!("{address}: {error}"))
}
