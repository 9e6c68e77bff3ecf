//! Many deletions at once, and those that get stuck.

use std::time::Duration;

use events::Clock;
use futures::StreamExt;
use objects::{
    Cluster, Doomed, Force, ForceHolders, Gone, Impatience, NotForced, NotRemoved, Object,
    ObjectId, Patience, Propagation, RemovalEvent, RemovalTerms, Removed, Scope, Trouble,
};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};

pub(crate) fn doomed(object: &Object) -> Doomed {
    Doomed { id: object.id().clone(), uid: object.uid().unwrap().to_owned() }
}

pub(crate) fn quiet(seconds: u64) -> RemovalTerms {
    let patience = Patience { deadline: PATIENCE, quiet: Duration::from_secs(seconds) };
    RemovalTerms { patience: Some(patience), ..RemovalTerms::default() }
}

pub(crate) type Ended = (Result<Removed, Box<NotRemoved>>, Vec<RemovalEvent>);

pub(crate) async fn remove_as(
    harbour: &Harbour,
    cluster: &Cluster,
    all: Vec<Doomed>,
    terms: RemovalTerms,
) -> Ended {
    let background = Propagation::Background;
    remove_by(harbour, cluster, all, terms, background).await
}

pub(crate) async fn remove_by(
    harbour: &Harbour,
    cluster: &Cluster,
    all: Vec<Doomed>,
    terms: RemovalTerms,
    propagation: Propagation,
) -> Ended {
    let mut told = Vec::new();
    let mut tell = |event| told.push(event);
    let send = harbour.deleting(cluster, propagation);
    let removing = cluster.remove(all, terms, Clock::real(), send, &mut tell);
    let ended = tokio::time::timeout(PATIENCE * 3, removing).await.expect("a deletion ends");
    (ended, told)
}

pub(crate) async fn remove(harbour: &Harbour, all: Vec<Doomed>, terms: RemovalTerms) -> Ended {
    remove_as(harbour, &harbour.cluster, all, terms).await
}

pub(crate) fn held(harbour: &Harbour, name: &str) -> Object {
    let rest = json!({ "metadata": { "finalizers": ["example.com/stay"] } });
    harbour.object("v1", "ConfigMap", name, rest)
}

pub(crate) fn release(harbour: &Harbour, name: &str) {
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    harbour.kubectl(&["patch", "cm", name, "--type=merge", "-p", patch]);
}

