//! A proxy in front of a real API server that misbehaves on request.
//!
//! It ends TLS with the control plane's own authority, so a client only needs
//! another address, and passes everything on over HTTP/2: bodies and watches
//! stream. Who asks stays who asks: a client certificate is passed on the way
//! Kubernetes defines for proxies (`X-Remote-User`, believed because of the
//! proxy's own certificate), a bearer token as it is.
//!
//! A [`Rule`] says which requests a [`Fault`] meets and how often; [`Counts`]
//! say what was asked, and can be awaited. Connection upgrades (exec,
//! port-forward) are not passed on and answer 501.

mod class;
mod counts;
mod fault;
mod forward;
mod tls;

pub use class::Class;
pub use counts::Counts;
pub use fault::{Fault, Matching, Rule};

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::sync::watch;

use crate::access::Access;
use crate::serving::Serving;

/// A running proxy; dropping it stops it and cuts its connections.
#[derive(Debug)]
pub struct FaultyProxy {
    serving: Serving,
    desk: Arc<Desk>,
    kubeconfig: PathBuf,
}

/// What all connections of a proxy share.
#[derive(Debug)]
pub(crate) struct Desk {
    rules: Mutex<Vec<Rule>>,
    counts: watch::Sender<Counts>,
}

/// Why a proxy could not be started.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// The control plane's certificates could not be used.
    #[error("could not use the certificates in {}", dir.display())]
    Certificates {
        /// The folder.
        dir: PathBuf,
        /// What is wrong with them.
        source: tls::TlsError,
    },
    /// The port could not be served, or the kubeconfig not be written.
    #[error("could not start the proxy")]
    Start(#[from] io::Error),
}

impl FaultyProxy {
    /// Starts a proxy in front of a control plane.
    pub fn start(access: &Access) -> Result<Self, ProxyError> {
        let pki = access.dir().join("pki");
        let tls = tls::Tls::load(&pki, access.server())
            .map_err(|source| ProxyError::Certificates { dir: pki, source })?;
        let desk = Arc::new(Desk { rules: Mutex::default(), counts: watch::Sender::default() });
        let shared = Arc::clone(&desk);
        let serving = Serving::start(move |listener| forward::serve(listener, tls, shared))?;
        let address = serving.address();
        let kubeconfig = access.dir().join(format!("proxy-{}.kubeconfig", address.port()));
        let proxy = Self { serving, desk, kubeconfig };
        fs::write(&proxy.kubeconfig, access.kubeconfig_at(&proxy.server())?)?;
        restrict(&proxy.kubeconfig)?;
        Ok(proxy)
    }

    /// Returns the proxy's address.
    pub fn server(&self) -> String {
        format!("https://{}", self.serving.address())
    }

    /// Returns the path of an administrator's kubeconfig that goes through the
    /// proxy.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Adds a rule. Of those that match a request, the oldest applies.
    pub fn add(&self, rule: Rule) {
        self.desk.rules().push(rule);
    }

    /// Removes all rules: from here on the proxy behaves.
    pub fn behave(&self) {
        self.desk.rules().clear();
    }

    /// Returns what was asked so far, to look at or to await changes of.
    pub fn counts(&self) -> watch::Receiver<Counts> {
        self.desk.counts.subscribe()
    }

    /// Waits until the counts are as wanted; if they are not in time, returns
    /// what they are instead.
    pub async fn wait_for(
        &self,
        patience: Duration,
        wanted: impl FnMut(&Counts) -> bool,
    ) -> Result<Counts, Counts> {
        let mut counts = self.counts();
        let reached = tokio::time::timeout(patience, counts.wait_for(wanted)).await;
        match reached {
            Ok(Ok(reached)) => Ok(reached.clone()),
            _ => Err(self.desk.counts.borrow().clone()),
        }
    }
}

impl Drop for FaultyProxy {
    fn drop(&mut self) {
        // It lies in the control plane's folder, which goes away as a whole.
        let _ = fs::remove_file(&self.kubeconfig);
    }
}

impl Desk {
    fn rules(&self) -> std::sync::MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request and returns the fault that it meets, if any.
    fn admit(&self, class: &Class, path: &str) -> Option<Fault> {
        let mut rules = self.rules();
        let fault = rules.iter_mut().find_map(|rule| rule.meet(class, path));
        rules.retain(|rule| !rule.is_used_up());
        drop(rules);
        self.counts.send_modify(|counts| counts.add(class, fault.is_some()));
        fault
    }
}

fn restrict(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}
