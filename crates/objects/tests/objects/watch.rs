//! Watches, with everything that ends them.

use std::collections::BTreeSet;
use std::time::Duration;

use events::Clock;
use objects::{Goal, Scope, Sighting, Terms, Timeouts, Trouble, Wait, WaitEvent, Watch};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};

fn scope(harbour: &Harbour) -> Scope {
    let kind = Harbour::kind("v1", "ConfigMap");
    Scope::all(kind).within(harbour.namespace.name()).labelled("test=yes")
}

fn labelled(harbour: &Harbour, name: &str, value: &str) -> objects::Object {
    let rest = json!({ "metadata": { "labels": { "test": "yes" } }, "data": { "k": value } });
    harbour.object("v1", "ConfigMap", name, rest)
}

async fn next(watch: &mut Watch) -> Sighting {
    let next = tokio::time::timeout(PATIENCE, watch.next()).await;
    next.expect("the watch sees something").unwrap()
}

/// As a gate does: an error is looked at, and the next call goes on.
async fn next_after_errors(watch: &mut Watch) -> (Sighting, usize) {
    for errors in 0..20 {
        let next = tokio::time::timeout(PATIENCE, watch.next()).await;
        match next.expect("the watch sees something") {
            Ok(sighting) => return (sighting, errors),
            Err(error) => assert!(error.class().is_retryable(), "{error:?}"),
        }
    }
    panic!("only errors");
}

#[tokio::test]
async fn a_watch_sees_what_is_there_what_changes_and_what_goes() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.apply(&labelled(&harbour, "a", "1")).await.unwrap();
    let mut watch = harbour.cluster.watch(scope(&harbour));
    let Sighting::Everything(all) = next(&mut watch).await else { panic!("a list comes first") };
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].kind(), &Harbour::kind("v1", "ConfigMap"));
    harbour.apply(&labelled(&harbour, "b", "1")).await.unwrap();
    assert!(matches!(next(&mut watch).await, Sighting::Changed(b) if b.id().name == "b"));
    harbour.apply(&labelled(&harbour, "a", "2")).await.unwrap();
    let changed = next(&mut watch).await;
    assert!(matches!(changed, Sighting::Changed(a) if a.text("/data/k") == Some("2")));
    harbour.kubectl(&["delete", "cm", "b"]);
    assert!(matches!(next(&mut watch).await, Sighting::Gone(b) if b.id().name == "b"));
}

#[tokio::test]
async fn a_watch_that_is_dropped_while_it_waits_loses_nothing() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mut watch = harbour.cluster.watch(scope(&harbour));
    next(&mut watch).await;
    let mut seen = BTreeSet::new();
    for round in 0..5 {
        let nothing = tokio::time::timeout(Duration::from_millis(30), watch.next()).await;
        assert!(nothing.is_err(), "{nothing:?}");
        for half in 0..2 {
            let name = format!("c{round}-{half}");
            harbour.apply(&labelled(&harbour, &name, "1")).await.unwrap();
        }
        for _ in 0..2 {
            let Sighting::Changed(object) = next(&mut watch).await else { panic!("a change") };
            seen.insert(object.id().name.clone());
        }
    }
    assert_eq!(seen.len(), 10);
}

#[tokio::test]
async fn a_cut_watch_goes_on_without_listing_again() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    // Cut in the middle of the second event.
    let cut = Fault::CutAfter(900);
    harbour.proxy.add(Rule::next(3, Matching::class("watch", "configmaps"), cut));
    let mut watch = harbour.cluster.watch(scope(&harbour));
    next(&mut watch).await;
    let mut seen = Vec::new();
    let mut errors = 0;
    for index in 0..12 {
        harbour.apply(&labelled(&harbour, &format!("d{index:02}"), "1")).await.unwrap();
        let (sighting, failed) = next_after_errors(&mut watch).await;
        errors += failed;
        let Sighting::Changed(object) = sighting else { panic!("{sighting:?}") };
        seen.push(object.id().name.clone());
    }
    let wanted: Vec<String> = (0..12).map(|index| format!("d{index:02}")).collect();
    assert_eq!(seen, wanted);
    assert_eq!(errors, 3, "every cut is shown once");
    assert_eq!(harbour.proxy.counts().borrow().of("list", "configmaps"), 1);
    assert_eq!(harbour.proxy.counts().borrow().of("watch", "configmaps"), 4);
}

#[tokio::test]
async fn errors_at_the_door_are_handed_on_and_do_not_end_the_watch() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mut watch = harbour.cluster.watch(scope(&harbour));
    harbour.proxy.add(Rule::next(1, Matching::class("list", "configmaps"), Fault::Status(500)));
    for fault in
        [Fault::Status(503), Fault::Drop, Fault::Throttle { retry_after: Duration::from_secs(1) }]
    {
        harbour.proxy.add(Rule::next(1, Matching::class("watch", "configmaps"), fault));
    }
    let (first, errors) = next_after_errors(&mut watch).await;
    assert!(matches!(first, Sighting::Everything(_)));
    assert_eq!(errors, 1);
    harbour.apply(&labelled(&harbour, "a", "1")).await.unwrap();
    let (second, errors) = next_after_errors(&mut watch).await;
    assert!(matches!(second, Sighting::Changed(_)));
    assert_eq!(errors, 3);
}

