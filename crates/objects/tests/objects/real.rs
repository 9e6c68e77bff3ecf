//! What people really install: applied, applied again, and taken away.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use objects::set::{Means, Memory, Set, Settings, Walk};
use objects::{Change, Doomed, Object, ObjectId, RemovalTerms, manifest};
use rig::{Kubectl, manifests};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE, means};
use crate::kwok::Yard;
use crate::remove::remove;
use crate::set::story;
use crate::wait::{run, terms, wait_for};

/// How many requests a second apply may send at most: the walk cannot judge
/// values that the server writes in another way than they were sent.
const DOUBTS: u64 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn cilium_cert_manager_and_flux_come_stay_and_go() {
    let Some(cilium) = manifests::cilium() else { return };
    let Some(cert_manager) = manifests::cert_manager() else { return };
    let Some(flux) = manifests::flux() else { return };
    let Some(yard) = Yard::open() else { return };
    let harbour = yard.opening().harbour().await;
    let before = everything(harbour.namespace.kubectl());
    let mut ids = Vec::new();
    for (name, text, at_least) in
        [("cilium", cilium, 25), ("cert-manager", cert_manager, 50), ("flux", flux, 32)]
    {
        let objects = read(name, &text);
        assert!(objects.len() >= at_least, "{name} has {} objects", objects.len());
        ids.extend(come_and_stay(&harbour, name, objects).await);
    }
    go(&harbour, &ids, &before).await;
}

/// The objects of a manifest, and the namespace that a chart leaves to others.
/// It has a label: the API writes a bare one anew when it is applied again, to
/// note who had it first.
fn read(name: &str, text: &str) -> Vec<Object> {
    let mut objects = manifest::read(name, text.as_bytes()).unwrap();
    if name == "cert-manager" {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
            "metadata": { "name": name, "labels": { "app": name } } });
        objects.push(Object::new(namespace).unwrap());
    }
    objects
}

/// The versions of objects once no controller writes to them any more.
#[expect(clippy::disallowed_methods, reason = "a test waits for the real control plane")]
async fn at_rest(harbour: &Harbour, ids: &[ObjectId]) -> Vec<String> {
    let mut before = versions(harbour, ids).await;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = versions(harbour, ids).await;
        if now == before {
            return now;
        }
        before = now;
    }
}

/// Applies a set, and applies it again: with requests only where there is a
/// doubt, then with none, since the doubts are settled (nothing of a Secret is
/// remembered), then with one for each object. Returns what is there now.
#[expect(clippy::print_stdout, reason = "how many requests were sent is a result of this test")]
async fn come_and_stay(harbour: &Harbour, name: &str, objects: Vec<Object>) -> Vec<ObjectId> {
    let compare = Settings { walk: Walk::Compare, ..Settings::default() };
    let report = harbour.apply_set(objects.clone(), compare).await.unwrap();
    assert_eq!(report.count(Change::Created), objects.len(), "{:?}", story(&report));
    let ids: Vec<ObjectId> = report.steps.into_iter().map(|step| step.id).collect();
    let workload = |id: &&ObjectId| id.kind.group == "apps";
    let workloads: Vec<&ObjectId> = ids.iter().filter(workload).collect();
    run(&harbour.cluster, &wait_for("ready", terms(), &workloads)).await.0.unwrap();

    let versions = at_rest(harbour, &ids).await;
    let means = Means { memory: Some(Memory::default()), ..means() };
    let secrets = ids.iter().filter(|id| id.kind.is("", "Secret")).count() as u64;
    let all = objects.len() as u64;
    for (walk, most) in [(Walk::Compare, DOUBTS), (Walk::Compare, secrets), (Walk::SendAll, all)] {
        let sent = patches(harbour);
        let again = Settings { walk, ..Settings::default() };
        let whole = Set::new(objects.clone(), harbour.namespace.name());
        let report = harbour.cluster.apply_set(whole, again, &means, |_| ()).await.unwrap();
        let moved: Vec<String> =
            story(&report).into_iter().filter(|line| !line.ends_with(" unchanged")).collect();
        assert_eq!(moved, Vec::<String>::new(), "{name} has changed");
        assert_eq!(self::versions(harbour, &ids).await, versions, "{name} has changed");
        let sent = patches(harbour) - sent;
        println!("{name}: {sent} requests for {} objects that are the same", objects.len());
        assert!(sent <= most, "{sent} requests were sent for {name}");
    }
    ids
}

/// Deletes all, and waits until the cluster is as it was.
#[expect(clippy::disallowed_methods, reason = "a test waits for the real control plane")]
async fn go(harbour: &Harbour, ids: &[ObjectId], before: &BTreeSet<String>) {
    let mut doomed = Vec::new();
    for id in ids {
        let live = harbour.cluster.get(id).await.unwrap().unwrap();
        doomed.push(Doomed { id: id.clone(), uid: live.uid().unwrap().to_owned() });
    }
    remove(harbour, doomed, RemovalTerms::default()).await.0.unwrap();
    for id in ids {
        assert_eq!(harbour.cluster.get(id).await.ok().flatten(), None, "{id} is left");
    }
    // What they owned goes after them.
    let gone = async {
        while everything(harbour.namespace.kubectl()) != *before {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, gone).await.is_err() {
        let after = everything(harbour.namespace.kubectl());
        let left: Vec<_> = after.symmetric_difference(before).collect();
        panic!("something is left behind: {left:?}");
    }
}

/// The names of all objects of the cluster, but for what happens to them.
fn everything(kubectl: &Kubectl) -> BTreeSet<String> {
    let kinds = kubectl.run(&["api-resources", "--verbs=list", "-o", "name", "--cached=false"]);
    let kinds = kinds.unwrap();
    let lasting = kinds.lines().filter(|kind| !kind.starts_with("events"));
    let kinds: Vec<&str> = lasting.collect();
    let name = "jsonpath={range .items[*]}{.kind} {.metadata.namespace} {.metadata.name}\n{end}";
    let all = kubectl.run(&["get", &kinds.join(","), "-A", "-o", name]).unwrap();
    all.lines().map(str::to_owned).collect()
}

async fn versions(harbour: &Harbour, ids: &[ObjectId]) -> Vec<String> {
    let look = async |id: &ObjectId| {
        let live = harbour.cluster.get(id).await.unwrap().unwrap();
        format!("{id} {}", live.version().unwrap().resource_version)
    };
    join_all(ids.iter().map(look)).await
}

fn patches(harbour: &Harbour) -> u64 {
    let counts = harbour.proxy.counts();
    let counts = counts.borrow();
    counts.iter().filter(|(class, _)| class.verb == "patch").map(|(_, count)| count).sum()
}
