//! A simulated cluster with its tenants, in this process.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sim::kube::kubelet::{NodeSettings, Trouble};
use sim::kube::{DeleteOptions, Key, Kube, Place, Write};
use sim::tenants::{Knobs, Tenants};
use sim::{Clock, Tempo};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::project::Project;

/// A cluster that lives as long as this does.
pub(crate) struct Cluster {
    pub(crate) kube: Kube,
    pub(crate) tenants: Tenants,
    pub(crate) project: Arc<Project>,
    tasks: JoinSet<()>,
    troubles: Vec<watch::Sender<Trouble>>,
}

impl Cluster {
    /// Starts a cluster with controllers and tenants, and no node.
    pub(crate) fn start(knobs: Knobs) -> Self {
        let kube = Kube::empty(Clock::real(), 7);
        let project = Arc::new(Project::default());
        let tenants = Tenants::new(kube.clone(), project.clone(), knobs, Tempo::INSTANT);
        let mut tasks = JoinSet::new();
        let (controllers, running) = (kube.clone(), tenants.clone());
        tasks.spawn(async move { controllers.run_controllers(Tempo::INSTANT).await });
        tasks.spawn(async move { running.run().await });
        Self { kube, tenants, project, tasks, troubles: Vec::new() }
    }

    /// Starts a cluster of so many nodes with a network.
    pub(crate) async fn with_nodes(count: u8) -> Self {
        let mut cluster = Self::start(Knobs::default());
        cluster.put(daemon_set("cilium", &json!({ "k8s-app": "cilium" }))).await;
        for number in 1..=count {
            cluster.join(number, Trouble::default());
        }
        for number in 1..=count {
            let ready = |node: &Value| status_of(node, "Ready") == "True";
            cluster.sees("nodes", "", &format!("node-{number}"), ready).await;
        }
        cluster
    }

    /// Lets a node join that waits for network and cloud.
    pub(crate) fn join(&mut self, number: u8, trouble: Trouble) {
        let (address, prefix) = (format!("10.0.64.{number}"), format!("10.244.{number}"));
        let name = format!("node-{number}");
        let taint = |key: &str| json!({ "key": key, "effect": "NoSchedule" });
        let node = NodeSettings {
            taints: vec![
                taint("node.cilium.io/agent-not-ready"),
                taint("node.cloudprovider.kubernetes.io/uninitialized"),
            ],
            ..NodeSettings::new(&name, &address, &prefix)
        };
        let private = Ipv4Addr::new(10, 0, 64, number);
        self.project.add_server(&name, 4000 + i64::from(number), private);
        let (trouble, troubled) = watch::channel(trouble);
        self.troubles.push(trouble);
        let kube = self.kube.clone();
        self.tasks.spawn(async move { kube.run_kubelet(node, Tempo::INSTANT, troubled).await });
    }

    /// Makes an object, as soon as its namespace and its kind are there.
    pub(crate) async fn put(&self, object: Value) -> Value {
        let make = || {
            let place = self.kube.place_of(&object).ok()?;
            let place = Place { name: String::new(), ..place };
            self.kube.create(&place, object.clone(), &Write::by("test")).ok()
        };
        self.until(&format!("{object} is made"), make).await
    }

    /// Returns an object, if there is one.
    pub(crate) fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        self.kube.get(&self.place(kind, namespace, name)?).ok()
    }

    /// Ends an object.
    pub(crate) fn delete(&self, kind: &str, namespace: &str, name: &str) {
        let place = self.place(kind, namespace, name).unwrap();
        self.kube.delete(&place, &DeleteOptions::default(), &Write::by("test")).unwrap();
    }

    fn place(&self, kind: &str, namespace: &str, name: &str) -> Option<Place> {
        let (plural, group) = kind.split_once('.').unwrap_or((kind, ""));
        self.kube.place(&Key::of(group, plural), namespace, name).ok()
    }

    /// Waits until an object is as wanted, and returns it.
    pub(crate) async fn sees(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let look = || self.get(kind, namespace, name).filter(&wanted);
        match self.wait_for(look).await {
            Some(found) => found,
            None => panic!("not as wanted: {:#?}", self.get(kind, namespace, name)),
        }
    }

    /// Waits until something is there.
    pub(crate) async fn until<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        self.wait_for(look).await.unwrap_or_else(|| panic!("still not so: {what}"))
    }

    async fn wait_for<T>(&self, look: impl Fn() -> Option<T>) -> Option<T> {
        let mut revision = self.kube.revision();
        let wait = async {
            loop {
                revision.borrow_and_update();
                if let Some(found) = look() {
                    return found;
                }
                // The cloud changes without the cluster's knowledge.
                let _ = tokio::time::timeout(Duration::from_millis(20), revision.changed()).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), wait).await.ok()
    }

    /// Lets everything happen that is going to happen.
    pub(crate) async fn settle(&self) {
        let mut revision = self.kube.revision();
        loop {
            revision.borrow_and_update();
            let quiet = tokio::time::timeout(Duration::from_millis(150), revision.changed()).await;
            if quiet.is_err() {
                return;
            }
        }
    }
}

/// Returns the status of a condition; empty where it is absent.
pub(crate) fn status_of<'a>(object: &'a Value, kind: &str) -> &'a str {
    condition(object, kind)["status"].as_str().unwrap_or_default()
}

/// Returns a condition; null where it is absent.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let list = object["status"]["conditions"].as_array();
    list.and_then(|list| list.iter().find(|one| one["type"] == kind)).unwrap_or(&Value::Null)
}

/// A daemon set of the host's network that tolerates everything.
pub(crate) fn daemon_set(name: &str, labels: &Value) -> Value {
    workload("DaemonSet", "kube-system", name, labels)
}

/// A deployment of one pod that tolerates everything.
pub(crate) fn deployment(namespace: &str, name: &str, labels: &Value) -> Value {
    workload("Deployment", namespace, name, labels)
}

fn workload(kind: &str, namespace: &str, name: &str, labels: &Value) -> Value {
    // The network of pods comes from whoever writes there.
    let volumes = match name {
        "cilium" => json!([{ "name": "cni", "hostPath": { "path": "/etc/cni/net.d" } }]),
        _ => json!([]),
    };
    let pod = json!({
        "hostNetwork": kind == "DaemonSet", "tolerations": [{ "operator": "Exists" }],
        "volumes": volumes, "containers": [{ "name": name, "image": name,
            "ports": [{ "name": "http", "containerPort": 8080 }] }],
    });
    json!({
        "apiVersion": "apps/v1", "kind": kind,
        "metadata": { "name": name, "namespace": namespace },
        "spec": { "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": pod } },
    })
}
