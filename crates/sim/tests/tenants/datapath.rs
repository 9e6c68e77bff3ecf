//! Probe pods that talk to each other.

use serde_json::{Value, json};
use sim::kube::{Key, PodRequest};
use sim::tenants::Knobs;

use crate::cluster::{Cluster, status_of};

const OUTSIDE: &str = "one.one.one.one";

/// A cluster of two nodes, with a probe pod on each.
async fn probes() -> Cluster {
    let cluster = Cluster::with_nodes(2).await;
    let labels = json!({ "probe": "datapath" });
    cluster
        .put(json!({ "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "probe", "namespace": "default" },
            "spec": { "selector": labels,
                "ports": [{ "name": "http", "port": 8080, "targetPort": "http" }] } }))
        .await;
    for number in 1..=2 {
        let container = json!({ "name": "probe", "image": "agnhost",
            "args": ["netexec", "--http-port=8080", "--udp-port=-1"],
            "ports": [{ "name": "http", "containerPort": 8080 }] });
        let pod = json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": format!("probe-{number}"), "namespace": "default",
                "labels": labels },
            "spec": { "restartPolicy": "Never", "containers": [container],
                "tolerations": [{ "operator": "Exists" }],
                "nodeSelector": { "kubernetes.io/hostname": format!("node-{number}") } } });
        cluster.put(pod).await;
    }
    for number in 1..=2 {
        let ready = |pod: &Value| status_of(pod, "Ready") == "True";
        cluster.sees("pods", "default", &format!("probe-{number}"), ready).await;
    }
    names(&cluster).await;
    cluster
}

/// Waits until names can be found.
async fn names(cluster: &Cluster) {
    let look = || {
        let pods = cluster.kube.all(&Key::core("pods"), "kube-system");
        let dns = |pod: &&std::sync::Arc<Value>| pod["metadata"]["labels"]["k8s-app"] == "kube-dns";
        pods.iter().filter(dns).any(|pod| status_of(pod, "Ready") == "True").then_some(())
    };
    cluster.until("DNS is there", look).await;
}

fn ask(cluster: &Cluster, number: u8, request: &str) -> (u16, String) {
    let pod = cluster.get("pods", "default", &format!("probe-{number}")).unwrap();
    let answer = cluster.kube.ask(&pod, 8080, &PodRequest::read(request)).unwrap();
    (answer.status, answer.body)
}

fn dial(cluster: &Cluster, number: u8, host: &str, port: u16, request: &str) -> Value {
    let path = format!("/dial?host={host}&port={port}&protocol=http&request={request}&tries=1");
    let (status, body) = ask(cluster, number, &path);
    if status == 200 { serde_json::from_str(&body).unwrap() } else { json!({ "refused": body }) }
}

