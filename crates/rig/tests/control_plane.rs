//! A real control plane, alone and shared.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use rig::{ControlPlane, need, traces};

fn id(plane: &ControlPlane) -> String {
    plane.access().dir().file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn every_component_works_and_goes_away() {
    let Some(plane) = need::control_plane() else {
        return;
    };
    let kubectl = plane.kubectl();
    assert_eq!(kubectl.run(&["get", "--raw", "/readyz"]).unwrap(), "ok");
    let version = kubectl.run(&["version"]).unwrap();
    assert!(version.contains("Server Version: v1.36.3"), "{version}");
    // The controller manager makes a ReplicaSet and a pod of it, and the
    // scheduler says that there is no node to put it on.
    let create = "create deployment web --image=example.com/web";
    let made = "wait deployment/web --for=jsonpath={.status.unavailableReplicas}=1 --timeout=60s";
    let refused = "wait pod -l app=web --for=condition=PodScheduled=false --timeout=60s";
    for line in [create, made, refused] {
        kubectl.run(&line.split(' ').collect::<Vec<_>>()).unwrap();
    }
    let id = id(&plane);
    assert!(!traces::of(&id).is_empty());
    drop(plane);
    assert_eq!(traces::of(&id), Vec::<String>::new());
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let started = Mutex::new(None);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let Some(plane) = need::control_plane() else {
            return;
        };
        *started.lock().unwrap() = Some(id(&plane));
        panic!("on purpose, with a control plane in hand");
    }));
    let Some(id) = started.into_inner().unwrap() else {
        return;
    };
    assert!(panicked.is_err());
    assert_eq!(traces::of(&id), Vec::<String>::new());
}

#[test]
fn tests_share_a_control_plane_and_not_a_namespace() {
    let Some(first) = need::namespace() else {
        return;
    };
    let Some(second) = need::namespace() else {
        return;
    };
    assert_eq!(first.access().server(), second.access().server());
    assert_ne!(first.name(), second.name());
    let kubectl = first.kubectl();
    kubectl.run(&["-n", first.name(), "create", "configmap", "only-here"]).unwrap();
    let list = |name: &str| kubectl.run(&["-n", name, "get", "configmap", "-o", "name"]).unwrap();
    assert!(list(first.name()).contains("only-here"));
    assert!(!list(second.name()).contains("only-here"));
    let (name, access) = (first.name().to_owned(), first.access().clone());
    drop(first);
    let wait = ["wait", "namespace", &name, "--for=delete", "--timeout=60s"];
    access.kubectl().run(&wait).unwrap();
}

#[test]
fn the_kubeconfig_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let Some(namespace) = need::namespace() else {
        return;
    };
    let kubeconfig = namespace.access().kubeconfig();
    assert_eq!(kubeconfig.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
