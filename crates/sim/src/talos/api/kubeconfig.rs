//! An administrator's kubeconfig, made from the configuration alone.

use std::io;

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;
use serde_json::json;
use tonic::Status;

use super::Api;
use crate::{
    clock::since_epoch,
    talos::{MachineConfig, PkiError, machine_config::PemPair, pki},
};

impl Api {
    /// Returns a tar.gz with the file `kubeconfig`. That it is there says
    /// nothing about Kubernetes.
    pub(super) fn admin_kubeconfig(&self) -> Result<Vec<u8>, Status> {
        self.on_control_planes("kubeconfig")?;
        let config = self.machine.state().config.clone();
        let config = config.ok_or_else(|| Status::failed_precondition("no configuration"))?;
        let now = self.machine.settings.clock.now();
        let text = render(&config, now).map_err(|error| Status::unknown(error.to_string()))?;
        archive(&text, now).map_err(|error| Status::unknown(error.to_string()))
    }
}

fn render(config: &MachineConfig, now: Timestamp) -> Result<String, PkiError> {
    let PemPair { certificate, key } = pki::kubernetes_admin(&config.cluster.kubernetes_ca, now)?;
    let encode = |pem: &str| BASE64_STANDARD.encode(pem);
    let cluster = &config.cluster;
    let context = format!("admin@{}", cluster.name);
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": cluster.name,
            "cluster": {
                "server": cluster.endpoint,
                "certificate-authority-data": encode(&cluster.kubernetes_ca.certificate),
            },
        }],
        "users": [{
            "name": context,
            "user": {
                "client-certificate-data": encode(&certificate),
                "client-key-data": encode(key.as_deref().unwrap_or_default()),
            },
        }],
        "contexts": [{
            "name": context,
            "context": { "cluster": cluster.name, "namespace": "default", "user": context },
        }],
        "current-context": context,
    });
    Ok(serde_saphyr::to_string(&kubeconfig).expect("a JSON value is always a YAML one"))
}

fn archive(text: &str, now: Timestamp) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o600);
    header.set_mtime(since_epoch(now).as_secs());
    tar.append_data(&mut header, "kubeconfig", text.as_bytes())?;
    tar.into_inner()?.finish()
}
