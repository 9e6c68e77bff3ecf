//! Real machines of the rig.

use std::net::Ipv4Addr;

use rig::talos::{Talos, TalosNode, kubelet_settings};
use rig::{Kubectl, need};
use serde_json::{Value, json};
use talos::config::Mirror;
use talos::credentials::Kubeconfig;

pub(crate) struct Real {
    talos: Talos,
    kubectl: std::path::PathBuf,
    scratch: tempfile::TempDir,
}

impl Real {
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let kubectl = need::binary("kubectl")?;
        Some(Self { talos: need::talos()?, kubectl, scratch: tempfile::tempdir().unwrap() })
    }

    pub(crate) fn machine(&mut self, name: &str) -> Ipv4Addr {
        self.talos.add(name).unwrap().address()
    }

    /// Nothing leaves this machine: all images come from the rig's registry.
    pub(crate) fn mirrors(&self) -> Vec<(String, Mirror)> {
        let endpoints = vec![format!("http://{}", self.talos.registry().host())];
        let mirror = Mirror { endpoints, skip_fallback: true };
        ["registry.k8s.io", "ghcr.io"].map(|name| (name.to_owned(), mirror.clone())).into()
    }

    pub(crate) fn adapt(document: &mut Value) {
        if document.get("machine").is_some() {
            document["machine"]["kubelet"]["extraConfig"] = kubelet_settings();
            document["cluster"]["discovery"] = json!({ "enabled": false });
        }
    }

    pub(crate) fn kubernetes_answers(&self, kubeconfig: &Kubeconfig) -> Result<(), String> {
        let path = self.scratch.path().join("kubeconfig");
        std::fs::write(&path, kubeconfig.yaml().reveal()).unwrap();
        let kubectl = Kubectl::new(&self.kubectl, &path);
        let args = ["get", "--raw", "/readyz", "--request-timeout=5s"];
        kubectl.run(&args).map(drop).map_err(|error| error.to_string())
    }

    pub(crate) fn is_off(&self, address: Ipv4Addr) -> bool {
        !self.node(address).is_running()
    }

    fn node(&self, address: Ipv4Addr) -> &TalosNode {
        self.talos.nodes().iter().find(|node| node.address() == address).unwrap()
    }
}
