//! `explain` of codes, and of objects on a real API server.

use serde_json::Value;

use crate::quay::Quay;
use crate::workplace::Workplace;

#[test]
fn an_object_is_explained_down_to_what_is_closest_to_the_cause() {
    let Some(quay) = Quay::reach() else { return };
    // Its pod finds no node.
    quay.kubectl(&["create", "deployment", "web", "--image=none"]);
    quay.kubectl(&["create", "configmap", "a"]);
    let ran = quay.run("wait", &["deploy/web", "--grace", "1s"]);
    assert_eq!(ran.exit, 3, "{ran}");
    let ran = quay.run("explain", &["deploy/web", "cm/a"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran}");
    assert!(ran.stdout.contains("Ready configmap/a in namespace"), "{ran}");
    assert!(ran.stdout.contains("Not ready deployment.apps/web in namespace"), "{ran}");
    let chain =
        ["because  deployment web:", "←  replicaset web-", "←  pod web-", "next     kubectl"];
    let mut rest = ran.stdout.as_str();
    for part in chain {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} is missing: {ran}")).1;
    }
    let ran = quay.run("explain", &["deploy", "--all", "-o", "json"]);
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(record["objects"][0]["result"], "not ready", "{ran}");
    assert_eq!(record["objects"][0]["chain"][0]["who"], "deployment web", "{ran}");
}

#[test]
fn what_is_not_there_or_has_no_such_kind_is_told() {
    let Some(quay) = Quay::reach() else { return };
    let ran = quay.run("explain", &["cm/none"]);
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("configmap/none in namespace"), "{ran}");
    assert!(ran.stderr.contains("is not there"), "{ran}");
    let ran = quay.run("explain", &["configmapp/none"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("did you mean `configmap`?"), "{ran}");
}

#[test]
fn codes_are_explained_without_any_cluster() {
    let workplace = Workplace::new();
    let page = workplace.run(["explain", "SW0307"]);
    assert_eq!(page.exit, 0, "{page}");
    assert!(page.stdout.starts_with("# SW0307: "), "{page}");
    let all = workplace.run(["explain"]);
    assert!(all.stdout.contains("\nSW0307  "), "{all}");
    let ran = workplace.run(["explain", "SW9999"]);
    assert_eq!(ran.exit, 2, "{ran}");
    let ran = workplace.run(["explain", "deployment"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("neither a code, as SW0307 is, nor KIND/NAME"), "{ran}");
}
