//! A real API server takes every rendering, with strict validation of fields.

use addons::SecretObject;
use objects::{Need, Object, Order};
use rig::{Kubectl, need};
use serde_json::{Value, json};

use crate::samples;

/// Applies objects as the engine will: server-side, every unknown field an error.
fn apply(kubectl: &Kubectl, objects: &[Value]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("objects.json");
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
    std::fs::write(&file, list.to_string()).unwrap();
    let args = ["apply", "--server-side", "--validate=strict", "-f"];
    let output = kubectl.command().args(args).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    // Violations of pod security come as warnings for workloads.
    assert!(!said.contains("Warning"), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Applies objects in their order, and waits for definitions before what they define.
fn deliver(kubectl: &Kubectl, order: &Order) -> usize {
    let (mut ready, mut batch, mut taken) = (false, Vec::new(), 0);
    for place in order.sequence() {
        if !ready && order.waits_for(*place).iter().any(|wait| wait.need == Need::Ready) {
            taken += apply(kubectl, &std::mem::take(&mut batch)).lines().count();
            let wait = ["wait", "crd", "--all", "--for=condition=Established", "--timeout=60s"];
            kubectl.run(&wait).unwrap();
            ready = true;
        }
        batch.push(order.objects()[*place].body().clone());
    }
    taken + apply(kubectl, &batch).lines().count()
}

#[test]
fn a_real_api_server_takes_every_rendering() {
    let Some(plane) = need::control_plane() else {
        return;
    };
    let kubectl = plane.kubectl();
    let mut delivered = 0;
    for rendered in samples::all() {
        let secrets = rendered.secrets().iter().map(SecretObject::reveal);
        let objects = rendered.objects().iter().cloned().chain(secrets);
        let objects = objects.map(|object| Object::new(object).unwrap()).collect();
        let order = Order::of(objects).unwrap();
        let taken = deliver(kubectl, &order);
        assert_eq!(taken, order.objects().len());
        delivered += taken;
    }
    println!("{delivered} objects of addons were taken");
    assert!(delivered > 60);
}

#[test]
fn a_real_api_server_takes_the_probes_under_the_strictest_pod_security() {
    let Some(plane) = need::control_plane() else {
        return;
    };
    let kubectl = plane.kubectl();
    let (homes, rest): (Vec<_>, Vec<_>) =
        samples::probes().into_iter().partition(|one| one["kind"] == "Namespace");
    apply(kubectl, &homes);
    for home in &homes {
        // Pods wait for the account that the controller manager makes.
        let name = home["metadata"]["name"].as_str().unwrap();
        let wait = ["-n", name, "wait", "--for=create", "serviceaccount/default", "--timeout=60s"];
        kubectl.run(&wait).unwrap();
    }
    apply(kubectl, &rest);
    // The namespace would refuse a pod that wants more.
    let mut greedy = rest.iter().find(|one| one["kind"] == "Pod").unwrap().clone();
    greedy["metadata"]["name"] = json!("greedy");
    greedy["spec"]["hostNetwork"] = json!(true);
    let refused = kubectl.apply(&greedy.to_string()).unwrap_err().to_string();
    assert!(refused.contains("PodSecurity"), "{refused}");
}
