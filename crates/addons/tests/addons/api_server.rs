//! A real API server takes every rendering, with strict validation of fields.

use addons::SecretObject;
use objects::{Layer, Object, Rank, layers};
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

fn deliver(kubectl: &Kubectl, layer: Layer) -> usize {
    let objects: Vec<_> = layer.objects.into_iter().map(Object::into_body).collect();
    let lines = apply(kubectl, &objects).lines().count();
    assert_eq!(lines, objects.len());
    if layer.rank == Rank::Definitions {
        let wait = ["wait", "crd", "--all", "--for=condition=Established", "--timeout=60s"];
        kubectl.run(&wait).unwrap();
    }
    lines
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
        let layers = layers(objects).unwrap();
        delivered += layers.into_iter().map(|layer| deliver(kubectl, layer)).sum::<usize>();
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
