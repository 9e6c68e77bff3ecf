//! Inventories where something goes wrong: what is not known stays remembered.

use std::time::Duration;

use objects::diff::Veil;
use objects::set::{Adopt, Inventory, Mode, Prune, Report, Set, Settings};
use objects::{ApiError, Object, ObjectId, Trouble};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::{Value, json};

use crate::harbour::{Harbour, means};
use crate::inventory::ends;
use crate::remove::{held, release};
use crate::set::story;

const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";

impl Harbour {
    async fn find_maps(&self, objects: &[Object]) -> Result<Vec<Object>, ApiError> {
        let ids: Vec<ObjectId> = objects.iter().map(|object| object.id().clone()).collect();
        self.fresh().await.find(&ids, |live| live).await
    }

    /// Applies to the set, and prunes nothing of it.
    async fn keep_set(&self, objects: Vec<Object>) -> Report {
        let inventory = Some(Inventory::parse("shop", self.namespace.name()).unwrap());
        let set = Set { inventory, ..Set::new(objects, self.namespace.name()) };
        let cluster = self.fresh().await;
        cluster.apply_set(set, Settings::default(), &means(), |_| ()).await.unwrap()
    }

    /// The kinds that the parent says.
    pub(crate) fn remembered(&self) -> String {
        self.parent()["metadata"]["annotations"][KINDS].as_str().unwrap().to_owned()
    }

    async fn drift_of_members(&self) -> Result<usize, String> {
        let inventory = Inventory::parse("shop", self.namespace.name()).unwrap();
        let (settings, veil) = (Settings::default(), Veil::new([7; 32]));
        let cluster = self.fresh().await;
        let looked = cluster.drift_of_members(inventory, settings, &means(), &veil).await;
        looked.map(|(count, _)| count).map_err(|error| error.to_string())
    }
}

/// Whoever stands before the API may say of any path that it is not found.
#[tokio::test]
async fn what_was_not_found_by_somebody_else_is_not_gone() {
    let Some(opening) = Harbour::open() else { return };
    let mut harbour = opening.harbour().await;
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let all = harbour.maps(&names);
    harbour.prune_set(all.clone(), Settings::default()).await.unwrap();

    // Nothing of it is an API.
    harbour.proxy.add(Rule::always(Matching::any(), Fault::Status(404)));
    for some in [&all[..], &all[..1]] {
        let error = harbour.find_maps(some).await.unwrap_err();
        assert!(matches!(error.trouble(), Trouble::NoApi(_)), "{error:?}");
        let told = error.to_string();
        assert!(told.contains("no Kubernetes API answers there: /api is not found"), "{told}");
        assert!(told.contains("look at the server of the kubeconfig"), "{told}");
    }
    assert!(harbour.drift_of_members().await.unwrap_err().contains("no Kubernetes API"));

    // It is one, and one path of it leads elsewhere.
    harbour.proxy.behave();
    harbour.proxy.add(Rule::always(Matching::class("list", "configmaps"), Fault::Status(404)));
    let not_gone = "the API does not say that the kind is gone";
    let error = harbour.find_maps(&all).await.unwrap_err().to_string();
    assert!(error.contains(not_gone), "{error}");
    let error = harbour.drift_of_members().await.unwrap_err();
    assert!(error.contains(not_gone), "{error}");
    harbour.cluster = harbour.fresh().await;
    let account = harbour.object("v1", "ServiceAccount", "runner", json!({}));
    let report = harbour.prune_set(vec![account], Settings::default()).await.unwrap();
    assert!(!report.is_whole() && ends(&report)[0].contains(not_gone), "{:?}", ends(&report));
    assert_eq!(harbour.remembered(), "ConfigMap,ServiceAccount", "nothing is forgotten");

    harbour.proxy.behave();
    assert_eq!(harbour.drift_of_members().await, Ok(10));
    assert_eq!(harbour.live_maps(), names);
}

/// Neither by the run that marked it nor by the next one.
#[tokio::test]
async fn what_an_earlier_run_could_not_see_gone_is_waited_for_again() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let held = json!({ "metadata": { "finalizers": ["example.com/hold"] } });
    let held = harbour.object("v1", "ConfigMap", "held", held);
    harbour.prune_set(vec![held], Settings::default()).await.unwrap();
    let account = || vec![harbour.object("v1", "ServiceAccount", "runner", json!({}))];
    let hurried = Settings { patience: Duration::from_secs(2), ..Settings::default() };
    for run in ["first", "second", "third"] {
        let report = harbour.prune_set(account(), hurried).await.unwrap();
        let told = ends(&report).join("\n");
        assert!(!report.is_whole(), "{run}: {told}");
        assert!(
            told.contains("held stuck: ") && told.contains("example.com/hold"),
            "{run}: {told}"
        );
        assert_eq!(harbour.remembered(), "ConfigMap,ServiceAccount", "{run}");
    }
    let dry = Settings { mode: Mode::DryRun, ..Settings::default() };
    let report = harbour.prune_set(account(), dry).await.unwrap();
    assert_eq!(ends(&report), [""; 0], "nothing is left to ask for");

    let free = r#"{"metadata":{"finalizers":null}}"#;
    let releasing = async {
        harbour.kubectl(&["patch", "cm", "held", "--type=merge", "-p", free]);
    };
    let (report, ()) = tokio::join!(harbour.prune_set(account(), Settings::default()), releasing);
    let report = report.unwrap();
    assert!(report.is_whole(), "{:?}", ends(&report));
    assert_eq!(harbour.remembered(), "ServiceAccount");
}

