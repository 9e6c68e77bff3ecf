//! Kubeconfig files with everything inside, so that one path is enough.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::pki::Pair;

/// Returns a kubeconfig, as JSON, which is YAML too.
pub fn kubeconfig(server: &str, authority: &str, client: &Pair) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "rig", "cluster": {
            "server": server,
            "certificate-authority-data": STANDARD.encode(authority),
        }}],
        "users": [{ "name": "rig", "user": {
            "client-certificate-data": STANDARD.encode(&client.certificate),
            "client-key-data": STANDARD.encode(&client.key),
        }}],
        "contexts": [{ "name": "rig", "context": { "cluster": "rig", "user": "rig" } }],
        "current-context": "rig",
    });
    format!("{config:#}\n")
}
