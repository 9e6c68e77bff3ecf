//! What kubectl makes of the simulated API.

use std::process::Stdio;

use rig::Kubectl;
use sim::kube::kubelet::Trouble;

use crate::cluster::Cluster;

pub(crate) const WEB: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app: web } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - { name: c, image: "example.com/web:1", ports: [{ containerPort: 80, name: http }] }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80, targetPort: http }] }
"#;

/// Runs kubectl with arguments that have no spaces in them.
pub(crate) fn run(kubectl: &Kubectl, line: &str) -> String {
    kubectl.run(&line.split_whitespace().collect::<Vec<_>>()).unwrap()
}

fn refused(kubectl: &Kubectl, line: &str) -> String {
    kubectl.run(&line.split_whitespace().collect::<Vec<_>>()).unwrap_err().to_string()
}

/// Feeds a manifest to kubectl.
pub(crate) fn feed(kubectl: &Kubectl, line: &str, manifest: &str) -> String {
    use std::io::Write;
    let mut command = kubectl.command();
    command.args(line.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(manifest.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "`kubectl {line}`: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn objects_are_made_changed_and_ended() {
    let cluster = Cluster::start();
    let Some(kubectl) = cluster.kubectl() else { return };
    run(&kubectl, "wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=10s");
    assert_eq!(run(&kubectl, "get --raw /readyz"), "ok");
    assert!(run(&kubectl, "version").contains("Server Version: v1.36.3"));
    let map = "{ apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { x: '1' } }";
    assert_eq!(feed(&kubectl, "create -f -", map), "configmap/a created\n");
    let path = cluster.dir.path().join("map.yaml");
    std::fs::write(&path, map).unwrap();
    let said = refused(&kubectl, &format!("create -f {}", path.display()));
    assert!(said.contains("configmaps \"a\" already exists"), "{said}");
    run(&kubectl, "label configmap a tier=front");
    assert_eq!(run(&kubectl, "get cm -l tier=front -o name"), "configmap/a\n");
    run(&kubectl, "annotate configmap a note=x");
    run(&kubectl, "patch configmap a --type=merge -p {\"data\":{\"y\":\"2\"}}");
    run(&kubectl, "patch configmap a --type=json -p [{\"op\":\"remove\",\"path\":\"/data/x\"}]");
    assert_eq!(run(&kubectl, "get cm a -o jsonpath={.data}"), "{\"y\":\"2\"}");
    let table = run(&kubectl, "get cm a");
    assert!(table.starts_with("NAME   DATA   AGE\na      1      "), "{table}");
    run(&kubectl, "describe configmap a");
    run(&kubectl, "delete configmap a");
    let said = refused(&kubectl, "get configmap a");
    assert!(said.contains("Error from server (NotFound): configmaps \"a\" not found"), "{said}");
    let said = refused(&kubectl, &format!("-n nowhere create -f {}", path.display()));
    assert!(said.contains("namespaces \"nowhere\" not found"), "{said}");
}

#[test]
fn manifests_are_applied_by_the_client_and_by_the_server() {
    let cluster = Cluster::start();
    let Some(kubectl) = cluster.kubectl() else { return };
    run(&kubectl, "wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=10s");
    let made = feed(&kubectl, "apply -f -", WEB);
    assert_eq!(made, "deployment.apps/web created\nservice/web created\n");
    let again = feed(&kubectl, "apply -f -", WEB);
    assert_eq!(again, "deployment.apps/web unchanged\nservice/web unchanged\n");
    let changed = feed(&kubectl, "apply -f -", &WEB.replace("web:1", "web:2"));
    assert_eq!(changed, "deployment.apps/web configured\nservice/web unchanged\n");
    let image = "get deploy web -o jsonpath={.spec.template.spec.containers[*].image}";
    assert_eq!(run(&kubectl, image), "example.com/web:2");
    let taken = feed(&kubectl, "apply --server-side --force-conflicts -f -", WEB);
    assert!(taken.contains("deployment.apps/web serverside-applied"), "{taken}");
    assert_eq!(run(&kubectl, image), "example.com/web:1");
    run(&kubectl, "scale deployment web --replicas=3");
    assert_eq!(run(&kubectl, "get deploy web -o jsonpath={.spec.replicas}"), "3");
    run(&kubectl, "describe deployment web");
    run(&kubectl, "describe service web");
    run(&kubectl, "get all,events,endpointslices,leases,nodes -A -o wide");
    run(&kubectl, "delete deployment,service web --wait --timeout=20s");
    run(&kubectl, "wait pod --for=delete -l app=web --timeout=20s");
    assert_eq!(run(&kubectl, "get rs,pods -l app=web -o name"), "");
}

#[test]
fn strangers_are_turned_away() {
    let cluster = Cluster::start();
    let Some(nobody) = cluster.kubectl_as("nobody", None) else { return };
    let said = refused(&nobody, "get pods");
    assert!(said.contains("forbidden: User \"nobody\" cannot list resource \"pods\""), "{said}");
    let node = cluster.kubectl_as("system:node:a", Some("system:nodes")).unwrap();
    run(&node, "get nodes");
    assert!(cluster.effects.all().is_empty(), "{:?}", cluster.effects.all());
}

/// A network plugin and a storage plugin, as far as kubelets know them.
const PLUGINS: &str = r#"
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: cilium, namespace: kube-system }
spec:
  selector: { matchLabels: { k8s-app: cilium } }
  template:
    metadata: { labels: { k8s-app: cilium } }
    spec:
      hostNetwork: true
      tolerations: [{ operator: Exists }]
      containers: [{ name: agent, image: "example.com/cilium:1" }]
      volumes: [{ name: cni, hostPath: { path: /etc/cni/net.d } }]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: hcloud-csi-node, namespace: kube-system }
