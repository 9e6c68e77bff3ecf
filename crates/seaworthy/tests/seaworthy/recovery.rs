//! Commands that are given while the API server is down, and that it comes back to.

use std::io::Read as _;

use rig::Namespace;

use crate::quay::{Quay, hear};

#[test]
fn who_waits_deletes_or_explains_goes_on_once_the_api_is_back() {
    let Some(mut plane) = rig::need::control_plane() else { return };
    let quay = Quay::at(Namespace::create(plane.access()).unwrap());
    for name in ["a", "b", "c"] {
        quay.kubectl(&["create", "configmap", name]);
    }
    plane.kill_api_server();
    let table: [(&str, &[&str], &str); 3] = [
        ("wait", &["cm/a", "--for", "create"], ""),
        ("delete", &["cm/b"], "Deleted configmap/b"),
        ("explain", &["cm/c"], "Ready configmap/c"),
    ];
    let mut children: Vec<_> =
        table.iter().map(|(command, args, _)| quay.start(command, args)).collect();
    for child in &mut children {
        hear(child, "connection refused by ");
    }
    plane.start_api_server().unwrap();
    for (mut child, (command, _, wanted)) in children.into_iter().zip(table) {
        let (mut out, mut said) = (String::new(), String::new());
        child.stdout.as_mut().unwrap().read_to_string(&mut out).unwrap();
        child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{command}: {said}");
        assert!(out.contains(wanted), "{command}: {out}{said}");
    }
    let left = quay.kubectl(&["get", "cm", "-o", "name"]);
    assert!(left.contains("map/a\n") && !left.contains("map/b\n"), "{left}");
}
