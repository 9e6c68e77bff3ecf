//! The certificates and keys of a control plane, as files.

use rcgen::KeyPair;

use super::{ControlPlane, StartError};
use crate::pki::{Authority, Identity, Pair};
use crate::run::RunError;

/// The user of the proxy's certificate; the API server believes the identities
/// that it passes on.
pub(super) const FRONT_PROXY: &str = "rig-proxy";

/// The names under which the API server is reached, from pods too.
const SERVING_HOSTS: [&str; 5] =
    ["127.0.0.1", "10.96.0.1", "localhost", "kubernetes.default", "kubernetes.default.svc"];

impl ControlPlane {
    pub(super) fn write_credentials(&self) -> Result<(), StartError> {
        self.run.folder("pki")?;
        let hosts = SERVING_HOSTS.map(str::to_owned);
        let kubelet = Identity { user: "kube-apiserver", group: Some("system:masters") };
        self.write_pair("ca", self.authority.pair())?;
        self.write_pair("apiserver", &self.authority.server("kube-apiserver", &hosts)?)?;
        self.write_pair("kubelet-client", &self.authority.client(kubelet)?)?;
        // An authority of its own: a certificate of the other one would make
        // the proxy a user, instead of somebody who may speak for users.
        let front_proxy = Authority::new("rig-front-proxy")?;
        let proxy = Identity { user: FRONT_PROXY, group: None };
        self.write_pair("front-proxy-ca", front_proxy.pair())?;
        self.write_pair("proxy-client", &front_proxy.client(proxy)?)?;
        self.write_pair("proxy", &self.authority.server(FRONT_PROXY, &hosts)?)?;
        let accounts = KeyPair::generate()?;
        self.run.write("pki/accounts.key", accounts.serialize_pem())?;
        self.run.write("pki/accounts.pub", accounts.public_key_pem())?;
        for name in ["kube-controller-manager", "kube-scheduler"] {
            let user = format!("system:{name}");
            let config = self.kubeconfig_for(Identity { user: &user, group: None })?;
            self.run.write(&format!("{name}.kubeconfig"), config)?;
        }
        Ok(())
    }

    fn write_pair(&self, name: &str, pair: &Pair) -> Result<(), RunError> {
        self.run.write(&format!("pki/{name}.crt"), &pair.certificate)?;
        self.run.write(&format!("pki/{name}.key"), &pair.key)?;
        Ok(())
    }
}
