//! The first and the second Ctrl-C, on a real API server.

use std::process::Child;
use std::time::Duration;

use rig::FaultyProxy;
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::quay::{Quay, hear, interrupt, press};
use crate::shore::map;

/// Lets every request of a sort take longer than anybody waits.
fn hold(proxy: &FaultyProxy, verb: &str) {
    let slow = Fault::Delay(Duration::from_mins(5));
    proxy.add(Rule::always(Matching::class(verb, "configmaps"), slow));
}

fn until_asked(proxy: &FaultyProxy, verb: &str) {
    let mut counts = proxy.counts();
    let asked = counts.wait_for(|counts| counts.of(verb, "configmaps") > 0);
    tokio::runtime::Runtime::new().unwrap().block_on(asked).unwrap();
}

/// Presses Ctrl-C twice, and returns how it ended and what was said at the end.
fn interrupt_twice(mut child: Child) -> (i32, String) {
    press(&child);
    hear(&mut child, "once more does not wait");
    interrupt(child)
}

#[test]
fn the_second_ctrl_c_of_an_apply_does_not_wait_and_loses_nothing() {
    let Some(quay) = Quay::reach() else { return };
    quay.workplace.write("a.yaml", map("a", "1") + &map("b", "1"));
    let proxy = quay.proxy();
    hold(&proxy, "patch");
    let child = quay.start_as("proxied", "apply", &["-f", "a.yaml", "--wait"]);
    until_asked(&proxy, "patch");
    let (exit, said) = interrupt_twice(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("what was under way may have arrived"), "{said}");
    assert!(said.contains("the same command looks what is there"), "{said}");
    proxy.behave();
    let again = quay.run("apply", &["-f", "a.yaml", "--wait"]);
    assert_eq!(again.exit, 0, "{again}");
    assert_eq!(quay.kubectl(&["get", "cm", "a", "b", "-o", "name"]).lines().count(), 2);
}

#[test]
fn the_second_ctrl_c_of_a_delete_does_not_wait_and_loses_nothing() {
    let Some(quay) = Quay::reach() else { return };
    quay.kubectl(&["create", "configmap", "a"]);
    let proxy = quay.proxy();
    hold(&proxy, "delete");
    let child = quay.start_as("proxied", "delete", &["cm/a"]);
    until_asked(&proxy, "delete");
    let (exit, said) = interrupt_twice(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("what was under way may have arrived"), "{said}");
    proxy.behave();
    let again = quay.run("delete", &["cm/a", "--ignore-not-found"]);
    assert_eq!(again.exit, 0, "{again}");
    assert!(!quay.kubectl(&["get", "cm", "-o", "name"]).contains("configmap/a\n"));
}

/// What was applied is there; what was to go is perhaps not gone, and nobody has
/// written down that it is: that is no success.
#[test]
fn ctrl_c_while_members_are_pruned_is_told_and_the_next_run_goes_on() {
    let Some(quay) = Quay::reach() else { return };
    quay.workplace.write("a.yaml", map("a", "1") + &map("b", "1"));
    let set = ["-f", "a.yaml", "--applyset", "shop", "--prune"];
    assert_eq!(quay.run("apply", &set).exit, 0);
    quay.workplace.write("a.yaml", map("a", "1"));
    let proxy = quay.proxy();
    let slow = Fault::Delay(Duration::from_secs(4));
    proxy.add(Rule::next(1, Matching::class("delete", "configmaps"), slow));
    let child = quay.start_as("proxied", "apply", &set);
    until_asked(&proxy, "delete");
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("Not pruned the work was ended first"), "{said}");
    let again = quay.run("apply", &set);
    assert_eq!(again.exit, 0, "{again}");
    assert!(!quay.kubectl(&["get", "cm", "-o", "name"]).contains("configmap/b\n"), "{again}");
}

/// The first Ctrl-C keeps the rest from being forced, the second does not wait.
#[test]
fn ctrl_c_stops_the_removal_of_finalizers() {
    let Some(quay) = Quay::reach() else { return };
    let held = |name: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, finalizers: \
             [example.com/stay]}}}}\n---\n"
        )
    };
    quay.workplace.write("held.yaml", held("a") + &held("b"));
    assert_eq!(quay.run("apply", &["-f", "held.yaml"]).exit, 0);
    let force = ["-f", "held.yaml", "--timeout", "1s", "--force-finalizers"];
    let proxy = quay.proxy();
    hold(&proxy, "patch");
    let child = quay.start_as("proxied", "delete", &force);
    until_asked(&proxy, "patch");
    let (exit, said) = interrupt_twice(child);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("what was under way may have arrived"), "{said}");
    // Once, and the answer comes: what was sent is told, the other is left alone.
    proxy.behave();
    let slow = Fault::Delay(Duration::from_secs(2));
    proxy.add(Rule::always(Matching::class("patch", "configmaps"), slow));
    let before = proxy.counts().borrow().of("patch", "configmaps");
    let child = quay.start_as("proxied", "delete", &force);
    let mut counts = proxy.counts();
    let asked = counts.wait_for(|counts| counts.of("patch", "configmaps") > before);
    tokio::runtime::Runtime::new().unwrap().block_on(asked).unwrap();
    let (exit, said) = interrupt(child);
    assert_eq!(exit, 5, "{said}");
    assert_eq!(said.matches("Forced configmap/").count(), 1, "{said}");
    assert_eq!(quay.kubectl(&["get", "cm", "-o", "name"]).matches("map/").count(), 2, "{said}");
    let ended = quay.run("delete", &[&force[..], &["--ignore-not-found"]].concat());
    assert_eq!(ended.exit, 0, "{ended}");
}

/// It only looks, so that the first is enough, and one more does no harm.
#[test]
fn a_wait_ends_at_the_first_ctrl_c() {
    let Some(quay) = Quay::reach() else { return };
    for presses in 1..=2 {
        let mut child = quay.start("wait", &["cm/late", "--for", "create"]);
        hear(&mut child, "late: it is not there");
        (1..presses).for_each(|_| press(&child));
        let (exit, said) = interrupt(child);
        assert_eq!(exit, 5, "{said}");
        assert!(said.contains("Awaited configmap/late: it is not there"), "{said}");
        assert!(said.contains("0 there; nothing was changed"), "{said}");
    }
}

/// The command for a token may wait for somebody who has gone.
#[test]
fn a_command_for_a_token_does_not_hold_up_the_first_ctrl_c() {
    let Some(quay) = Quay::reach() else { return };
    quay.workplace.write("a.yaml", map("a", "1"));
    quay.workplace.write("hold", "");
    let place = quay.workplace.path().display().to_string();
    let script = format!("touch {place}/asked; while [ -e {place}/hold ]; do sleep 0.05; done");
    let user = json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never", "command": "sh", "args": ["-c", script] } });
    let slow = quay.kubeconfig_with("slow", &user);
    for command in ["apply", "diff", "drift", "delete"] {
        let child = quay.start_as(&slow, command, &["-f", "a.yaml"]);
        let asked = quay.workplace.path().join("asked");
        while !asked.exists() {
            std::thread::yield_now();
        }
        let (exit, said) = interrupt(child);
        assert_eq!(exit, 5, "{command}: {said}");
        assert!(said.contains("stopped by Ctrl-C; nothing was changed"), "{command}: {said}");
        std::fs::remove_file(asked).unwrap();
    }
    std::fs::remove_file(quay.workplace.path().join("hold")).unwrap();
}