/// That something keeps a member, and that it cannot be seen any more, are two
/// things.
#[tokio::test]
async fn looks_that_failed_are_told_beside_what_keeps_a_member() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.prune_set(vec![held(&harbour, "held")], Settings::default()).await.unwrap();
    harbour.proxy.add(Rule::always(Matching::class("watch", "configmaps"), Fault::Status(500)));
    let hurried = Settings { patience: Duration::from_secs(3), ..Settings::default() };
    let told = ends(&harbour.prune_set(vec![], hurried).await.unwrap());
    assert!(told[0].starts_with("held stuck: finalizer example.com/stay is left; "), "{told:?}");
    assert!(told[0].contains(" failed"), "{told:?}");
    harbour.proxy.behave();
    release(&harbour, "held");
}

/// Two runs on one set, each of which saw it before the other wrote.
#[tokio::test]
async fn two_that_write_one_inventory_forget_nothing_of_each_other() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let kinds = [("ConfigMap", "a"), ("ServiceAccount", "b"), ("Secret", "c"), ("Service", "d")];
    let object = |(kind, name): (&str, &str)| {
        let spec = json!({ "spec": { "ports": [{ "port": 80 }] } });
        let body = if kind == "Service" { spec } else { json!({}) };
        harbour.object("v1", kind, name, body)
    };
    // The parent is made by four at once, and then extended by four at once.
    for round in ["1", "2"] {
        let delay = Fault::Delay(Duration::from_millis(700));
        harbour.proxy.add(Rule::next(4, Matching::class("patch", "secrets"), delay));
        let runs = kinds.map(|(kind, name)| {
            let objects = vec![object((kind, &format!("{name}{round}")))];
            harbour.keep_set(objects)
        });
        for report in futures::future::join_all(runs).await {
            assert!(report.is_whole(), "{:?} {:?}", story(&report), ends(&report));
        }
        assert_eq!(harbour.remembered(), "ConfigMap,Secret,Service,ServiceAccount", "{round}");
        let less = format!("{KINDS}=ConfigMap");
        harbour.kubectl(&["annotate", "--overwrite", "secret", "shop", &less]);
    }
}

/// The other run narrows the inventory after we have extended it and before our
/// object is there to be seen.
#[tokio::test]
async fn what_another_run_narrowed_meanwhile_is_remembered_again() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
    let slow = Fault::Delay(Duration::from_secs(4));
    harbour.proxy.add(Rule::next(1, Matching::class("patch", "serviceaccounts"), slow));
    let account = harbour.object("v1", "ServiceAccount", "runner", json!({}));
    let other = async {
        let mut counts = harbour.proxy.counts();
        counts.wait_for(|counts| counts.of("patch", "serviceaccounts") == 1).await.unwrap();
        assert_eq!(harbour.remembered(), "ConfigMap,ServiceAccount");
        let report = harbour.prune_set(harbour.maps(&["b"]), Settings::default()).await.unwrap();
        assert_eq!(ends(&report), ["a deleted"]);
        assert_eq!(harbour.remembered(), "ConfigMap");
    };
    let (report, ()) = tokio::join!(harbour.keep_set(vec![account]), other);
    assert!(report.is_whole(), "{:?}", ends(&report));
    assert_eq!(harbour.remembered(), "ConfigMap,ServiceAccount");
}

/// The other run waits for a member to be gone, while we make one of the same
/// kind: the inventory says that kind, so that there is nothing for us to write.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_while_another_run_was_about_to_forget_its_kind_is_remembered() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let account = |name: &str| harbour.object("v1", "ServiceAccount", name, json!({}));
    let mut set = harbour.maps(&["a"]);
    set.push(account("old"));
    harbour.prune_set(set, Settings::default()).await.unwrap();
    let held_by = |finalizers: Value| {
        let patch = json!({ "metadata": { "finalizers": finalizers } }).to_string();
        harbour.kubectl(&["patch", "serviceaccount", "old", "--type=merge", "-p", &patch]);
    };
    held_by(json!(["example.com/stay"]));
    let ours = async {
        let mut counts = harbour.proxy.counts();
        counts.wait_for(|counts| counts.of("delete", "serviceaccounts") == 1).await.unwrap();
        assert!(harbour.keep_set(vec![account("new")]).await.is_whole());
        held_by(Value::Null);
    };
    let patient = Settings { patience: Duration::from_mins(1), ..Settings::default() };
    let (report, ()) = tokio::join!(harbour.prune_set(harbour.maps(&["a"]), patient), ours);
    let report = report.unwrap();
    assert_eq!(ends(&report), ["old deleted"]);
    assert_eq!(harbour.remembered(), "ConfigMap,ServiceAccount", "{report:?}");
}

