//! The form of many documents, since 1.14: each thing has a document of its
//! own. They are gathered into the places that they had in the main document.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::documents::Documents;

/// How a document holds a value.
#[derive(Clone, Copy)]
enum Held {
    /// As the main document does.
    Alike,
    /// As PEM, of which the main document has the base64.
    Pem,
}

/// A value: the kind of its document, its place there, and in the main one.
type Place = (&'static str, &'static str, &'static str, Held);

#[rustfmt::skip]
const PLACES: &[Place] = &[
    ("DiscoveryIdentityConfig", "/clusterID", "/cluster/id", Held::Alike),
    ("KubeClusterConfig", "/clusterName", "/cluster/clusterName", Held::Alike),
    ("KubeClusterConfig", "/endpoint", "/cluster/controlPlane/endpoint", Held::Alike),
    ("KubeNodeConfig", "/nodeIP/validSubnets", "/machine/kubelet/nodeIP/validSubnets", Held::Alike),
    ("KubeNodeConfig", "/labels", "/machine/nodeLabels", Held::Alike),
    ("KubeNodeConfig", "/taints", "/machine/nodeTaints", Held::Alike),
    ("KubeletConfig", "/image", "/machine/kubelet/image", Held::Alike),
    ("KubeletConfig", "/extraArgs", "/machine/kubelet/extraArgs", Held::Alike),
    ("KubeletConfig", "/config", "/machine/kubelet/extraConfig", Held::Alike),
    ("KubeNetworkConfig", "/dnsDomain", "/cluster/network/dnsDomain", Held::Alike),
    ("KubeNetworkConfig", "/podSubnets", "/cluster/network/podSubnets", Held::Alike),
    ("KubeNetworkConfig", "/serviceSubnets", "/cluster/network/serviceSubnets", Held::Alike),
    // Workers know whom to trust, control planes sign.
    ("KubeAPIServerCAConfig", "/acceptedCAs/0", "/cluster/ca/crt", Held::Pem),
    ("KubeAPIServerCAConfig", "/issuingCA/cert", "/cluster/ca/crt", Held::Pem),
    ("KubeAPIServerCAConfig", "/issuingCA/key", "/cluster/ca/key", Held::Pem),
    ("KubeAggregatorCAConfig", "/issuingCA/cert", "/cluster/aggregatorCA/crt", Held::Pem),
    ("KubeAggregatorCAConfig", "/issuingCA/key", "/cluster/aggregatorCA/key", Held::Pem),
    ("KubeServiceAccountConfig", "/issuer/privateKey", "/cluster/serviceAccount/key", Held::Pem),
    ("KubeAPIServerConfig", "/certExtraSANs", "/cluster/apiServer/certSANs", Held::Alike),
];

/// The taint that keeps pods from control planes.
const RESERVED: &str = "/machine/nodeTaints/node-role.kubernetes.io~1control-plane";

/// Returns the main document with what the others hold.
pub(super) fn gather(main: &Map<String, Value>, documents: &Documents) -> Value {
    let mut gathered = Value::Object(main.clone());
    for (kind, from, to, held) in PLACES {
        let value = documents.values(kind).find_map(|document| document.pointer(from).cloned());
        if let Some(value) = value {
            put(&mut gathered, to, held.as_in_main(value));
        }
    }
    // What is not there says something only where all is in documents.
    if documents.find("KubeClusterConfig").is_some() {
        switch(&mut gathered, documents);
    }
    gathered
}

/// Things that are there, or are switched off.
fn switch(gathered: &mut Value, documents: &Documents) {
    let is_off = |kind| documents.values(kind).any(|document| document["enabled"] == false);
    let cni = if documents.find("KubeFlannelCNIConfig").is_some() { "flannel" } else { "none" };
    let discovery = documents.find("DiscoveryServiceConfig").is_some();
    let open = gathered.pointer(RESERVED).is_none();
    for (to, value) in [
        ("/cluster/network/cni/name", json!(cni)),
        ("/cluster/proxy/disabled", json!(is_off("KubeProxyConfig"))),
        ("/cluster/coreDNS/disabled", json!(is_off("KubeCoreDNSConfig"))),
        ("/cluster/discovery/enabled", json!(discovery)),
        ("/cluster/allowSchedulingOnControlPlanes", json!(open)),
    ] {
        put(gathered, to, value);
    }
}

impl Held {
    fn as_in_main(self, value: Value) -> Value {
        match (self, value) {
            (Self::Pem, Value::String(pem)) => BASE64_STANDARD.encode(pem).into(),
            (_, value) => value,
        }
    }
}

/// Puts a value in its place, and makes the way there.
fn put(document: &mut Value, to: &str, value: Value) {
    let steps = to.split('/').skip(1);
    let place = steps.fold(document, |place, step| {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        &mut place[step]
    });
    *place = value;
}
