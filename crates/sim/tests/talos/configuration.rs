//! What a node takes as its configuration, and what it does not.

use sim::talos::{MachineConfig, MachineType, Received, Stage};
use tonic::Code;

use crate::{client::Client, secrets::Secrets, world::World};

#[test]
fn the_facts_come_out_as_they_went_in() {
    let secrets = Secrets::new("facts");
    let text = secrets.control_plane("cp-1");
    let Received::Complete(config) = MachineConfig::parse(text.as_bytes()).unwrap() else {
        panic!("it is complete")
    };
    assert_eq!(config.machine_type, MachineType::ControlPlane);
    assert_eq!(config.hostname.as_deref(), Some("cp-1"));
    assert_eq!(config.machine_ca.certificate, secrets.talos.certificate);
    assert_eq!(config.machine_ca.key.as_ref(), Some(&secrets.talos.key_pem));
    let cluster = &config.cluster;
    assert_eq!((cluster.id.as_str(), cluster.name.as_str()), ("facts", "demo"));
    assert_eq!(cluster.endpoint, "https://10.0.64.9:6443");
    assert_eq!((cluster.cni.as_str(), cluster.kube_proxy), ("none", false));
    assert!(cluster.external_cloud_provider && cluster.discovery && cluster.core_dns);
    assert_eq!(cluster.etcd_ca.as_ref().unwrap().certificate, secrets.etcd.certificate);
    assert!(!format!("{config:?}").contains("0123456789abcdef"), "no secret is shown");

    let Received::Complete(worker) =
        MachineConfig::parse(secrets.worker("w-1").as_bytes()).unwrap()
    else {
        panic!("it is complete")
    };
    assert_eq!((worker.machine_type, worker.machine_ca.key), (MachineType::Worker, None));
}

#[test]
fn each_mistake_has_its_words() {
    let secrets = Secrets::new("mistakes");
    let good = secrets.control_plane("cp-1");
    let key = format!("\n    key: {}", encoded(&secrets.talos.key_pem));
    let cases = [
        (
            good.replace("debug: false", "debgu: false"),
            "unknown keys found during decoding:\ndebgu: false\n",
        ),
        (
            good.replace("  token: abc", "  tokne: abc"),
            "unknown keys found during decoding:\nmachine:\n    tokne: abcdef.0123456789abcdef\n",
        ),
        (good.replace("nodeIP:", "nodeIPs:"), "nodeIPs:"),
        (good.replace("type: controlplane", "type: master"), "invalid machine type: \"master\""),
        (
            good.replace(&key, "\n    key: \"\""),
            "1 error occurred:\n\t* issuing CA key is required for controlplane nodes (.machine.ca.key)\n\n",
        ),
        (
            good.replace("type: controlplane", "type: worker"),
            "issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)\n\t* cluster CA key",
        ),
        (
            good.replace("https://10.0.64.9:6443", "http://10.0.64.9"),
            "invalid controlplane endpoint",
        ),
        (
            good.replace("    endpoint: https://10.0.64.9:6443", "    localAPIServerPort: 6443"),
            "cluster controlplane endpoint is required",
        ),
        (
            good.replace("kind: HostnameConfig", "kind: HostnameConfgi"),
            "\"HostnameConfgi\" \"v1alpha1\": not registered",
        ),
        (good.replace(&key, "\n    key: bm8ga2V5"), "machine.ca is not usable"),
        ("version: v1alpha1\nmachine: {}\n".to_owned(), "cluster instructions are required"),
        ("{ not yaml".to_owned(), "error decoding config"),
        ("- a\n- b\n".to_owned(), "config documents must be mappings"),
        (String::new(), "no configuration documents provided"),
        (format!("{good}---\n{good}"), "v1alpha1 config is already present"),
    ];
    for (text, words) in cases {
        assert_ne!(text, good, "the mistake is there: {words}");
        let error = MachineConfig::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(words), "{words}\n---\n{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_leave_the_node_in_maintenance_mode() {
    let world = World::new("refusals");
    let node = world.node("cp-1", [127, 90, 2, 1]);
    node.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&node).await.unwrap();
    let refused = client.apply("machine: {").await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let stub =
        "version: v1alpha1\nmachine: {}\n---\napiVersion: v1alpha1\nkind: KubeClusterConfig\n";
    assert_eq!(client.apply(stub).await.unwrap_err().code(), Code::Unimplemented);
    let partial = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n";
    client.apply(partial).await.expect("the rest may still come");
    assert_eq!((node.stage(), node.config()), (Stage::Maintenance, None));
}

fn encoded(pem: &str) -> String {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.encode(pem)
}