spec:
  selector: { matchLabels: { app.kubernetes.io/name: hcloud-csi, app.kubernetes.io/component: node } }
  template:
    metadata: { labels: { app.kubernetes.io/name: hcloud-csi, app.kubernetes.io/component: node } }
    spec:
      tolerations: [{ operator: Exists }]
      containers: [{ name: driver, image: "example.com/csi:1" }]
"#;

pub(crate) const JOB: &str = r#"
apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: "example.com/job:1" }] } } }
"#;

#[test]
fn nodes_join_and_workloads_roll_out() {
    let cluster = Cluster::start();
    let Some(kubectl) = cluster.kubectl() else { return };
    run(&kubectl, "wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=10s");
    cluster.join("one", 1, Trouble::default());
    cluster.join("two", 2, Trouble { no_storage_plugin: true, ..Trouble::default() });
    run(&kubectl, "wait node one two --for=condition=Ready=false --timeout=20s");
    assert!(run(&kubectl, "get nodes").contains("NotReady"));
    feed(&kubectl, "apply --server-side -f -", PLUGINS);
    run(&kubectl, "wait node --all --for=condition=Ready --timeout=20s");
    run(&kubectl, "-n kube-system rollout status daemonset/cilium --timeout=20s");
    run(&kubectl, "-n kube-system rollout status daemonset/hcloud-csi-node --timeout=20s");
    run(&kubectl, "-n kube-system rollout status deployment/coredns --timeout=20s");
    run(
        &kubectl,
        "wait csinode/one --for=jsonpath={.spec.drivers[0].name}=csi.hetzner.cloud --timeout=20s",
    );
    assert_eq!(run(&kubectl, "get csinode two -o jsonpath={.spec.drivers}"), "[]");
    feed(&kubectl, "apply -f -", WEB);
    let said = run(&kubectl, "rollout status deployment/web --timeout=20s");
    assert!(said.contains("successfully rolled out"), "{said}");
    run(&kubectl, "set image deployment/web c=example.com/web:2");
    run(&kubectl, "rollout status deployment/web --timeout=20s");
    run(&kubectl, "rollout restart deployment/web");
    run(&kubectl, "rollout status deployment/web --timeout=20s");
    assert_eq!(run(&kubectl, "get deploy web -o jsonpath={.status.readyReplicas}"), "2");
    assert!(run(&kubectl, "rollout history deployment/web").contains("REVISION"));
    let table = run(&kubectl, "get pods -l app=web");
    assert!(table.contains("1/1     Running   0"), "{table}");
    feed(&kubectl, "apply -f -", JOB);
    run(&kubectl, "wait job/once --for=condition=Complete --timeout=20s");
    for line in [
        "describe node one",
        "describe pods",
        "describe job once",
        "get events",
        "get all -A -o wide",
    ] {
        assert!(!run(&kubectl, line).is_empty(), "{line}");
    }
    run(&kubectl, "delete job once --cascade=foreground --timeout=20s");
    run(&kubectl, "drain two --ignore-daemonsets --timeout=20s");
    run(&kubectl, "rollout status deployment/web --timeout=20s");
    let on_two = "get pods -l app=web --field-selector=spec.nodeName=two -o name";
    assert_eq!(run(&kubectl, on_two), "");
    run(&kubectl, "uncordon two");
    run(&kubectl, "taint node two a=b:NoSchedule");
    run(&kubectl, "expose deployment web --name=other");
    run(&kubectl, "run single --image=example.com/single");
    run(&kubectl, "wait pod/single --for=condition=Ready --timeout=20s");
    assert!(run(&kubectl, "get pods -w --request-timeout=1s").contains("single"));
    assert_eq!(run(&kubectl, "logs single"), "started\n");
    // What is missing says so.
    let said = refused(&kubectl, "create deployment d --image=x");
    assert!(said.contains("not implemented by this simulated API"), "{said}");
}