#[tokio::test]
async fn a_version_that_is_too_old_makes_a_new_list() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.apply(&labelled(&harbour, "a", "1")).await.unwrap();
    let mut watch = harbour.cluster.watch(scope(&harbour));
    next(&mut watch).await;
    harbour.proxy.add(Rule::next(1, Matching::class("watch", "configmaps"), Fault::Status(410)));
    let Sighting::Everything(all) = next(&mut watch).await else { panic!("a new list") };
    assert_eq!(all.len(), 1);
    assert_eq!(harbour.proxy.counts().borrow().of("list", "configmaps"), 2);
}

#[tokio::test]
async fn a_watch_from_a_list_goes_on_there() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.apply(&labelled(&harbour, "a", "1")).await.unwrap();
    let listed = harbour.cluster.list(&scope(&harbour)).await.unwrap();
    harbour.apply(&labelled(&harbour, "b", "1")).await.unwrap();
    let mut watch = harbour.cluster.watch_from(scope(&harbour), listed.resource_version);
    assert!(matches!(next(&mut watch).await, Sighting::Changed(b) if b.id().name == "b"));
    assert_eq!(harbour.proxy.counts().borrow().of("list", "configmaps"), 1);
}

#[tokio::test]
async fn what_the_real_api_has_forgotten_makes_a_new_list() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    // The API remembers nothing of a kind from before the kind was there.
    let group = format!("{}.example", harbour.namespace.name());
    let definition = crate::discovery::definition(&group);
    harbour.apply(&definition).await.unwrap();
    harbour.until(definition.id(), |crd| objects::Status::of(crd).is_ready()).await;
    let kind = Harbour::kind(&format!("{group}/v1"), "Widget");
    let widget = harbour.object(&format!("{group}/v1"), "Widget", "w", json!({ "spec": {} }));
    harbour.apply(&widget).await.unwrap();
    let scope = Scope::all(kind).within(harbour.namespace.name());
    let mut watch = harbour.cluster.watch_from(scope, "1");
    let Sighting::Everything(all) = next(&mut watch).await else { panic!("a new list") };
    assert_eq!(all.len(), 1);
    let watched = format!("widgets.{group}");
    assert_eq!(harbour.proxy.counts().borrow().of("watch", &watched), 1);
    harbour.kubectl(&["delete", "crd", &definition.id().name, "--wait=false"]);
}

#[tokio::test]
async fn a_silent_watch_is_given_up_and_opened_again() {
    let Some(opening) = Harbour::open() else { return };
    let quick = Timeouts { silence: Duration::from_millis(300), ..Timeouts::default() };
    let harbour = opening.with(quick).await;
    let mut watch = harbour.cluster.watch(scope(&harbour));
    next(&mut watch).await;
    let error = watch.next().await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Unreachable(_)), "{error:?}");
    harbour.apply(&labelled(&harbour, "a", "1")).await.unwrap();
    let (sighting, _) = next_after_errors(&mut watch).await;
    let Sighting::Everything(all) = sighting else { panic!("{sighting:?}") };
    assert_eq!(all.len(), 1, "what was kept from us is in the list");
}

/// Somebody between us and the API lets no watch say a word.
#[tokio::test]
async fn watches_that_say_nothing_lead_to_lists_and_to_longer_pauses() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let mute = Rule::always(Matching::class("watch", "configmaps"), Fault::CutAfter(0));
    harbour.proxy.add(mute);
    let terms = Terms { timeout: Duration::from_secs(30), ..Terms::default() };
    let wait = Wait::new(Goal::Created, terms);
    let wait = wait.object(labelled(&harbour, "a", "1").id().clone()).unwrap();
    let mut troubles = 0;
    let mut tell = |event| troubles += u32::from(matches!(event, WaitEvent::Trouble { .. }));
    let clock = Clock::real();
    let waiting = harbour.cluster.wait(&wait, clock, &mut tell);
    let making = async {
        let many = |counts: &rig::proxy::Counts| counts.of("watch", "configmaps") >= 6;
        harbour.proxy.wait_for(PATIENCE, many).await.unwrap();
        harbour.apply(&labelled(&harbour, "a", "1")).await.unwrap();
    };
    let start = clock.elapsed();
    let (met, ()) = tokio::join!(waiting, making);
    met.unwrap();
    // Pauses of 0.1 s, 0.2 s and so on; five times the first would be half a second.
    let took = clock.elapsed().saturating_sub(start);
    assert!(took > Duration::from_secs(3), "{troubles} troubles in {took:?}");
    assert!(harbour.proxy.counts().borrow().of("list", "configmaps") > 2);
}

#[tokio::test]
async fn long_lists_come_in_pages() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let items: Vec<serde_json::Value> = (0..620)
        .map(|index| labelled(&harbour, &format!("m{index:03}"), "1").into_body())
        .collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    harbour.namespace.kubectl().apply(&list.to_string()).unwrap();
    let listed = harbour.cluster.list(&scope(&harbour)).await.unwrap();
    assert_eq!(listed.objects.len(), 620);
    assert_eq!(harbour.proxy.counts().borrow().of("list", "configmaps"), 2);
}
