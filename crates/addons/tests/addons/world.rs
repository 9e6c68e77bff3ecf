//! A cluster of three nodes in which everything is well, to be spoiled by tests.

use std::collections::BTreeMap;

use addons::Gate;
use addons::cilium::CiliumGate;
use addons::flux::FluxGate;
use addons::gate::{Answer, Nodes, Route, Seen};
use addons::hcloud_ccm::{HcloudCcmGate, Routes, Server};
use addons::hcloud_csi::HcloudCsiGate;
use addons::metrics_server::MetricsServerGate;
use addons::seal::{Lifetime, SealingKey, Strength};
use addons::sealed_secrets::SealedSecretsGate;
use events::{Failure, Verdict};
use jiff::Timestamp;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use std::sync::LazyLock;

pub(crate) const NODES: [&str; 3] = ["demo-cp-1", "demo-worker-1", "demo-worker-2"];
pub(crate) const HEAD: &str = "main@sha1:4be1c0ffee";
pub(crate) static KEY: LazyLock<SealingKey> = LazyLock::new(|| sealing_key(1));

/// What is answered to each look, by the look's name in messages.
#[derive(Clone)]
pub(crate) struct World(pub(crate) BTreeMap<String, Result<Answer, Failure>>);

pub(crate) fn sealing_key(seed: u64) -> SealingKey {
    let lifetime = Lifetime::ten_years(now());
    SealingKey::make(Strength::Bits2048, lifetime, &mut StdRng::seed_from_u64(seed)).unwrap()
}

pub(crate) fn now() -> Timestamp {
    "2026-11-16T01:10:00Z".parse().unwrap()
}

pub(crate) fn these() -> Nodes {
    Nodes::These(NODES.iter().map(|name| (*name).into()).collect())
}

/// Every gate with its name.
pub(crate) fn gates() -> Vec<(&'static str, Box<dyn Gate>)> {
    let (kube, flux) = ("kube-system".to_owned(), "flux-system".to_owned());
    let servers = NODES.iter().enumerate().map(|(i, name)| Server {
        name: (*name).into(),
        id: 100 + i as u64,
        private: format!("10.0.64.{}", 11 + i).parse().unwrap(),
    });
    vec![
        ("cilium", Box::new(CiliumGate { namespace: kube.clone(), nodes: these() })),
        (
            "ccm",
            Box::new(HcloudCcmGate {
                namespace: kube.clone(),
                servers: servers.collect(),
                routes: Routes::Kept,
            }),
        ),
        ("csi", Box::new(HcloudCsiGate { namespace: kube.clone(), nodes: these() })),
        (
            "seal",
            Box::new(SealedSecretsGate { namespace: kube.clone(), spki: KEY.certificate().spki() }),
        ),
        ("flux", Box::new(FluxGate { namespace: flux, revision: HEAD.into() })),
        ("metrics", Box::new(MetricsServerGate { namespace: kube })),
    ]
}

pub(crate) fn gate(name: &str) -> Box<dyn Gate> {
    gates().into_iter().find(|(own, _)| *own == name).unwrap().1
}

impl World {
    pub(crate) fn well() -> Self {
        let mut world = Self(BTreeMap::new());
        world.put("nodes", Answer::Objects((0..3).map(node).collect()));
        world.daemon_set("cilium", "k8s-app=cilium");
        let csi = "app.kubernetes.io/name=hcloud-csi,app.kubernetes.io/component=";
        world.daemon_set("hcloud-csi-node", &format!("{csi}node"));
        let csi = format!("{csi}controller");
        for (namespace, name, labels) in [
            ("kube-system", "cilium-operator", "io.cilium/app=operator"),
            ("kube-system", "hcloud-csi-controller", &csi),
            (
                "kube-system",
                "hcloud-cloud-controller-manager",
                "app.kubernetes.io/name=hcloud-cloud-controller-manager",
            ),
            ("kube-system", "sealed-secrets-controller", "app.kubernetes.io/name=sealed-secrets"),
            ("kube-system", "metrics-server", "app.kubernetes.io/name=metrics-server"),
            ("flux-system", "source-controller", "app=source-controller"),
            ("flux-system", "kustomize-controller", "app=kustomize-controller"),
            ("flux-system", "helm-controller", "app=helm-controller"),
            ("flux-system", "notification-controller", "app=notification-controller"),
        ] {
            world.deployment(namespace, name, labels);
            world.put(&format!("events in {namespace}"), Answer::Objects(Vec::new()));
        }
        world.rest();
        world
    }

