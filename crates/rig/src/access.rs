//! Access to a control plane, by whoever started it: an address, a
//! kubeconfig, kubectl, and the files of its folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::kubectl::Kubectl;

/// How to reach a running control plane as its administrator.
#[derive(Debug, Clone)]
pub struct Access {
    dir: PathBuf,
    server: String,
    kubectl: Kubectl,
}

impl Access {
    /// Reads the access to the control plane whose files are in `dir`.
    pub fn open(dir: &Path, kubectl: &Path) -> io::Result<Self> {
        let kubeconfig = dir.join("kubeconfig");
        let config: Value = serde_json::from_slice(&fs::read(&kubeconfig)?)?;
        let server = config["clusters"][0]["cluster"]["server"].as_str();
        let server = server.ok_or_else(|| io::Error::other("the kubeconfig names no server"))?;
        Ok(Self {
            dir: dir.to_owned(),
            server: server.to_owned(),
            kubectl: Kubectl::new(kubectl, &kubeconfig),
        })
    }

    /// Returns the folder that holds the control plane's files and logs.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the API server's address.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        self.kubectl.kubeconfig()
    }

    /// Returns kubectl, as administrator.
    pub fn kubectl(&self) -> &Kubectl {
        &self.kubectl
    }

    /// Returns the administrator's kubeconfig with another address in it, such
    /// as a proxy's.
    pub fn kubeconfig_at(&self, server: &str) -> io::Result<String> {
        let mut config: Value = serde_json::from_slice(&fs::read(self.kubeconfig())?)?;
        config["clusters"][0]["cluster"]["server"] = server.into();
        Ok(format!("{config:#}\n"))
    }
}