fn address(cluster: &Cluster, number: u8) -> String {
    let pod = cluster.get("pods", "default", &format!("probe-{number}")).unwrap();
    pod["status"]["podIP"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn everybody_reaches_everything() {
    let cluster = probes().await;
    assert_eq!(ask(&cluster, 1, "/hostname"), (200, "probe-1".to_owned()));
    assert_eq!(ask(&cluster, 1, "/echo?msg=ahoy"), (200, "ahoy".to_owned()));
    assert_eq!(ask(&cluster, 1, "/healthz"), (200, String::new()));
    assert_eq!(ask(&cluster, 1, "/shell?cmd=ls").0, 501);
    let to = address(&cluster, 2);
    assert_eq!(dial(&cluster, 1, &to, 8080, "hostname"), json!({ "responses": ["probe-2"] }));
    let long = "a".repeat(1500);
    let echo = format!("echo%3Fmsg%3D{long}");
    assert_eq!(dial(&cluster, 1, &to, 8080, &echo), json!({ "responses": [long] }));
    let answered: Vec<Value> = (0..2)
        .map(|_| dial(&cluster, 1, "probe", 8080, "hostname")["responses"][0].clone())
        .collect();
    let both = ["probe-1", "probe-2"].iter().all(|name| answered.contains(&json!(name)));
    assert!(both, "{answered:?}");
    let service = cluster.get("services", "default", "probe").unwrap();
    let service = service["spec"]["clusterIP"].as_str().unwrap();
    assert!(dial(&cluster, 2, service, 8080, "hostname")["responses"].is_array());
    let full = "probe.default.svc.cluster.local";
    assert!(dial(&cluster, 2, full, 8080, "hostname")["responses"].is_array());
    for (host, port) in [("kubernetes.default.svc", 443), (OUTSIDE, 443)] {
        assert!(dial(&cluster, 1, host, port, "/")["responses"].is_array(), "{host}");
    }
}

#[tokio::test]
async fn each_knob_breaks_its_own_way() {
    let cluster = probes().await;
    let (one, two) = (address(&cluster, 1), address(&cluster, 2));
    let turn = |knobs: Knobs| cluster.tenants.turn(|now| *now = knobs);
    let way = ("node-1".to_owned(), "node-2".to_owned());
    turn(Knobs { cut: [way].into(), ..Knobs::default() });
    let error = dial(&cluster, 1, &two, 8080, "hostname")["errors"][0].clone();
    let expected = format!("Get \"http://{two}:8080/hostname\": dial tcp {two}:8080: i/o timeout");
    assert_eq!(error, expected);
    assert_eq!(dial(&cluster, 2, &one, 8080, "hostname"), json!({ "responses": ["probe-1"] }));

    turn(Knobs { large_packets_lost: true, ..Knobs::default() });
    let echo = format!("echo%3Fmsg%3D{}", "a".repeat(1500));
    assert!(dial(&cluster, 1, &two, 8080, &echo)["errors"].is_array());
    assert!(dial(&cluster, 1, &one, 8080, &echo)["responses"].is_array(), "not between nodes");
    assert!(dial(&cluster, 1, &two, 8080, "hostname")["responses"].is_array(), "small ones arrive");

    turn(Knobs { names_inside_fail: true, ..Knobs::default() });
    let refused = dial(&cluster, 1, "probe", 8080, "hostname")["refused"].clone();
    assert_eq!(
        refused,
        "host and/or port param are invalid. lookup probe on 10.96.0.10:53: no such host\n"
    );
    assert!(dial(&cluster, 1, OUTSIDE, 443, "/")["responses"].is_array());

    turn(Knobs { names_outside_fail: true, ..Knobs::default() });
    assert!(dial(&cluster, 1, OUTSIDE, 443, "/")["refused"].is_string());
    assert!(dial(&cluster, 1, "1.1.1.1", 443, "/")["responses"].is_array());
    assert!(dial(&cluster, 1, "probe", 8080, "hostname")["responses"].is_array());

    turn(Knobs { egress_blocked: true, ..Knobs::default() });
    assert!(dial(&cluster, 1, "1.1.1.1", 443, "/")["errors"].is_array());
    assert!(dial(&cluster, 1, &two, 8080, "hostname")["responses"].is_array());
}

#[tokio::test]
async fn names_need_a_server_and_addresses_an_owner() {
    let cluster = probes().await;
    cluster.delete("deployments.apps", "kube-system", "coredns");
    let lost =
        || dial(&cluster, 1, "probe", 8080, "hostname")["refused"].as_str().map(str::to_owned);
    let why = cluster.until("names are gone", lost).await;
    assert!(why.contains("i/o timeout"), "{why}");
    let nobody = dial(&cluster, 1, "10.244.9.9", 8080, "hostname");
    assert!(nobody["errors"][0].as_str().unwrap().ends_with("no route to host"), "{nobody}");
    let closed = dial(&cluster, 1, &address(&cluster, 2), 9999, "hostname");
    assert!(closed["errors"][0].as_str().unwrap().ends_with("connection refused"), "{closed}");
    assert_eq!(
        dial(&cluster, 1, "1.1.1.1", 443, "")["refused"],
        "request parameter not specified. <nil>\n"
    );
}