    fn rest(&mut self) {
        let routes = (0..3).map(|i| Route {
            destination: format!("10.0.{}.0/24", 128 + i).parse().unwrap(),
            gateway: format!("10.0.64.{}", 11 + i).parse().unwrap(),
        });
        self.put("the network's routes", Answer::Routes(routes.collect()));
        let csi_node = |name: &&str| json!({ "metadata": { "name": name }, "spec": { "drivers": [{ "name": "csi.hetzner.cloud" }] } });
        self.put("csinodes", Answer::Objects(NODES.iter().map(csi_node).collect()));
        self.put("CSIDriver csi.hetzner.cloud", Answer::Object(json!({ "spec": {} })));
        self.put("StorageClass hcloud-volumes", Answer::Object(json!({})));
        let pem = KEY.certificate().pem().to_owned();
        let certificate = "/v1/cert.pem of service kube-system/sealed-secrets-controller";
        self.put(certificate, Answer::Text(pem));
        let api = json!({
            "spec": { "service": { "name": "metrics-server", "namespace": "kube-system" } },
            "status": { "conditions": [{ "type": "Available", "status": "True" }] },
        });
        self.put("APIService v1beta1.metrics.k8s.io", Answer::Object(api));
        let source = json!({ "kind": "GitRepository", "name": "flux-system" });
        let repository =
            flux("flux-system", &json!({}), &json!({ "artifact": { "revision": HEAD } }));
        let follows = |name: &str| {
            flux(name, &json!({ "sourceRef": source }), &json!({ "lastAppliedRevision": HEAD }))
        };
        let release = json!({ "history": [{ "status": "deployed", "chartVersion": "1.2.3" }] });
        self.put("gitrepositories", Answer::Objects(vec![repository]));
        self.put("kustomizations", Answer::Objects(vec![follows("flux-system"), follows("apps")]));
        self.put("helmreleases", Answer::Objects(vec![flux("web", &json!({}), &release)]));
    }

    pub(crate) fn put(&mut self, look: &str, answer: Answer) {
        self.0.insert(look.to_owned(), Ok(answer));
    }

    /// Changes what is answered to a look, which must be there.
    pub(crate) fn change(mut self, look: &str, change: impl FnOnce(&mut Value)) -> Self {
        let answer = self.0.get_mut(look).unwrap_or_else(|| panic!("no {look}"));
        match answer.as_mut().unwrap() {
            Answer::Object(object) => change(object),
            Answer::Objects(objects) => {
                let mut list = Value::from(std::mem::take(objects));
                change(&mut list);
                let Value::Array(changed) = list else { panic!("no list any more") };
                *objects = changed;
            }
            other => panic!("cannot change {other:?}"),
        }
        self
    }

    pub(crate) fn set(mut self, look: &str, answer: Answer) -> Self {
        assert!(self.0.contains_key(look), "no {look}");
        self.put(look, answer);
        self
    }

    pub(crate) fn judged_by(&self, gate: &dyn Gate) -> Verdict {
        let mut seen = Seen::at(now());
        for need in gate.needs() {
            let name = need.look.to_string();
            if let Some(answer) = self.0.get(&name) {
                seen = seen.saw(need.look, answer.clone());
            }
        }
        gate.judge(&seen)
    }

    fn daemon_set(&mut self, name: &str, labels: &str) {
        let set = json!({
            "metadata": { "name": name, "generation": 2, "uid": name },
            "status": {
                "observedGeneration": 2, "desiredNumberScheduled": 3, "currentNumberScheduled": 3,
                "updatedNumberScheduled": 3, "numberReady": 3, "numberAvailable": 3,
            },
        });
        self.put(&format!("DaemonSet kube-system/{name}"), Answer::Object(set));
        let pods =
            NODES.iter().enumerate().map(|(i, node)| pod(&format!("{name}-{i}"), name, node));
        self.put(&format!("pods in kube-system with {labels}"), Answer::Objects(pods.collect()));
    }

    fn deployment(&mut self, namespace: &str, name: &str, labels: &str) {
        let deployment = json!({
            "metadata": { "name": name, "generation": 3 },
            "spec": { "replicas": 2 },
            "status": {
                "observedGeneration": 3, "replicas": 2, "updatedReplicas": 2,
                "readyReplicas": 2, "availableReplicas": 2,
            },
        });
        self.put(&format!("Deployment {namespace}/{name}"), Answer::Object(deployment));
        let pods = (0..2).map(|i| pod(&format!("{name}-{i}"), name, NODES[0]));
        self.put(&format!("pods in {namespace} with {labels}"), Answer::Objects(pods.collect()));
    }
}

fn node(i: usize) -> Value {
    json!({
        "metadata": { "name": NODES[i] },
        "spec": {
            "providerID": format!("hcloud://{}", 100 + i),
            "podCIDR": format!("10.0.{}.0/24", 128 + i),
        },
        "status": {
            "addresses": [
                { "type": "Hostname", "address": NODES[i] },
                { "type": "InternalIP", "address": format!("10.0.64.{}", 11 + i) },
            ],
            "conditions": [{ "type": "NetworkUnavailable", "status": "False" }],
        },
    })
}

pub(crate) fn pod(name: &str, owner: &str, node: &str) -> Value {
    json!({
        "metadata": { "name": name, "ownerReferences": [{ "uid": owner }] },
        "spec": { "nodeName": node },
        "status": {
            "phase": "Running",
            "startTime": "2026-11-16T01:00:00Z",
            "conditions": [
                { "type": "PodScheduled", "status": "True" },
                { "type": "Ready", "status": "True" },
            ],
        },
    })
}

fn flux(name: &str, spec: &Value, more: &Value) -> Value {
    let mut status = json!({
        "observedGeneration": 4,
        "conditions": [{ "type": "Ready", "status": "True", "observedGeneration": 4 }],
    });
    status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({
        "metadata": { "name": name, "namespace": "flux-system", "generation": 4 },
        "spec": spec,
        "status": status,
    })
}
