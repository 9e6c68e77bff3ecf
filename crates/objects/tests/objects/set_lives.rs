//! Objects whose uid somebody remembers, as a state of Terraform does.

use std::time::Duration;

use objects::diff::Veil;
use objects::set::{Adopt, Finding, Outcome, Report, Set, Settings, StepError, Walk};
use objects::{Change, Object, Ownership, Trouble};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE, means};
use crate::set::story;

fn lives(report: &Report) -> Vec<String> {
    let uid = |step: &objects::set::Step| match &step.outcome {
        Outcome::There(there) => there.version.clone().unwrap().uid,
        other => panic!("{other:?}"),
    };
    report.steps.iter().map(uid).collect()
}

fn over(error: &StepError) -> (&str, Option<&str>) {
    let StepError::AnotherLife { expected, found } = error else { panic!("{error:?}") };
    (expected, found.as_deref())
}

#[tokio::test]
async fn an_object_that_somebody_made_anew_is_neither_adopted_nor_brought_back() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let settings = Settings { walk: Walk::Compare, ..Settings::default() };
    let maps = || ["a", "b", "c"].map(|name| harbour.config_map(name, json!({ "k": "1" })));
    let known_uids = lives(&harbour.apply_set(maps().to_vec(), settings).await.unwrap());
    let known = || -> Vec<Object> {
        maps().into_iter().zip(&known_uids).map(|(map, uid)| map.of_life(uid)).collect()
    };
    let report = harbour.apply_set(known(), settings).await.unwrap();
    assert_eq!(report.count(Change::Unchanged), 3, "{report:?}");

    harbour.kubectl(&["delete", "cm", "a", "b"]);
    let anew = harbour.config_map("a", json!({ "k": "1" }));
    let anew = harbour.apply(&anew).await.unwrap().object;
    let patches = || harbour.proxy.counts().borrow().of("patch", "configmaps");
    let before = patches();
    let report = harbour.apply_set(known(), settings).await.unwrap();
    let errors: Vec<&StepError> = report.steps[..2]
        .iter()
        .map(|step| match &step.outcome {
            Outcome::Failed(error) => error,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(over(errors[0]), (known_uids[0].as_str(), anew.uid()));
    assert_eq!(over(errors[1]), (known_uids[1].as_str(), None));
    assert!(errors[1].to_string().contains("is gone; forget its uid to make it anew"));
    assert!(matches!(report.steps[2].outcome, Outcome::Left { .. }), "{report:?}");

    let wished = Set::new(known(), harbour.namespace.name());
    let veil = Veil::new([7; 32]);
    let found = harbour.cluster.diff_set(wished, settings, &means(), &veil).await.unwrap();
    let errors = found.objects[..2].iter().map(|one| match &one.finding {
        Finding::Failed(error) => over(error),
        other => panic!("{other:?}"),
    });
    let expected = [(known_uids[0].as_str(), anew.uid()), (known_uids[1].as_str(), None)];
    assert_eq!(errors.collect::<Vec<_>>(), expected);
    assert!(matches!(found.objects[2].finding, Finding::Same), "{found:?}");
    assert_eq!(patches(), before, "nothing was sent, nor tried out");

    // Also without a look, the request itself says which life is meant.
    for known in &known()[..2] {
        let permit = harbour.permit().await;
        let sent = harbour.cluster.apply(permit, known, Ownership::Take, None).await;
        let error = sent.unwrap_err();
        assert!(matches!(error.trouble(), Trouble::Changed(_)), "{error:?}");
    }
    assert_eq!(harbour.cluster.get(known()[1].id()).await.unwrap(), None);
}

/// Force would take the fields, and no field of it would be a conflict: only the
/// request itself can say that the object is to be made.
#[tokio::test]
async fn what_somebody_makes_between_look_and_request_is_not_adopted_by_accident() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let helm = ["annotate", "cm", "b", "meta.helm.sh/release-name=theirs"];
    let cases = [("a", Adopt::Never), ("b", Adopt::Unmanaged), ("c", Adopt::Unmanaged)];
    for (index, (name, adopt)) in cases.into_iter().enumerate() {
        let slow = Fault::Delay(Duration::from_secs(5));
        harbour.proxy.add(Rule::next(1, Matching::class("patch", "configmaps"), slow));
        let before = harbour.proxy.counts().borrow().of("patch", "configmaps");
        let settings = Settings { adopt, ownership: Ownership::Take, ..Settings::default() };
        let wished = vec![harbour.config_map(name, json!({ "k": "ours" }))];
        let making = async {
            let mut counts = harbour.proxy.counts();
            let sent = |counts: &rig::proxy::Counts| counts.of("patch", "configmaps") > before;
            counts.wait_for(sent).await.unwrap();
            harbour.kubectl(&["create", "cm", name, "--from-literal=k=theirs"]);
            if name == "b" {
                harbour.kubectl(&helm);
            }
        };
        let (report, ()) = tokio::join!(harbour.apply_set(wished, settings), making);
        let report = report.unwrap();
        let id = harbour.config_map(name, json!({})).id().clone();
        let live = harbour.cluster.get(&id).await.unwrap().unwrap();
        let owner =
            live.items("/metadata/managedFields").iter().any(|it| it["manager"] == "seaworthy");
        let told = [
            "a failed: it is there already, and was not made by us",
            "b failed: it belongs to the Helm release theirs",
            "c configured",
        ];
        assert_eq!(story(&report), [told[index]]);
        let adopted = name == "c";
        assert_eq!(live.text("/data/k"), Some(if adopted { "ours" } else { "theirs" }), "{name}");
        assert_eq!(owner, adopted, "{name}");
        if let Outcome::There(there) = &report.steps[0].outcome {
            assert_eq!(there.warnings, ["it appeared after we had looked, and was changed"]);
        }
    }
}