#[test]
fn a_namespace_takes_its_contents_along() {
    let cluster = Cluster::start();
    let Some(kubectl) = cluster.kubectl() else { return };
    run(&kubectl, "wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=10s");
    feed(&kubectl, "create -f -", "{ apiVersion: v1, kind: Namespace, metadata: { name: shop } }");
    feed(&kubectl, "-n shop apply -f -", WEB);
    let stuck = "{ apiVersion: v1, kind: ConfigMap, metadata: { name: stuck, finalizers: [example.com/hold] } }";
    feed(&kubectl, "-n shop apply -f -", stuck);
    run(&kubectl, "delete namespace shop --wait=false");
    run(&kubectl, "wait namespace/shop --for=condition=NamespaceFinalizersRemaining --timeout=20s");
    assert!(run(&kubectl, "get namespace shop").contains("Terminating"));
    run(
        &kubectl,
        "-n shop patch configmap stuck --type=merge -p {\"metadata\":{\"finalizers\":null}}",
    );
    run(&kubectl, "wait namespace/shop --for=delete --timeout=20s");
}

const BOATS: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.sea.dev }
spec:
  group: sea.dev
  scope: Namespaced
  names: { plural: boats, kind: Boat, shortNames: [bt] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    additionalPrinterColumns: [{ name: Sails, type: integer, jsonPath: .spec.sails }]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: { type: object, properties: { sails: { type: integer, default: 1 } } }
          status: { type: object, x-kubernetes-preserve-unknown-fields: true }
";

#[test]
fn custom_resources_are_served_by_their_definitions() {
    let cluster = Cluster::start();
    let Some(kubectl) = cluster.kubectl() else { return };
    run(&kubectl, "wait namespace/default --for=jsonpath={.status.phase}=Active --timeout=10s");
    feed(&kubectl, "apply --server-side -f -", BOATS);
    run(&kubectl, "wait crd/boats.sea.dev --for=condition=Established --timeout=20s");
    let boat = "{ apiVersion: sea.dev/v1, kind: Boat, metadata: { name: a }, spec: {} }";
    assert_eq!(feed(&kubectl, "apply -f -", boat), "boat.sea.dev/a created\n");
    let table = run(&kubectl, "get bt");
    assert_eq!(table, "NAME   SAILS\na      1\n");
    let wrong = boat.replace("spec: {}", "spec: { sials: 3 }");
    let path = cluster.dir.path().join("boat.yaml");
    std::fs::write(&path, wrong).unwrap();
    let said = refused(&kubectl, &format!("apply -f {}", path.display()));
    assert!(said.contains("unknown field \"spec.sials\""), "{said}");
    run(&kubectl, "delete boat a");
    run(&kubectl, "delete crd boats.sea.dev");
    // kubectl still knows the kind from its cache, and asks for it.
    let said = refused(&kubectl, "get boats");
    assert!(said.contains("Error from server (NotFound)"), "{said}");
}
