//! The proxy in front of a real API server, asked by the real kubectl.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may, and this one measures delays"
)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rig::proxy::{Fault, Matching, Rule};
use rig::{FaultyProxy, Kubectl, Namespace, need};

const PATIENCE: Duration = Duration::from_mins(1);

struct Setup {
    namespace: Namespace,
    proxy: FaultyProxy,
    kubectl: Kubectl,
}

impl Setup {
    #[track_caller]
    fn new() -> Option<Self> {
        let namespace = need::namespace()?;
        let proxy = FaultyProxy::start(namespace.access()).unwrap();
        let kubectl = Kubectl::new(namespace.kubectl().binary(), proxy.kubeconfig());
        Some(Self { namespace, proxy, kubectl })
    }

    /// Runs kubectl through the proxy, inside the test's namespace.
    fn run(&self, args: &[&str]) -> Result<String, String> {
        let inside = ["-n", self.namespace.name()];
        let args: Vec<&str> = inside.iter().chain(args).copied().collect();
        self.kubectl.run(&args).map_err(|error| error.to_string())
    }

    fn raw(&self, path: &str) -> Result<String, String> {
        self.run(&["get", "--raw", path])
    }

    fn configmaps(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace.name())
    }
}

#[test]
fn without_rules_everything_passes_and_is_counted() {
    let Some(setup) = Setup::new() else { return };
    setup.run(&["create", "configmap", "a", "--from-literal=k=v"]).unwrap();
    let value = setup.run(&["get", "configmap", "a", "-o", "jsonpath={.data.k}"]).unwrap();
    assert_eq!(value, "v");
    setup.run(&["delete", "configmap", "a"]).unwrap();
    let counts = setup.proxy.counts().borrow().clone();
    assert_eq!(counts.of("create", "configmaps"), 1);
    assert_eq!(counts.of("delete", "configmaps"), 1);
    assert_eq!(counts.faults(), 0);
}

#[test]
fn who_asks_stays_who_asks() {
    let Some(setup) = Setup::new() else { return };
    let me = setup.run(&["auth", "whoami", "-o", "json"]).unwrap();
    assert!(me.contains("rig-admin") && me.contains("system:masters"), "{me}");
    // A token passes too, from a client that shows no certificate.
    let token = setup.run(&["create", "token", "default"]).unwrap();
    let authority = setup.namespace.access().dir().join("pki/ca.crt");
    let output = Command::new(setup.kubectl.binary())
        .args(["--kubeconfig=/dev/null", "--server", &setup.proxy.server()])
        .arg("--certificate-authority")
        .arg(authority)
        .args(["--token", &token, "auth", "whoami", "-o", "json"])
        .output()
        .unwrap();
    let me = String::from_utf8_lossy(&output.stdout);
    let account = format!("system:serviceaccount:{}:default", setup.namespace.name());
    assert!(me.contains(&account), "{me}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_status_is_answered_as_often_as_asked() {
    let Some(setup) = Setup::new() else { return };
    let matching = Matching::class("list", "configmaps");
    setup.proxy.add(Rule::next(2, matching, Fault::Status(503)));
    let path = setup.configmaps();
    for _ in 0..2 {
        let error = setup.raw(&path).unwrap_err();
        assert!(error.contains("ServiceUnavailable"), "{error}");
    }
    setup.raw(&path).unwrap();
    assert_eq!(setup.proxy.counts().borrow().faults(), 2);
}

#[test]
fn a_throttled_client_waits_as_long_as_it_is_told() {
    let Some(setup) = Setup::new() else { return };
    let retry_after = Duration::from_secs(1);
    setup.proxy.add(Rule::next(
        1,
        Matching::class("list", "configmaps"),
        Fault::Throttle { retry_after },
    ));
    let began = Instant::now();
    // kubectl's own client obeys Retry-After and asks again.
    setup.raw(&setup.configmaps()).unwrap();
    assert!(began.elapsed() >= retry_after);
    assert_eq!(setup.proxy.counts().borrow().of("list", "configmaps"), 2);
}

#[test]
fn a_delay_delays() {
    let Some(setup) = Setup::new() else { return };
    let delay = Duration::from_millis(700);
    setup.proxy.add(Rule::next(1, Matching::path(&setup.configmaps()), Fault::Delay(delay)));
    let began = Instant::now();
    setup.raw(&setup.configmaps()).unwrap();
    assert!(began.elapsed() >= delay);
}

#[test]
fn a_cut_answer_and_a_dropped_request_are_errors_of_the_connection() {
    let Some(setup) = Setup::new() else { return };
    for fault in [Fault::CutAfter(10), Fault::Drop] {
        setup.proxy.add(Rule::always(Matching::class("list", "configmaps"), fault.clone()));
        let error = setup.raw(&setup.configmaps()).unwrap_err();
        assert!(error.contains("INTERNAL_ERROR") || error.contains("EOF"), "{fault:?}: {error}");
        setup.proxy.behave();
    }
    setup.raw(&setup.configmaps()).unwrap();
}

#[test]
fn a_lost_answer_leaves_its_effect() {
    let Some(setup) = Setup::new() else { return };
    let matching = Matching::class("create", "configmaps");
    setup.proxy.add(Rule::always(matching, Fault::LoseAnswer));
    setup.run(&["create", "configmap", "in-doubt"]).unwrap_err();
    setup.proxy.behave();
    setup.run(&["get", "configmap", "in-doubt"]).unwrap();
}

#[test]
fn a_dropped_write_has_no_effect() {
    let Some(setup) = Setup::new() else { return };
    setup.proxy.add(Rule::always(Matching::class("create", "configmaps"), Fault::Drop));
    setup.run(&["create", "configmap", "never"]).unwrap_err();
    let error = setup.run(&["get", "configmap", "never"]).unwrap_err();
    assert!(error.contains("NotFound"), "{error}");
}

#[test]
fn a_client_without_http2_is_served_and_cut_too() {
    let Some(setup) = Setup::new() else { return };
    let list = || {
        let mut kubectl = setup.kubectl.command();
        let path = setup.configmaps();
        kubectl.env("DISABLE_HTTP2", "true").args(["get", "--raw", &path]).output().unwrap()
    };
    assert!(list().status.success());
    setup.proxy.add(Rule::next(1, Matching::class("list", "configmaps"), Fault::CutAfter(10)));
    let cut = list();
    let said = String::from_utf8_lossy(&cut.stderr);
    assert!(!cut.status.success() && said.contains("unexpected EOF"), "{said}");
}

#[tokio::test]
async fn a_watch_streams_and_can_be_awaited() {
    let Some(setup) = Setup::new() else { return };
    let mut watching = setup
        .kubectl
        .command()
        .args(["-n", setup.namespace.name(), "get", "configmaps", "--watch-only", "-o", "name"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let seen = setup.proxy.wait_for(PATIENCE, |counts| counts.of("watch", "configmaps") == 1);
    seen.await.unwrap();
    setup.run(&["create", "configmap", "fresh"]).unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    // The certificate bundle of every namespace may be seen first.
    let found = lines.any(|line| line.unwrap() == "configmap/fresh");
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert!(found);
}

#[tokio::test]
async fn a_wait_that_fails_returns_what_was_counted() {
    let Some(setup) = Setup::new() else { return };
    setup.raw("/readyz").unwrap();
    let counts = setup.proxy.wait_for(Duration::ZERO, |counts| counts.total() > 99).await;
    assert_eq!(counts.unwrap_err().of("get", "/readyz"), 1);
}
