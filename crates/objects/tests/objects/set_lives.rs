//! Objects whose uid somebody remembers, as a state of Terraform does.

use objects::diff::Veil;
use objects::set::{Finding, Outcome, Report, Set, Settings, StepError, Walk};
use objects::{Change, Object, Ownership, Trouble};
use serde_json::json;

use crate::harbour::{Harbour, means};

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
