//! What talosctl and Talos nodes write.

use events::Secret;
use talos::config::patch::Patch;
use talos::config::{MachineConfig, Whereabouts};
use talos::credentials::Talosconfig;
use talos::pki::{Certificate, PrivateKey, SpkiHash};
use talos::secrets::{Bundle, Token};

use crate::{Target, text};

pub(crate) const TARGETS: &[Target] = &[
    Target { name: "bundle", seeds: BUNDLES, feed: read_bundle },
    Target { name: "machine-config", seeds: CONFIGS, feed: read_machine_config },
    Target { name: "patch", seeds: PATCHES, feed: apply_patch },
    Target { name: "talosconfig", seeds: TALOSCONFIGS, feed: read_talosconfig },
    Target { name: "certificate", seeds: CERTIFICATES, feed: read_certificate },
];

const BUNDLES: &[&str] = &["cluster: {id: aWQ=, secret: c2VjcmV0}\n\
     secrets: {bootstraptoken: abcdef.0123456789abcdef, secretboxencryptionsecret: c2s=}\n\
     trustdinfo: {token: abcdef.0123456789abcdef}\n\
     certs: {etcd: {crt: Y3J0, key: a2V5}, k8s: {}, k8saggregator: {}, k8sserviceaccount: {}, os: {}}\n"];

const CONFIGS: &[&str] =
    &["version: v1alpha1\nmachine:\n  type: controlplane\n  token: abcdef.0123456789abcdef\n\
     cluster:\n  clusterName: demo\n  controlPlane: {endpoint: \"https://10.0.0.1:6443\"}\n\
     ---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: one\n"];

const PATCHES: &[&str] = &[
    "machine:\n  network:\n    hostname: two\n  sysctls: {a: \"1\"}\n",
    "- op: add\n  path: /machine/sysctls\n  value: {b: \"2\"}\n- op: remove\n  path: /cluster\n",
    "machine:\n  certSANs:\n    $patch: delete\n---\napiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n",
    r#"[{"op":"replace","path":"/machine/type","value":"worker"},{"op":"test","path":"/a~1b","value":null}]"#,
];

const TALOSCONFIGS: &[&str] = &[
    "context: a\ncontexts:\n  a: {endpoints: [10.0.0.1], nodes: [], ca: Y2E=, crt: Y3J0, key: a2V5}\n",
];

/// A certificate of P-256 that nobody trusts, made for this.
const CERTIFICATES: &[&str] = &[
    "-----BEGIN CERTIFICATE-----\n\
     MIIBdTCCARugAwIBAgIUe4RdjKRhzyhBGnUXJPXm32DWkZUwCgYIKoZIzj0EAwIw\n\
     EDEOMAwGA1UECgwFdGFsb3MwHhcNMjYxMTE2MjEyNDQ3WhcNMzYxMTEzMjEyNDQ3\n\
     WjAQMQ4wDAYDVQQKDAV0YWxvczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAGF\n\
     VOdhXgkXmbHHjfhi2/Oa0JqDu0UySSDdjIgwGdnq/dxBB6Ic/AcO5/qoPjLPaqnw\n\
     vOwGRNRFD2t8KPftXNOjUzBRMB0GA1UdDgQWBBR/Ztmg/xNEbLuK0d0mQG5/P4O0\n\
     QTAfBgNVHSMEGDAWgBR/Ztmg/xNEbLuK0d0mQG5/P4O0QTAPBgNVHRMBAf8EBTAD\n\
     AQH/MAoGCCqGSM49BAMCA0gAMEUCIG+VprT0PHI+AOOfyqBLa2BjMg4Ymvh1stcK\n\
     fNSkOdpMAiEA7iWf4DC0X1BzPMno+19yaGiAxF6fxH58QOTFEobMVu4=\n\
     -----END CERTIFICATE-----\n",
    "-----BEGIN ED25519 PRIVATE KEY-----\n\
     MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n\
     -----END ED25519 PRIVATE KEY-----\n",
    "abcdef.0123456789abcdef",
];

fn read_bundle(bytes: &[u8]) {
    text(bytes, |text| match Bundle::from_yaml(text) {
        Ok(bundle) => {
            let again = Bundle::from_yaml(bundle.to_yaml().reveal());
            assert!(again.is_ok(), "a bundle that we wrote is not read");
        }
        Err(error) => drop(error.to_string()),
    });
}

fn read_machine_config(bytes: &[u8]) {
    text(bytes, |text| {
        let _ = Bundle::from_machine_config(text).map_err(|error| error.to_string());
        let _ = Whereabouts::of(text).map_err(|error| error.to_string());
    });
}

fn apply_patch(bytes: &[u8]) {
    text(bytes, |text| {
        let Ok(patch) = Patch::read("input", text) else { return };
        let config = MachineConfig::from_yaml(Secret::new(CONFIGS[0]));
        let _ = config.patched(&[patch]).map_err(|error| error.to_string());
    });
}

fn read_talosconfig(bytes: &[u8]) {
    text(bytes, |text| drop(Talosconfig::from_yaml(text).map_err(|error| error.to_string())));
}

fn read_certificate(bytes: &[u8]) {
    if let Ok(certificate) = Certificate::from_der(bytes) {
        let _ = (certificate.facts(), certificate.spki(), certificate.is_signed_by(&certificate));
    }
    text(bytes, |text| {
        let _ = Certificate::from_pem(text).map_err(|error| error.to_string());
        let _ = PrivateKey::from_pem(text).map_err(|error| error.to_string());
        let _ = Token::parse(text).map_err(|error| error.to_string());
        let _ = text.parse::<SpkiHash>().map_err(|error| error.to_string());
    });
}
