//! A namespace of a test's own, on a control plane that it shares.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;
use uuid::Uuid;

use crate::access::Access;
use crate::control_plane::{ControlPlane, StartError, binary};
use crate::kubectl::{Kubectl, KubectlError};
use crate::settings::Settings;

/// How long the controllers may take to fill a new namespace.
const PATIENCE: Duration = Duration::from_mins(1);

/// A fresh namespace; dropping it deletes it.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    access: Access,
}

/// Why no namespace could be had.
#[derive(Debug, Error)]
pub enum NamespaceError {
    /// The control plane did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The API refused.
    #[error(transparent)]
    Kubectl(#[from] KubectlError),
    /// The controllers did not fill it.
    #[error("namespace {0} got no service account in {patience} s", patience = PATIENCE.as_secs())]
    Unfilled(String),
}

impl Namespace {
    /// Makes a namespace and waits until pods can be created in it.
    pub fn create(access: &Access) -> Result<Self, NamespaceError> {
        let name = format!("test-{}", &Uuid::new_v4().simple().to_string()[..10]);
        access.kubectl().run(&["create", "namespace", &name])?;
        let namespace = Self { name, access: access.clone() };
        namespace.wait_until_filled()?;
        Ok(namespace)
    }

    /// Returns the namespace's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how to reach its control plane.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns kubectl, as administrator.
    pub fn kubectl(&self) -> &Kubectl {
        self.access.kubectl()
    }

    fn wait_until_filled(&self) -> Result<(), NamespaceError> {
        let deadline = Instant::now() + PATIENCE;
        let account = ["-n", &self.name, "get", "serviceaccount", "default"];
        while self.kubectl().run(&account).is_err() {
            if Instant::now() > deadline {
                return Err(NamespaceError::Unfilled(self.name.clone()));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The control plane goes away after the tests, with whatever a
        // finalizer keeps here; nobody should wait for that.
        let _ = self.kubectl().run(&["delete", "namespace", &self.name, "--wait=false"]);
    }
}

/// Returns the control plane that tests share: the one that
/// `cargo xtask test` announces, or else one per test process, started by
/// whoever comes first and taken away by its warden.
pub(crate) fn shared() -> Result<Access, StartError> {
    static STARTED: Mutex<Option<ControlPlane>> = Mutex::new(None);
    if let Some(dir) = &Settings::get().shared {
        return Ok(Access::open(dir, &binary("kubectl")?)?);
    }
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plane) = &*started {
        return Ok(plane.access().clone());
    }
    let plane = ControlPlane::start()?;
    Ok(started.insert(plane).access().clone())
}
