//! Requests that the API passes on to services and pods.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sim::kube::kubelet::Trouble;
use sim::kube::{Kube, Place, PodAnswer, PodRequest, Processes, Write};
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::wire::admin;

/// Answers with what it was asked, on port 9000 of every pod.
struct Mirror;

impl Processes for Mirror {
    fn answer(&self, _: &Kube, pod: &Value, port: u16, asked: &PodRequest) -> Option<PodAnswer> {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let text = format!("{name} {} {}", asked.path, asked.query("word"));
        (port == 9000).then(|| PodAnswer::text(200, text))
    }
}

fn make(cluster: &Cluster, object: Value) {
    let place = Place { name: String::new(), ..cluster.kube.place_of(&object).unwrap() };
    cluster.kube.create(&place, object, &Write::by("test")).unwrap();
}

fn pod(name: &str, labels: &Value, port: u16) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "default", "labels": labels },
        "spec": { "hostNetwork": true, "tolerations": [{ "operator": "Exists" }],
            "containers": [{ "name": "it", "image": "it",
                "ports": [{ "name": "http", "containerPort": port }] }] } })
}

fn service(name: &str, selector: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "selector": selector,
            "ports": [{ "name": "web", "port": 80, "targetPort": "http" }] } })
}

/// Asks until the answer is another one than that nothing is there yet.
fn settled(cluster: &Cluster, path: &str) -> String {
    let began = Instant::now();
    loop {
        let answer = admin(cluster, &format!("GET {path}"), "");
        let early = answer.contains("no endpoints") || answer.contains("address not allowed");
        if !early || began.elapsed() > Duration::from_secs(10) {
            return answer;
        }
    }
}

#[test]
fn requests_go_on_to_pods_and_services_or_say_why_not() {
    let cluster = Cluster::start();
    cluster.kube.host(Arc::new(Mirror));
    cluster.join("one", 1, Trouble::default());
    while cluster.kube.all(&sim::kube::Key::core("namespaces"), "").is_empty() {
        std::thread::yield_now();
    }
    make(&cluster, pod("web-1", &json!({ "app": "web" }), 9000));
    make(&cluster, pod("deaf", &json!({ "app": "deaf" }), 9001));
    make(&cluster, service("web", &json!({ "app": "web" })));
    make(&cluster, service("empty", &json!({ "app": "nobody" })));
    make(&cluster, service("deaf", &json!({ "app": "deaf" })));
    let home = "/api/v1/namespaces/default";
    for target in ["services/web:80", "services/http:web:web", "services/web", "pods/web-1:9000"] {
        let answer = settled(&cluster, &format!("{home}/{target}/proxy/some/path?word=ahoy"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{target}: {answer}");
        assert!(answer.ends_with("web-1 /some/path ahoy"), "{target}: {answer}");
    }
    let refusals = [
        ("services/empty:80", "503", "no endpoints available for service \\\"empty\\\""),
        ("services/web:81", "503", "no service port \\\"81\\\" found for service \\\"web\\\""),
        ("services/nobody:80", "404", "services \\\"nobody\\\" not found"),
        ("services/deaf:80", "503", "dial tcp 10.0.64.1:9001: connect: connection refused"),
        ("pods/web-1:9002", "503", "dial tcp 10.0.64.1:9002: connect: connection refused"),
    ];
    for (target, status, message) in refusals {
        let path = format!("{home}/{target}/proxy/");
        let answer = if target.starts_with("services/empty") {
            admin(&cluster, &format!("GET {path}"), "")
        } else {
            settled(&cluster, &path)
        };
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{target}: {answer}");
        assert!(answer.contains(message), "{target}: {answer}");
    }
    assert!(cluster.effects.all().is_empty(), "nothing was changed");
}