/// Whoever says which state a manifest is for means no later one.
#[tokio::test]
async fn what_somebody_changes_between_look_and_request_is_not_what_was_meant() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let made = harbour.apply(&harbour.config_map("a", json!({ "k": "1" }))).await.unwrap();
    let state = made.object.version().unwrap().resource_version;
    let mut body = harbour.config_map("a", json!({ "k": "2" })).into_body();
    body["metadata"]["resourceVersion"] = state.as_str().into();
    let slow = Fault::Delay(Duration::from_secs(5));
    harbour.proxy.add(Rule::next(1, Matching::class("patch", "configmaps"), slow));
    let before = harbour.proxy.counts().borrow().of("patch", "configmaps");
    let changing = async {
        let mut counts = harbour.proxy.counts();
        counts.wait_for(|counts| counts.of("patch", "configmaps") > before).await.unwrap();
        harbour.kubectl(&["annotate", "cm", "a", "theirs=1"]);
    };
    let wished = vec![Object::new(body).unwrap()];
    let (report, ()) = tokio::join!(harbour.apply_set(wished, Settings::default()), changing);
    let told = story(&report.unwrap());
    assert!(told[0].starts_with(&format!("a failed: the manifest is for resourceVersion {state}")));
    assert_eq!(harbour.kubectl(&["get", "cm", "a", "-o", "jsonpath={.data.k}"]), "1", "{told:?}");
}

/// An object that is changed all the time is still the one that is meant.
#[tokio::test]
async fn a_conflict_that_names_no_field_is_looked_at_again() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let maps = |value: &str| vec![harbour.config_map("a", json!({ "k": value }))];
    let conflict = || Rule::next(3, Matching::class("patch", "configmaps"), Fault::Status(409));
    for (value, change) in [("1", Change::Created), ("2", Change::Configured)] {
        harbour.proxy.add(conflict());
        let report = harbour.apply_set(maps(value), Settings::default()).await.unwrap();
        assert_eq!(report.count(change), 1, "{:?}", story(&report));
    }
    harbour.proxy.add(Rule::always(Matching::class("patch", "configmaps"), Fault::Status(409)));
    let report = harbour.apply_set(maps("3"), Settings::default()).await.unwrap();
    let Outcome::Failed(StepError::Api(error)) = &report.steps[0].outcome else {
        panic!("{:?}", story(&report))
    };
    assert!(matches!(error.trouble(), Trouble::Changed(_)), "{error:?}");
}

/// `down` and `up` again, without a pause between them.
#[tokio::test]
async fn a_namespace_of_the_set_that_is_going_is_waited_for_and_made_anew() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let fresh = format!("{}-fresh", harbour.namespace.name());
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } });
    let held = |finalizers: &[&str]| {
        let metadata = json!({ "name": "held", "namespace": fresh, "finalizers": finalizers });
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata })
    };
    let set = |finalizers: &[&str]| {
        [namespace.clone(), held(finalizers)].map(|body| Object::new(body).unwrap()).to_vec()
    };
    let settings = Settings::default();
    let first = lives(&harbour.apply_set(set(&["example.com/hold"]), settings).await.unwrap());
    harbour.kubectl(&["delete", "namespace", &fresh, "--wait=false"]);

    // Who has no patience is told what keeps it.
    let says = "--for=condition=NamespaceFinalizersRemaining";
    harbour.kubectl(&["wait", "namespace", &fresh, says, "--timeout=60s"]);
    let hasty = Settings { patience: Duration::from_secs(2), ..settings };
    let report = harbour.apply_set(set(&[]), hasty).await.unwrap();
    let told = story(&report);
    assert!(told[0].contains("failed: it is being deleted, and stays: Some"), "{told:?}");
    assert!(told[0].contains("finalizers remaining: example.com/hold"), "{told:?}");

    let means = means();
    let wished = Set::new(set(&[]), harbour.namespace.name());
    let applying = harbour.cluster.apply_set(wished, settings, &means, |_| ());
    let releasing = async {
        let said = async {
            while means.held_up_by().is_none() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, said).await.expect("it says what it waits for");
        let said = format!("{:?}", means.held_up_by().unwrap());
        assert!(said.contains(&fresh), "{said}");
        let free = r#"{"metadata":{"finalizers":null}}"#;
        harbour.kubectl(&["-n", &fresh, "patch", "cm", "held", "--type=merge", "-p", free]);
    };
    let (report, ()) = tokio::join!(applying, releasing);
    let report = report.unwrap();
    assert_eq!(report.count(Change::Created), 2, "{:?}", story(&report));
    let second = lives(&report);
    assert!(first.iter().all(|uid| !second.contains(uid)), "{first:?} {second:?}");
    harbour.kubectl(&["delete", "namespace", &fresh, "--wait=false"]);
}
