//! A real control plane on loopback ports: etcd, kube-apiserver, controller
//! manager, scheduler.

mod credentials;
mod daemons;

use std::path::PathBuf;

use thiserror::Error;

use crate::access::Access;
use crate::builder::{self, BuildError};
use crate::component::component;
use crate::daemon::{Daemon, DaemonError};
use crate::kubeconfig::kubeconfig;
use crate::kubectl::Kubectl;
use crate::pki::{Authority, Identity};
use crate::run::{Run, RunError};
use crate::settings::Settings;

/// A control plane that this process owns; dropping it takes it away.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped in this order: what writes goes before what it writes to.
    daemons: Vec<Daemon>,
    access: Access,
    authority: Authority,
    /// The API server's port and etcd's address, for when it has to start again.
    serving: (u16, String),
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
        let admin = Identity { user: "rig-admin", group: Some("system:masters") };
        let admin = kubeconfig(&server, &authority.pair().certificate, &authority.client(admin)?);
        run.write("kubeconfig", admin)?;
        let access = Access::open(run.dir(), &binary("kubectl")?)?;
        let serving = (port, String::new());
        let mut plane = Self { daemons: Vec::new(), access, authority, serving, run };
        plane.write_credentials()?;
        plane.serving.1 = plane.start_etcd()?;
        plane.start_api_server()?;
        plane.start_controllers()?;
        Ok(plane)
    }

    /// Kills the API server as a crash would: connections break, and nothing
    /// listens until [`start_api_server`](Self::start_api_server).
    pub fn kill_api_server(&mut self) {
        let is_server = |daemon: &mut Daemon| daemon.name() == "kube-apiserver";
        self.daemons.extract_if(.., is_server).for_each(Daemon::kill);
    }

    /// Returns etcd's address, for what the API server would not write any more.
    pub fn etcd(&self) -> &str {
        &self.serving.1
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

/// Writes flags the way all of these daemons read them.
pub(crate) fn flags(pairs: &[(&str, &str)]) -> Vec<String> {
    let written = pairs.iter().map(|(name, value)| format!("--{name}={value}"));
    written.collect()
}
