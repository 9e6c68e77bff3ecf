//! What a new cluster has before anybody asks for anything.

use serde_json::{Value, json};

use super::attempt;
use crate::kube::Kube;
use crate::kube::api::{Patch, Write};
use crate::kube::status::{API_PLACE, DNS_PLACE};

const SERVER: &str = "kube-apiserver";
const TALOS: &str = "talos";

/// Makes it, where it is not there yet.
pub(super) fn make(kube: &Kube) {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        put(
            kube,
            SERVER,
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }),
        );
    }
    for (name, value) in
        [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)]
    {
        put(
            kube,
            SERVER,
            json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": { "name": name }, "value": value }),
        );
    }
    let address = |place| json!(kube.state().service_address(place));
    put(kube, SERVER, kubernetes_service(&address(API_PLACE)));
    for object in dns(&address(DNS_PLACE)) {
        put(kube, TALOS, object);
    }
}

impl Kube {
    /// Says at which addresses the API is served, as the `kubernetes` service's
    /// endpoints tell it.
    pub fn publish(&self, addresses: &[String]) {
        let metadata = json!({ "name": "kubernetes", "namespace": "default",
            "labels": { "kubernetes.io/service-name": "kubernetes" } });
        let ports = json!([{ "name": "https", "port": 6443, "protocol": "TCP" }]);
        let endpoint =
            |one: &String| json!({ "addresses": [one], "conditions": { "ready": true } });
        let endpoints: Vec<Value> = addresses.iter().map(endpoint).collect();
        let hosts: Vec<Value> = addresses.iter().map(|one| json!({ "ip": one })).collect();
        let slice = json!({ "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": metadata, "addressType": "IPv4", "endpoints": endpoints, "ports": ports });
        let older = json!({ "apiVersion": "v1", "kind": "Endpoints",
            "metadata": { "name": "kubernetes", "namespace": "default",
                "labels": { "endpointslice.kubernetes.io/skip-mirror": "true" } },
            "subsets": [{ "addresses": hosts, "ports": ports }] });
        for object in [slice, older] {
            let write = Write { force: true, ..Write::by(SERVER) };
            let place = self.place_of(&object);
            attempt(place.and_then(|place| self.patch(&place, &Patch::Apply(object), &write)));
        }
    }
}

fn put(kube: &Kube, manager: &str, object: Value) {
    let place = kube.place_of(&object).map(|place| place.named(""));
    attempt(place.and_then(|place| kube.create(&place, object, &Write::by(manager))));
}

fn kubernetes_service(address: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "kubernetes", "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" } },
        "spec": { "clusterIP": address,
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }] },
    })
}

/// The cluster's DNS, as Talos sets it up.
fn dns(address: &Value) -> Vec<Value> {
    let metadata = |name: &str| json!({ "name": name, "namespace": "kube-system" });
    let corefile = ".:53 {\n    errors\n    health {\n        lameduck 5s\n    }\n    ready\n    kubernetes cluster.local in-addr.arpa ip6.arpa {\n        pods insecure\n    }\n    forward . /etc/resolv.conf\n    cache 30\n    loop\n    reload\n    loadbalance\n}\n";
    let labels = json!({ "k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS" });
    let port = |name: &str, port: u16, protocol: &str| json!({ "name": name, "port": port, "protocol": protocol, "targetPort": port });
    vec![
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("coredns") }),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("coredns"),
            "data": { "Corefile": corefile } }),
        json!({ "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "kube-dns", "namespace": "kube-system", "labels": {
                "k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS" } },
            "spec": { "clusterIP": address, "selector": { "k8s-app": "kube-dns" }, "ports": [
                port("dns", 53, "UDP"), port("dns-tcp", 53, "TCP"), port("metrics", 9153, "TCP") ] } }),
        json!({ "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "coredns", "namespace": "kube-system", "labels": labels },
            "spec": { "replicas": 2, "selector": { "matchLabels": { "k8s-app": "kube-dns" } },
                "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 1 } },
                "template": { "metadata": { "labels": { "k8s-app": "kube-dns" } }, "spec": dns_pod() } } }),
    ]
}

fn dns_pod() -> Value {
    let repelled =
        ["node-role.kubernetes.io/control-plane", "node.cloudprovider.kubernetes.io/uninitialized"];
    let tolerations =
        repelled.map(|key| json!({ "key": key, "operator": "Exists", "effect": "NoSchedule" }));
    json!({
        "serviceAccountName": "coredns", "priorityClassName": "system-cluster-critical",
        "dnsPolicy": "Default", "tolerations": tolerations,
        "containers": [{
            "name": "coredns", "image": "registry.k8s.io/coredns/coredns:v1.14.1",
            "args": ["-conf", "/etc/coredns/Corefile"],
            "ports": [
                { "name": "dns", "containerPort": 53, "protocol": "UDP" },
                { "name": "dns-tcp", "containerPort": 53, "protocol": "TCP" },
                { "name": "metrics", "containerPort": 9153, "protocol": "TCP" },
            ],
        }],
        "volumes": [{ "name": "config-volume", "configMap": { "name": "coredns" } }],
    })
}