/// Ctrl-C while members are deleted: what was asked for is waited for, and
/// nothing more is asked for.
#[tokio::test]
async fn an_end_comes_between_two_deletions_and_the_next_run_goes_on() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let names = ["a", "b", "c", "d", "e"];
    harbour.prune_set(harbour.maps(&names), Settings::default()).await.unwrap();
    let slow = Fault::Delay(Duration::from_secs(2));
    harbour.proxy.add(Rule::next(1, Matching::class("delete", "configmaps"), slow));
    let means = means();
    let inventory = Some(Inventory::parse("shop", harbour.namespace.name()).unwrap());
    let account = || vec![harbour.object("v1", "ServiceAccount", "runner", json!({}))];
    let prune = Prune::Yes;
    let set = Set { inventory, prune, ..Set::new(account(), harbour.namespace.name()) };
    let few = Settings { in_flight: 1, ..Settings::default() };
    let ending = async {
        let mut counts = harbour.proxy.counts();
        counts.wait_for(|counts| counts.of("delete", "configmaps") == 1).await.unwrap();
        means.cancel.cancel();
    };
    let applying = harbour.cluster.apply_set(set, few, &means, |_| ());
    let (report, ()) = tokio::join!(applying, ending);
    let report = report.unwrap();
    assert!(!report.is_whole(), "{report:?}");
    assert_eq!(report.not_pruned, Some("the work was ended first"));
    let told = ends(&report);
    let kept = told.iter().filter(|line| line.contains("kept: the work was ended before")).count();
    assert_eq!((told.len(), kept), (5, 4), "{told:?}");
    assert_eq!(harbour.live_maps().len(), 4, "{told:?}");
    assert_eq!(harbour.remembered(), "ConfigMap,ServiceAccount");
    assert_eq!(means.errand.doubts(), []);

    let report = harbour.prune_set(account(), few).await.unwrap();
    assert_eq!(ends(&report).len(), 4, "{:?}", ends(&report));
    assert_eq!(harbour.live_maps(), [""; 0]);
    assert_eq!(harbour.remembered(), "ServiceAccount");
}

/// As kubectl does it, which judges here: no annotation is no empty set, and the
/// older one is read.
#[tokio::test]
async fn a_parent_that_does_not_say_its_kinds_is_refused_as_kubectl_does() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let all = harbour.maps(&["a", "b"]);
    let some = harbour.maps(&["a"]);
    let take = Settings { adopt: Adopt::Always, ..Settings::default() };
    let annotate = |notes: &[&str]| {
        let args = [&["annotate", "--overwrite", "secret", "shop"], notes].concat();
        harbour.kubectl(&args);
    };
    let (theirs, old) =
        ("applyset.kubernetes.io/tooling=kubectl/v1.36.3", "contains-group-resources");
    harbour.prune_set(all, Settings::default()).await.unwrap();

    annotate(&[theirs, &format!("{KINDS}-")]);
    let refused = harbour.kubectl_set(&some, &[]).unwrap_err();
    assert!(refused.contains("kubectl requires the"), "{refused}");
    let refused = harbour.prune_set(some.clone(), take).await.unwrap_err().to_string();
    assert!(refused.contains("does not say of which kinds its members are"), "{refused}");

    annotate(&[&format!("applyset.kubernetes.io/{old}=configmaps,nothings.example.net")]);
    let refused = harbour.kubectl_set(&some, &[]).unwrap_err();
    assert!(refused.contains("nothings"), "{refused}");
    let refused = harbour.prune_set(some.clone(), take).await.unwrap_err().to_string();
    assert!(refused.contains("nothings.example.net, which the API does not serve"), "{refused}");
    assert_eq!(harbour.live_maps(), ["a", "b"]);

    annotate(&[&format!("applyset.kubernetes.io/{old}=configmaps,deployments.apps")]);
    let report = harbour.prune_set(some.clone(), take).await.unwrap();
    assert_eq!(ends(&report), ["b deleted"]);
    assert_eq!(harbour.remembered(), "ConfigMap");
    annotate(&[theirs]);
    harbour.kubectl_set(&some, &[]).unwrap();
}
