//! What a node takes as its configuration, and what it does not.

use std::time::Duration;

use serde_json::json;
use sim::talos::{ClusterFacts, MachineConfig, MachineType, Node, PemPair, Received, Stage};
use talos_proto::machine::{
    ApplyConfigurationRequest, RebootRequest, apply_configuration_request::Mode,
};
use tonic::Code;

use crate::{
    client::Client,
    secrets::Secrets,
    world::{World, eventually},
};

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

fn complete(text: &str) -> MachineConfig {
    match MachineConfig::parse(text.as_bytes()).unwrap() {
        Received::Complete(config) => *config,
        Received::Partial => panic!("it is complete: {text}"),
    }
}

/// Writes what a configuration says in one document for each thing.
fn in_many_documents(config: &MachineConfig) -> String {
    let pem = |pair: &PemPair| json!({ "crt": encoded(&pair.certificate), "key": encoded(pair.key.as_deref().unwrap_or_default()) });
    let cluster = &config.cluster;
    let mut main = json!({
        "machine": { "type": config.machine_type.to_string(), "token": config.token,
            "ca": pem(&config.machine_ca), "certSANs": config.cert_sans },
        "cluster": { "token": cluster.bootstrap_token,
            "externalCloudProvider": { "enabled": cluster.external_cloud_provider } },
    });
    let issuing = |pair: &PemPair| json!({ "cert": pair.certificate, "key": pair.key });
    let mut documents = vec![
        json!({ "kind": "HostnameConfig", "hostname": config.hostname }),
        json!({ "kind": "DiscoveryServiceConfig", "name": "default" }),
        json!({ "kind": "DiscoveryIdentityConfig", "clusterID": cluster.id }),
        json!({ "kind": "KubeClusterConfig", "clusterName": cluster.name, "endpoint": cluster.endpoint }),
        json!({ "kind": "KubeNodeConfig", "nodeIP": { "validSubnets": config.kubelet.node_ip_subnets } }),
        json!({ "kind": "KubeletConfig", "image": config.kubelet.image }),
        json!({ "kind": "KubeNetworkConfig", "podSubnets": cluster.pod_subnets,
            "serviceSubnets": cluster.service_subnets, "dnsDomain": cluster.dns_domain }),
        json!({ "kind": "KubeProxyConfig", "enabled": cluster.kube_proxy }),
        json!({ "kind": "KubeCoreDNSConfig", "enabled": cluster.core_dns }),
    ];
    let authority = if config.is_control_plane() {
        main["cluster"]["etcd"]["ca"] = pem(cluster.etcd_ca.as_ref().unwrap());
        let aggregator = issuing(cluster.aggregator_ca.as_ref().unwrap());
        documents.push(json!({ "kind": "KubeAggregatorCAConfig", "issuingCA": aggregator }));
        json!({ "issuingCA": issuing(&cluster.kubernetes_ca) })
    } else {
        json!({ "acceptedCAs": [cluster.kubernetes_ca.certificate] })
    };
    documents.push(authority);
    documents.last_mut().unwrap()["kind"] = json!("KubeAPIServerCAConfig");
    for document in &mut documents {
        document["apiVersion"] = json!("v1alpha1");
    }
    let all = [main].into_iter().chain(documents);
    all.map(|document| document.to_string()).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn many_documents_say_the_same_as_one() {
    let secrets = Secrets::new("many");
    for text in [secrets.control_plane("cp-1"), secrets.worker("w-1")] {
        let one = complete(&text);
        let many = complete(&in_many_documents(&one));
        let open = many.cluster.schedule_on_control_planes;
        assert!(open, "nothing keeps pods away where there is no taint");
        let cluster = ClusterFacts { schedule_on_control_planes: false, ..many.cluster.clone() };
        let same = MachineConfig { cluster, text: one.text.clone(), ..many };
        assert!(same == one, "{same:?} {one:?}");
    }
}

/// They came with 1.14.
#[tokio::test(flavor = "multi_thread")]
async fn older_nodes_do_not_know_many_documents() {
    let world = World::new("too-many");
    let many = in_many_documents(&complete(&world.secrets.control_plane("cp-1")));
    let old = world.node_of("v1.13.6", "cp-1", [127, 90, 2, 2]);
    old.reaches(Stage::Maintenance).await;
    let mut client = Client::insecure(&old).await.unwrap();
    let refused = client.apply(&many).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("not registered"), "{}", refused.message());
    let new = world.node("cp-1", [127, 90, 2, 3]);
    world.apply(&new, &many).await;
    world.admin(&new).await;
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
            good.replace("https://10.0.64.9:6443", "https://:6443"),
            "invalid controlplane endpoint: hostname must not be blank",
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
    assert_eq!(client.apply(stub).await.unwrap_err().code(), Code::InvalidArgument);
    let partial = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n";
    client.apply(partial).await.expect("the rest may still come");
    assert_eq!((node.stage(), node.config()), (Stage::Maintenance, None));
}

/// A trial ends by itself, with a restart, or with another configuration.
#[tokio::test(flavor = "multi_thread")]
async fn a_tried_configuration_goes_again() {
    let world = World::new("tried");
    let node = world.node("cp-1", [127, 90, 2, 9]);
    let mut client = world.control_plane(&node).await;
    let name = |node: &Node| node.config().and_then(|config| config.hostname.clone()).unwrap();
    let [kept, tried] = ["cp-1", "tried"].map(|name| world.secrets.control_plane(name));
    let answer = client.apply_with(&tried, Mode::Try, true).await.unwrap();
    assert!(answer.mode_details.contains("(skipped in dry-run)"), "{}", answer.mode_details);
    assert_eq!(name(&node), "cp-1");

    let answer = client.apply_with(&tried, Mode::Try, false).await.unwrap();
    assert_eq!(answer.mode, i32::from(Mode::Try));
    assert_eq!(
        answer.mode_details,
        "Applied configuration without a reboot\nThe config is applied in 'try' mode and will be \
         automatically reverted back in 1m0s"
    );
    assert_eq!(name(&node), "tried");
    eventually("the config before", async || (name(&node) == "cp-1").then_some(())).await;

    // Who applies it for good meanwhile, keeps it.
    client.apply_with(&tried, Mode::Try, false).await.unwrap();
    client.apply_with(&tried, Mode::NoReboot, false).await.unwrap();
    world.tempo.pass(Duration::from_mins(2)).await;
    assert_eq!(name(&node), "tried");

    // A restart knows only what is on the disk.
    let answer = client.machine.apply_configuration(ApplyConfigurationRequest {
        data: kept.into_bytes(),
        mode: Mode::Try.into(),
        try_mode_timeout: Some(Duration::from_hours(1).try_into().unwrap()),
        ..Default::default()
    });
    let details = answer.await.unwrap().into_inner().messages.remove(0).mode_details;
    assert!(details.ends_with("reverted back in 1h0m0s"), "{details}");
    assert_eq!(name(&node), "cp-1");
    client.machine.reboot(RebootRequest::default()).await.unwrap();
    eventually("the config on the disk", async || (name(&node) == "tried").then_some(())).await;
}

fn encoded(pem: &str) -> String {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.encode(pem)
}
