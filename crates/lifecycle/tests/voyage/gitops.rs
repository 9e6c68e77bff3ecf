//! Addons that Flux brings, and one without a stage of its own.

use serde_json::Value;

use crate::harbour::Harbour;

const METRICS: &str = "    cilium: {}
    hcloud-ccm: {}
    metrics-server: {}
";

const BY_GITOPS: &str = "    cilium: {}
    hcloud-ccm: {}
    hcloud-csi: { by: gitops }
    metrics-server: { by: gitops }
    sealed-secrets: { by: gitops }
    flux: { repository: ssh://git@example.com/fleet, branch: main, path: clusters/demo }
";

/// The lines of the stages, without their times.
fn stages(text: &str) -> Vec<String> {
    let line = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn addons_by_gitops_are_proven_once_flux_has_brought_them() {
    let harbour = Harbour::with_addons("4", BY_GITOPS, |_| true).await;
    let first = harbour.up(None).await;
    println!("{}", first.text);
    assert!(first.is_done, "{}", first.text);
    let told = stages(&first.text);
    for expected in ["Skipped storage", "Passed seal", "Passed gitops", "Passed proof"] {
        assert!(told.iter().any(|line| line == expected), "no {expected}: {}", first.text);
    }
    let effects = harbour.world.effects().all().len();
    let second = harbour.up(None).await;
    assert!(second.is_done, "{}", second.text);
    let more = harbour.world.effects().all().split_off(effects);
    assert!(more.is_empty(), "a second run changes nothing: {more:?}");
    assert_eq!(harbour.leaks(&(first.text + &second.text)), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_lacks_an_addon_is_told_by_the_addons_gate() {
    let holds = |object: &Value| object["kind"] != "APIService";
    let harbour = Harbour::with_addons("5", BY_GITOPS, holds).await;
    let ran = harbour.up(None).await;
    assert!(!ran.is_done, "{}", ran.text);
    let cause = "v1beta1.metrics.k8s.io is not available";
    assert!(
        ran.text.contains(cause) && ran.text.contains("gitops, metrics-server"),
        "{}",
        ran.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_server_comes_without_flux_too() {
    let harbour = Harbour::with_addons("6", METRICS, |_| true).await;
    let ran = harbour.up(None).await;
    assert!(ran.is_done, "{}", ran.text);
    assert!(ran.text.contains("v1beta1.metrics.k8s.io is available"), "{}", ran.text);
}
