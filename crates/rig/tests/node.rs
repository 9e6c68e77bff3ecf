//! A real node with running pods, and what it leaves: nothing.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use rig::node::POD_IMAGE;
use rig::{Image, Kubectl, Registry, need, traces};

fn run_pod(kubectl: &Kubectl, name: &str, image: &str, policy: &str) {
    let image = format!("--image={image}");
    let policy = format!("--image-pull-policy={policy}");
    kubectl.run(&["run", name, &image, &policy, "--", "serve"]).unwrap();
    let ready = ["wait", "pod", name, "--for=condition=Ready", "--timeout=120s"];
    if let Err(error) = kubectl.run(&ready) {
        panic!("{error}\n{}", kubectl.run(&["describe", "pod", name]).unwrap());
    }
}

fn get(address: &str) -> String {
    let mut stream = TcpStream::connect((address, 8080)).unwrap();
    write!(stream, "GET /hello HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn pods_run_serve_log_and_are_pulled_and_nothing_stays() {
    let Some((plane, node)) = need::node() else {
        return;
    };
    let Some(program) = need::binary("rig-pod") else {
        return;
    };
    let kubectl = plane.kubectl();

    run_pod(kubectl, "imported", POD_IMAGE, "Never");
    let address =
        kubectl.run(&["get", "pod", "imported", "-o", "jsonpath={.status.podIP}"]).unwrap();
    assert!(get(&address).ends_with("GET /hello from imported\n"));
    // Goes from the API server to the kubelet, each proving itself.
    assert_eq!(kubectl.run(&["logs", "imported"]).unwrap(), "serving on port 8080\n");

    // Under another name, or containerd would know the layer already.
    let scratch = tempfile::tempdir().unwrap();
    let web = scratch.path().join("web");
    std::fs::copy(&program, &web).unwrap();
    let registry = Registry::start(vec![Image::pack("demo/web:v1", &web).unwrap()]).unwrap();
    run_pod(kubectl, "pulled", &registry.reference("demo/web:v1"), "Always");
    assert_eq!(registry.blobs_served(), 2, "the configuration and one layer");

    let id = node.dir().file_name().unwrap().to_str().unwrap().to_owned();
    let kinds = |what: &str| traces::of(&id).iter().filter(|trace| trace.contains(what)).count();
    assert!(kinds("process") >= 4, "kubelet, containerd, shims, pods: {:#?}", traces::of(&id));
    assert!(kinds("mount") > 0 && kinds("/sys/fs/cgroup") > 0 && kinds("/sys/class/net") > 0);
    assert_eq!(node.end(), Vec::new());
    assert_eq!(traces::of(&id), Vec::<String>::new());
    let sockets = PathBuf::from("/run/containerd/s");
    assert!(std::fs::read_dir(&sockets).map_or(true, |mut left| left.next().is_none()));
}
