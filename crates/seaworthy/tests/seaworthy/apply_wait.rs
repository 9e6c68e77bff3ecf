//! `apply --wait` on a real API server, and Ctrl-C in the middle of an apply.

use std::time::Duration;

use rig::proxy::{Fault, FaultyProxy, Matching, Rule};
use serde_json::Value;

use crate::shore::{Shore, deployment, map};

#[test]
fn apply_waits_until_everything_is_ready() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("app.yaml", map("a", "1") + &deployment("web", 0));
    let ran = shore.run("apply", &["-f", "app.yaml", "--wait", "--stable", "1s"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains("Applied 2 objects: 2 created"), "{ran}");
    assert!(ran.stderr.contains("Done all 2 objects are ready after "), "{ran}");
    let json = shore.run("apply", &["-f", "app.yaml", "--wait", "-o", "json"]);
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.exit, &record["waited"]["met"]), (0, &Value::Bool(true)), "{json}");
}

#[test]
fn what_nobody_can_judge_is_told_and_not_waited_for() {
    let Some(shore) = Shore::reach() else { return };
    // Definitions are of the whole cluster, so each test has a group of its own.
    let group = format!("{}.example.com", shore.namespace.name());
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{ name: things.{group} }}\nspec:\n  group: {group}\n  scope: Namespaced\n  \
         names: {{ kind: Thing, plural: things }}\n  versions:\n  - {{ name: v1, served: true, \
         storage: true, schema: {{ openAPIV3Schema: {{ type: object }} }} }}\n---\n"
    );
    let thing = format!("apiVersion: {group}/v1\nkind: Thing\nmetadata: {{ name: t }}\n");
    shore.workplace.write("app.yaml", definition + &thing);
    let ran = shore.run("apply", &["-f", "app.yaml", "--wait", "--timeout", "30s"]);
    shore.kubectl(&["delete", "crd", &format!("things.{group}")]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stderr.contains(&format!("Not judged 1 object: thing.{group}/t")), "{ran}");
    let ready = format!("Ready customresourcedefinition.apiextensions.k8s.io/things.{group}");
    assert!(ran.stderr.contains(&ready), "{ran}");
}

#[test]
fn what_is_not_ready_in_time_is_explained() {
    let Some(shore) = Shore::reach() else { return };
    // The shared control plane has no node: the pod stays where it is.
    shore.workplace.write("app.yaml", map("a", "1") + &deployment("web", 1));
    let ran = shore.run("apply", &["-f", "app.yaml", "--wait", "--timeout", "4s"]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("Applied 2 objects: 2 created"), "{ran}");
    assert!(ran.stderr.contains("Waiting deployment.apps/web: "), "{ran}");
    assert!(ran.stderr.contains("error: deployment.apps/web in namespace "), "{ran}");
    let told = ran.stderr.split("error: ").nth(1).unwrap();
    for link in ["  because  deployment web: 0 of 1 pods", "←  pod web-", "  next     kubectl -n "]
    {
        assert!(told.contains(link), "no `{link}`: {ran}");
    }
    let json = shore.run("apply", &["-f", "app.yaml", "--wait", "--timeout", "2s", "-o", "json"]);
    let record: Value = serde_json::from_str(&json.stdout).unwrap();
    let open = &record["waited"]["objects"][0];
    assert_eq!((json.exit, &record["whole"]), (3, &Value::Bool(true)), "{json}");
    assert!(open["chain"][0].as_str().unwrap().starts_with("deployment web"), "{json}");
}

#[test]
fn a_pause_that_the_api_asks_for_is_told() {
    let Some(shore) = Shore::reach() else { return };
    let proxy = FaultyProxy::start(shore.namespace.access()).unwrap();
    // Longer than the time between two words.
    let retry_after = Duration::from_secs(12);
    let patches = Matching::class("patch", "configmaps");
    proxy.add(Rule::next(1, patches, Fault::Throttle { retry_after }));
    shore.workplace.write("a.yaml", map("a", "1"));
    let ran = shore.run_at(proxy.kubeconfig(), "apply", &["-f", "a.yaml"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let told = ran.stderr.lines().find(|line| line.contains("Retrying for ")).unwrap_or_default();
    assert!(told.contains("s more: could not apply configmap/a in namespace "), "{ran}");
    assert!(told.contains("the API asks for a pause of 12 s"), "{ran}");
}

#[test]
fn an_interrupted_wait_says_what_is_open() {
    let Some(shore) = Shore::reach() else { return };
    shore.workplace.write("app.yaml", map("a", "1") + &deployment("web", 1));
    let kubeconfig = shore.namespace.access().kubeconfig();
    let args = ["-f", "app.yaml", "--wait"];
    let (exit, said) =
        shore.interrupt_at("Waiting deployment.apps/web", kubeconfig, "apply", &args);
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("Stopping Ctrl-C"), "{said}");
    // The config map may or may not have been looked at before the interruption.
    assert!(said.contains(" ready; 2 objects applied before"), "{said}");
    assert!(said.contains("Awaited deployment.apps/web: "), "{said}");
}

#[test]
fn an_interrupted_apply_says_what_was_not_applied_and_goes_on_later() {
    let Some(shore) = Shore::reach() else { return };
    // One fails at once, which is the word that the interruption waits for.
    let bad = map("bad", "1").replace("\ndata:", "\ndta:");
    let all: Vec<String> = (0..80).map(|index| map(&format!("m{index:02}"), "1")).collect();
    shore.workplace.write("all.yaml", bad + &all.concat());
    let proxy = FaultyProxy::start(shore.namespace.access()).unwrap();
    let slow = Fault::Delay(Duration::from_millis(700));
    for index in 0..80 {
        let namespace = shore.namespace.name();
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/m{index:02}");
        proxy.add(Rule::always(Matching::path(&path).verb("patch"), slow.clone()));
    }
    let args = ["-f", "all.yaml", "--wait"];
    let (exit, said) = shore.interrupt_at("Failed", proxy.kubeconfig(), "apply", &args);
    assert_eq!(exit, 5, "{said}");
    let there = shore.kubectl(&["get", "cm", "-o", "name"]).matches("configmap/m").count();
    assert!((1..80).contains(&there), "{there} were made: {said}");
    let words =
        format!("Not whole 81 objects: {there} created, 1 failed, {} not applied", 80 - there);
    assert!(said.contains(&words), "no `{words}`: {said}");
    assert!(said.contains(&format!("Not applied {} objects: configmap/m", 80 - there)), "{said}");

    shore.workplace.write("all.yaml", all.concat());
    let again = shore.run("apply", &["-f", "all.yaml"]);
    assert_eq!(again.exit, 0, "{again}");
    let words = format!("{} created, {there} unchanged", 80 - there);
    assert!(again.stderr.contains(&words), "no `{words}`: {again}");
}
