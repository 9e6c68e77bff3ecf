//! A client's certificate, and a talosconfig with it.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use talos_proto::machine::{GenerateClientConfiguration, GenerateClientConfigurationRequest};
use tonic::Status;

use super::Api;
use crate::talos::{machine_config::PemPair, pki};

impl Api {
    /// Signs a certificate with the cluster's authority, which only control
    /// planes have.
    pub(super) fn client_configuration(
        &self,
        request: &GenerateClientConfigurationRequest,
    ) -> Result<GenerateClientConfiguration, Status> {
        self.on_control_planes("generate client configuration")?;
        let seconds = request.crt_ttl.as_ref().map_or(0, |length| length.seconds);
        let length = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
        let length =
            length.ok_or_else(|| Status::invalid_argument("crt_ttl should be positive"))?;
        let config = self.machine.state().config.clone();
        let config = config.ok_or_else(|| Status::failed_precondition("no configuration"))?;
        let (authority, now) = (&config.machine_ca, self.machine.settings.clock.now());
        let length = Duration::from_secs(length);
        let signed = pki::talos_client(authority, &request.roles, length, now);
        let PemPair { certificate, key } =
            signed.map_err(|error| Status::unknown(error.to_string()))?;
        let key = key.unwrap_or_default();
        let name = match request.roles.as_slice() {
            [role] => format!("{}@{}", role.trim_start_matches("os:"), config.cluster.name),
            _ => config.cluster.name.clone(),
        };
        let encode = |pem: &str| BASE64_STANDARD.encode(pem);
        let context = json!({
            "endpoints": [],
            "ca": encode(&authority.certificate),
            "crt": encode(&certificate),
            "key": encode(&key),
        });
        let talosconfig = json!({ "context": name, "contexts": { name: context } });
        Ok(GenerateClientConfiguration {
            metadata: None,
            ca: authority.certificate.clone().into_bytes(),
            crt: certificate.into_bytes(),
            key: key.into_bytes(),
            talosconfig: talosconfig.to_string().into_bytes(),
        })
    }
}
