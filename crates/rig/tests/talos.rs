//! Real Talos nodes and clusters, and what they leave: nothing.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may, and waits")]

use std::thread;
use std::time::{Duration, Instant};

use rig::talos::{Shape, TalosCluster, TalosNode};
use rig::{need, traces};

const PATIENCE: Duration = Duration::from_mins(3);

fn until<T>(mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(why) => assert!(Instant::now() < deadline, "{why}"),
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn id_of(dir: &std::path::Path) -> String {
    dir.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Opens a connection from inside a node, with what its shell has, and returns
/// what came back.
fn ask(node: &TalosNode, address: &str, port: u16, path: &str) -> String {
    let script = format!(
        "exec 3<>/dev/tcp/{address}/{port} && printf 'GET {path} HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3"
    );
    let output = node.inside("timeout").args(["5", "bash", "-c", &script]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn jsonpath(cluster: &TalosCluster, what: &str, path: &str) -> String {
    cluster.kubectl().run(&["get", "-n", "default", what, "-o", path]).unwrap()
}

#[test]
fn a_bare_node_waits_in_maintenance_mode() {
    let Some(mut talos) = need::talos() else { return };
    let address = talos.add("bare").unwrap().address().to_string();
    let status = until(|| {
        let args = ["get", "machinestatus", "--insecure", "--nodes", &address];
        talos.talosctl().run(&args).map_err(|error| error.to_string())
    });
    assert!(status.contains("maintenance"), "{status}");
    let id = id_of(talos.dir());
    assert!(traces::of(&id).iter().any(|trace| trace.contains("/sys/class/net")));
    assert_eq!(talos.end(), Vec::new());
    assert_eq!(traces::await_none(&id, PATIENCE), Vec::<String>::new());
}

#[test]
fn a_cluster_of_talosctl_is_healthy_and_its_services_answer() {
    let shape = Shape { control_planes: 1, workers: 1 };
    let Some(cluster) = need::talos_cluster(shape) else { return };
    let (plane, worker) = (&cluster.control_planes()[0], &cluster.workers()[0]);
    let (address, other) = (plane.address().to_string(), worker.address().to_string());
    let health = [
        "health",
        "--wait-timeout=3m",
        "--control-plane-nodes",
        &address,
        "--worker-nodes",
        &other,
    ];
    cluster.talosctl(plane.address(), &health).unwrap();

    // The sandbox image is the rig's own program, which can serve, too.
    let image = "--image=registry.k8s.io/pause:3.10.2";
    cluster.kubectl().run(&["run", "web", image, "--port=8080", "--", "serve"]).unwrap();
    cluster.kubectl().run(&["expose", "pod", "web"]).unwrap();
    cluster
        .kubectl()
        .run(&["wait", "pod", "web", "--for=condition=Ready", "--timeout=120s"])
        .unwrap();
    let service = jsonpath(&cluster, "service/web", "jsonpath={.spec.clusterIP}");
    for node in [plane, worker] {
        let answer = until(|| {
            let answer = ask(node, &service, 8080, "/hello");
            if answer.is_empty() { Err("no answer".into()) } else { Ok(answer) }
        });
        assert!(answer.ends_with("GET /hello from web\n"), "{}: {answer}", node.name());
    }
    let id = id_of(cluster.talos().dir());
    assert_eq!(cluster.end(), Vec::new());
    assert_eq!(traces::await_none(&id, PATIENCE), Vec::<String>::new());
}

/// Whoever waits for a network before the API can be used waits for ever.
#[test]
fn the_api_takes_objects_before_pods_have_a_network() {
    let shape = Shape { control_planes: 1, workers: 0 };
    if need::talos_parts().is_none() {
        return;
    }
    let cluster = TalosCluster::start_without_network(shape).unwrap();
    until(|| {
        let path = r#"jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}"#;
        let seen = cluster.kubectl().run(&["get", "nodes", "-o", path]).unwrap();
        if seen == "False" { Ok(()) } else { Err(format!("the node's Ready is `{seen}`")) }
    });
    cluster.kubectl().run(&["-n", "default", "create", "configmap", "early"]).unwrap();
    cluster.connect_pods().unwrap();
}

#[test]
fn three_control_planes_make_one_etcd() {
    let shape = Shape { control_planes: 3, workers: 0 };
    let Some(cluster) = need::talos_cluster(shape) else { return };
    let first = cluster.control_planes()[0].address();
    until(|| {
        let members =
            cluster.talosctl(first, &["etcd", "members"]).map_err(|error| error.to_string())?;
        let voting = members.lines().filter(|line| line.trim_end().ends_with("false")).count();
        if voting == 3 { Ok(()) } else { Err(members) }
    });
}