async fn maps(harbour: &Harbour, count: usize, finalizers: &[&str]) -> Vec<Doomed> {
    let item = |index: usize| {
        let metadata = json!({ "labels": { "many": "yes" }, "finalizers": finalizers });
        let rest = json!({ "metadata": metadata, "data": { "k": index.to_string() } });
        harbour.object("v1", "ConfigMap", &format!("m{index:04}"), rest).into_body()
    };
    let items: Vec<_> = (0..count).map(item).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    harbour.namespace.kubectl().apply(&list).unwrap();
    let scope = Scope::all(Harbour::kind("v1", "ConfigMap")).within(harbour.namespace.name());
    let listed = harbour.cluster.list(&scope.labelled("many=yes")).await.unwrap();
    listed.objects.iter().map(doomed).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_objects_go_with_a_thousand_requests() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    // The limit: the same requests, and nobody who looks after them.
    let raw = maps(&harbour, 1000, &[]).await;
    let start = Clock::real();
    let send = harbour.deleting(&harbour.cluster, Propagation::Background);
    let answers: Vec<_> =
        futures::stream::iter(raw.into_iter().map(send)).buffer_unordered(32).collect().await;
    let limit = start.elapsed();
    assert!(answers.iter().all(Result::is_ok));
    let all = maps(&harbour, 1000, &[]).await;
    let before = harbour.proxy.counts().borrow().total();
    let start = Clock::real();
    let (ended, told) = remove(&harbour, all, RemovalTerms::default()).await;
    let removed = ended.unwrap();
    println!("1000 ConfigMaps gone after {:?}, the limit is {limit:?}", start.elapsed());
    assert_eq!((removed.gone.len(), removed.errors), (1000, 0));
    assert!(removed.gone.iter().all(|(_, how)| *how == Gone::Absent));
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!(counts.of("delete", "configmaps"), 2000);
    assert_eq!(counts.total() - before, 1000, "nothing but the deletions: {counts:?}");
    assert_eq!(told.len(), 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn those_that_are_kept_share_one_watch() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let all = maps(&harbour, 60, &["example.com/stay"]).await;
    let names: Vec<String> = all.iter().map(|one| one.id.name.clone()).collect();
    let releasing = async {
        // What is released before it is deleted goes at once.
        let sent = |counts: &rig::proxy::Counts| {
            counts.of("watch", "configmaps") > 0 && counts.of("delete", "configmaps") == 60
        };
        harbour.proxy.wait_for(PATIENCE, sent).await.unwrap();
        for name in &names {
            release(&harbour, name);
        }
    };
    let ((ended, told), ()) = tokio::join!(remove(&harbour, all.clone(), quiet(30)), releasing);
    assert_eq!(ended.unwrap().gone.len(), 60);
    let counts = harbour.proxy.counts().borrow().clone();
    assert_eq!(counts.of("watch", "configmaps"), 1, "{counts:?}");
    assert_eq!(counts.of("get", "configmaps"), 0, "{counts:?}");
    let waits = told.iter().filter(|event| matches!(event, RemovalEvent::Waiting(_))).count();
    // Once when it is kept, and perhaps once more when nothing keeps it.
    assert!((60..=120).contains(&waits), "only changes are told, not {waits} times");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_finalizer_ends_early_with_its_story_and_can_be_forced() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = held(&harbour, "held");
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    let start = Clock::real();
    let (ended, _) = remove(&harbour, vec![target.clone()], quiet(2)).await;
    let stuck = ended.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(20));
    let waiting = &stuck.stuck[0];
    assert_eq!(waiting.ended, Some(Impatience::Quiet));
    let because = waiting.because();
    assert!(because.what.contains("no change for 2 s"), "{because:?}");
    let by = "finalizer example.com/stay, set by seaworthy";
    assert!(because.chain.iter().any(|line| line == by), "{because:?}");
    assert!(stuck.to_string().starts_with("1 of 1 are not gone after 2."), "{stuck}");
    let next = waiting.next().command;
    assert!(next.ends_with("get configmap/held -o yaml"), "{next}");

    // Somebody changes it between the look and the force.
    let seen = harbour.cluster.get(map.id()).await.unwrap().unwrap();
    let force = Force::plan(&seen, ForceHolders::Refuse).unwrap();
    harbour.kubectl(&["label", "cm", "held", "touched=yes"]);
    let error = harbour.cluster.force(harbour.permit().await, &force).await.unwrap_err();
    assert!(matches!(error.trouble(), Trouble::Changed(_)), "{error:?}");
    assert!(harbour.cluster.get(map.id()).await.unwrap().is_some());
    let seen = harbour.cluster.get(map.id()).await.unwrap().unwrap();
    let force = Force::plan(&seen, ForceHolders::Refuse).unwrap();
    harbour.cluster.force(harbour.permit().await, &force).await.unwrap();
    assert_eq!(harbour.cluster.get(map.id()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_life_under_the_same_name_is_not_touched() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let map = held(&harbour, "a");
    let first = doomed(&harbour.apply(&map).await.unwrap().object);
    let recreating = async {
        let sent = |counts: &rig::proxy::Counts| counts.of("watch", "configmaps") > 0;
        harbour.proxy.wait_for(PATIENCE, sent).await.unwrap();
        release(&harbour, "a");
        harbour.apply(&harbour.config_map("a", json!({ "k": "new" }))).await.unwrap();
    };
    let ((ended, _), ()) =
        tokio::join!(remove(&harbour, vec![first.clone()], quiet(30)), recreating);
    ended.unwrap();
    let (ended, _) = remove(&harbour, vec![first], quiet(30)).await;
    assert_eq!(ended.unwrap().gone[0].1, Gone::Replaced);
    let live = harbour.cluster.get(map.id()).await.unwrap().unwrap();
    assert_eq!(live.text("/data/k"), Some("new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_leaves_no_pod_and_shows_whom_it_waits_for() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let pod = json!({ "metadata": { "finalizers": ["example.com/stay"] }, "spec": {
        "restartPolicy": "Never", "containers": [{ "name": "a", "image": "example.test/a" }] } });
    let spec = json!({ "spec": { "parallelism": 2, "completions": 2, "template": pod } });
    let job = harbour.object("batch/v1", "Job", "work", spec);
    let live = harbour.apply(&job).await.unwrap().object;
    harbour.until(job.id(), |job| job.at("/status/active") == Some(&json!(2))).await;
    let pods = Scope::all(Harbour::kind("v1", "Pod")).within(harbour.namespace.name());
    let made: Vec<ObjectId> = harbour
        .cluster
        .list(&pods)
        .await
        .unwrap()
        .objects
        .iter()
        .map(|pod| pod.id().clone())
        .collect();
    let releasing = async {
        let sent = |counts: &rig::proxy::Counts| counts.of("watch", "pods") > 0;
        harbour.proxy.wait_for(PATIENCE, sent).await.unwrap();
        for pod in &made {
            let patch = r#"{"metadata":{"finalizers":null}}"#;
            harbour.kubectl(&["patch", "pod", &pod.name, "--type=merge", "-p", patch]);
        }
    };
    let ((ended, told), ()) = tokio::join!(
        remove_by(
            &harbour,
            &harbour.cluster,
            vec![doomed(&live)],
            quiet(30),
            Propagation::Foreground
        ),
        releasing
    );
    ended.unwrap();
    assert!(harbour.cluster.list(&pods).await.unwrap().objects.is_empty());
    let named = |event: &RemovalEvent| match event {
        RemovalEvent::Waiting(waiting) => {
            waiting.remains.as_ref().is_some_and(|remains| remains.dependents.len() == 2)
        }
        _ => false,
    };
    assert!(told.iter().any(named), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn eighty_objects_that_go_slowly_extend_the_deadline_of_their_namespace() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let all = maps(&harbour, 80, &["example.com/stay"]).await;
    let id = Harbour::kind("v1", "Namespace").named(None, harbour.namespace.name());
    let target = doomed(&harbour.cluster.get(&id).await.unwrap().unwrap());
    // Far less than it takes: it only gets there because it moves.
    let patience = Patience { deadline: Duration::from_secs(18), quiet: Duration::from_secs(25) };
    let terms = RemovalTerms { patience: Some(patience), ..RemovalTerms::default() };
    let releasing = async {
        for one in &all {
            slowly().await;
            let marked = |map: &Object| map.at("/metadata/deletionTimestamp").is_some();
            let seen = harbour.until(&one.id, marked).await;
            let force = Force::plan(&seen, ForceHolders::Refuse).unwrap();
            harbour.cluster.force(harbour.permit().await, &force).await.unwrap();
        }
    };
    let ((ended, told), ()) = tokio::join!(remove(&harbour, vec![target], terms), releasing);
    let removed = ended.unwrap_or_else(|stuck| panic!("{stuck}: {:?}", stuck.stuck[0].story()));
    assert!(removed.after > Duration::from_secs(18), "{:?}", removed.after);
    let mut stories = told.iter().filter_map(|event| match event {
        RemovalEvent::Waiting(waiting) => Some(waiting.story()),
        _ => None,
    });
    let story = stories.next_back().unwrap();
    assert!(story.iter().any(|line| line.ends_with("objects left in it")), "{story:?}");
    println!("gone after {:?}: {story:?}", removed.after);
}

#[expect(clippy::disallowed_methods, reason = "a slow controller")]
async fn slowly() {
    tokio::time::sleep(Duration::from_millis(200)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_only_forced_when_told_twice() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    harbour.apply(&held(&harbour, "held")).await.unwrap();
    let id = Harbour::kind("v1", "Namespace").named(None, harbour.namespace.name());
    let live = harbour.cluster.get(&id).await.unwrap().unwrap();
    let (ended, _) = remove(&harbour, vec![doomed(&live)], quiet(3)).await;
    let stuck = ended.unwrap_err();
    let content = stuck.stuck[0].because().chain.join("\n");
    assert!(
        content.contains("configmap/held, kept by example.com/stay, is left in it"),
        "{content}"
    );
    let seen = harbour.cluster.get(&id).await.unwrap().unwrap();
    let refused = Force::plan(&seen, ForceHolders::Refuse).unwrap_err();
    assert!(matches!(refused, NotForced::Holder(_)));
    let force = Force::plan(&seen, ForceHolders::LoseTheirContent).unwrap();
    harbour.cluster.force(harbour.permit().await, &force).await.unwrap();
    let gone = async {
        while harbour.cluster.get(&id).await.unwrap().is_some() {
            slowly().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the namespace is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_go_with_their_kind() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let group = format!("{}.example", harbour.namespace.name());
    let definition = crate::discovery::definition(&group);
    let crd = harbour.apply(&definition).await.unwrap().object;
    harbour.until(definition.id(), |crd| objects::Status::of(crd).is_ready()).await;
    let widget = |name: &str| {
        let rest = json!({ "metadata": { "finalizers": ["example.com/stay"] }, "spec": {} });
        harbour.object(&format!("{group}/v1"), "Widget", name, rest)
    };
    let first = harbour.apply(&widget("a")).await.unwrap().object;
    let watched = format!("widgets.{group}");
    let releasing = async {
        let sent = |counts: &rig::proxy::Counts| counts.of("watch", &watched) > 0;
        harbour.proxy.wait_for(PATIENCE, sent).await.unwrap();
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        harbour.kubectl(&["patch", &watched, "a", "--type=merge", "-p", patch]);
    };
    let all = vec![doomed(&first), doomed(&crd)];
    let ((ended, _), ()) = tokio::join!(remove(&harbour, all, quiet(40)), releasing);
    assert_eq!(ended.unwrap().gone.len(), 2);
    // The kind is not served any more, though our catalogue still has it.
    let (ended, _) = remove(&harbour, vec![doomed(&first)], quiet(20)).await;
    assert_eq!(ended.unwrap().gone[0].1, Gone::Absent);
}
