//! Whenever the comparison says that an apply would change nothing, a real
//! apply changes nothing.

mod dice;
mod edits;
mod extensions;
mod kinds;
mod workloads;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use http::Method;
use kube::client::Body;
use objects::compare::{Comparison, Footprint, Settled, compare};
use objects::{Applied, Object, Ownership};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::harbour::Harbour;
use dice::Dice;

/// Each object is changed and judged this many times.
const OBJECTS: usize = 150;
const ROUNDS: usize = 6;

/// So many objects at once keep the API server busy, and no more.
const AT_ONCE: usize = 8;

/// Where nobody sets `SEAWORTHY_TEST_SEED`.
const SEED: u64 = 5;

#[derive(Debug, Default)]
struct Tally {
    same: usize,
    doubt_right: usize,
    /// Doubts that changed nothing, by what made them.
    doubt_wrong: BTreeMap<String, usize>,
    remembered: usize,
    refused: usize,
    violations: Vec<String>,
}

/// One object, and the hands that change it.
struct Case {
    harbour: Arc<Harbour>,
    other: kube::Client,
    dice: Dice,
    desired: Object,
    settled: Settled,
    log: Vec<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_the_same_is_not_changed_by_an_apply() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = Arc::new(opening.harbour().await);
    let group = format!("{}.example", harbour.namespace.name());
    let definitions = establish(&harbour, &group).await;
    let other = stranger(&harbour).await;
    let tally = Arc::new(Mutex::new(Tally::default()));
    let mut running = JoinSet::new();
    for index in 0..OBJECTS {
        if running.len() == AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        let case = Case::new(&harbour, &other, &group, index);
        running.spawn(case.run(Arc::clone(&tally)));
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    for definition in definitions {
        harbour.kubectl(&["delete", "crd", &definition.id().name, "--wait=false"]);
    }
    let tally = Arc::try_unwrap(tally).unwrap().into_inner().unwrap();
    report(&tally);
    assert!(tally.violations.is_empty(), "{:#?}", tally.violations);
    // Rounds that prove nothing would make this test look better than it is.
    assert!(tally.same > ROUNDS * OBJECTS / 4, "{tally:#?}");
    assert!(tally.doubt_right > ROUNDS * OBJECTS / 10, "{tally:#?}");
    assert!(tally.remembered > ROUNDS, "{tally:#?}");
}

/// The rate of false doubt is a result of this test.
fn report(tally: &Tally) {
    let Tally { same, doubt_right, doubt_wrong, remembered, refused, .. } = tally;
    let wrong: usize = doubt_wrong.values().sum();
    let unchanged = same + wrong;
    rig::need::remark(&format!(
        "{unchanged} applies that change nothing: {same} seen, {wrong} doubted for nothing ({} %); \
         {doubt_right} doubts were right, {refused} wishes refused, {remembered} doubts remembered",
        100 * wrong / unchanged.max(1)
    ));
    rig::need::remark(&format!("doubts for nothing: {doubt_wrong:?}"));
}

async fn establish(harbour: &Harbour, group: &str) -> Vec<Object> {
    let definitions = extensions::definitions(group).map(|body| Object::new(body).unwrap());
    for definition in &definitions {
        harbour.apply(definition).await.unwrap();
        let established = |crd: &Object| {
            crd.items("/status/conditions")
                .iter()
                .any(|one| one["type"] == "Established" && one["status"] == "True")
        };
        harbour.until(definition.id(), established).await;
        let resource = harbour.cluster.resource(definition.kind()).await;
        resource.unwrap();
    }
    definitions.into()
}

/// Somebody else, who writes as they please.
async fn stranger(harbour: &Harbour) -> kube::Client {
    let kubeconfig = kube::config::Kubeconfig::read_from(harbour.proxy.kubeconfig()).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

impl Case {
    fn new(harbour: &Arc<Harbour>, other: &kube::Client, group: &str, index: usize) -> Self {
        let seed = rig::settings::Settings::get().seed.unwrap_or(SEED);
        let mut dice = Dice::new(seed + 1000 * u64::try_from(index).unwrap());
        let body = kinds::make(&mut dice, index, harbour.namespace.name(), group);
        Self {
            harbour: Arc::clone(harbour),
            other: other.clone(),
            dice,
            desired: Object::new(body).unwrap(),
            settled: Settled::default(),
            log: Vec::new(),
        }
    }

    async fn run(mut self, tally: Arc<Mutex<Tally>>) {
        if let Err(error) = self.apply(None).await {
            let violation = format!("{error}: {}", self.desired.body());
            tally.lock().unwrap().violations.push(violation);
            return;
        }
        for _ in 0..ROUNDS {
            let before = self.desired.clone();
            self.happen().await;
            if !self.judge(&tally).await {
                self.desired = before;
            }
        }
        // A finalizer would keep the namespace, and what is in none stays.
        let none = json!({ "metadata": { "finalizers": null } });
        self.write(Method::PATCH, "application/merge-patch+json", "", &none).await;
        if self.desired.id().namespace.is_none() {
            self.write(Method::DELETE, "application/json", "", &json!({})).await;
        }
    }

    async fn happen(&mut self) {
        match self.dice.below(10) {
            0 | 1 => self.log.push("nothing".to_owned()),
            2..=5 => {
                let mut body = self.desired.body().clone();
                edits::edit(&mut self.dice, &mut body);
                self.log.push(format!("we want {body}"));
                self.desired = Object::new(body).unwrap();
            }
            6 | 7 => self.other_updates().await,
            8 => {
                let mut body = self.desired.body().clone();
                edits::edit(&mut self.dice, &mut body);
                let done = self.other_applies(&body).await;
                self.log.push(format!("other applies {body}: {done}"));
            }
            _ => {
                let body = self.desired.body().clone();
                self.other_applies(&body).await;
                self.log.push("other applies the same".to_owned());
            }
        }
    }

    async fn other_updates(&mut self) {
        let mut body = self.live().await.into_body();
        edits::edit(&mut self.dice, &mut body);
        let done = self.write(Method::PUT, "application/json", "", &body).await;
        self.log.push(format!("other writes {done}: {body}"));
    }

    async fn other_applies(&mut self, body: &Value) -> bool {
        self.write(Method::PATCH, "application/apply-patch+yaml", "&force=true", body).await
    }

    async fn write(&self, method: Method, form: &str, more: &str, body: &Value) -> bool {
        let kind = self.desired.kind();
        let resource = self.harbour.cluster.resource(kind).await.unwrap();
        let root = if kind.group.is_empty() { "/api" } else { "/apis" };
        let (version, id) = (kind.api_version(), self.desired.id());
        let within = id.namespace.as_ref().map(|name| format!("/namespaces/{name}"));
        let path = format!(
            "{root}/{version}{}/{}/{}?fieldManager=other{more}",
            within.unwrap_or_default(),
            resource.plural,
            id.name
        );
        let request =
            http::Request::builder().method(method).uri(path).header("content-type", form);
        let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
        let status = self.other.send(request).await.unwrap().status();
        status.is_success()
    }

    async fn live(&self) -> Object {
        self.harbour.cluster.get(self.desired.id()).await.unwrap().unwrap()
    }

    async fn apply(&self, live: Option<&Object>) -> Result<Applied, objects::ApiError> {
        let permit = self.harbour.permit().await;
        let before = live.and_then(Object::version);
        self.harbour.cluster.apply(permit, &self.desired, Ownership::Take, before.as_ref()).await
    }

    /// Asks the comparison, then the API. Returns whether the wish was granted.
    async fn judge(&mut self, tally: &Mutex<Tally>) -> bool {
        let live = self.live().await;
        let comparison = compare(&self.desired, &live, live.uid());
        let footprint = Footprint::of(&self.desired, &live);
        let known = footprint.as_ref().is_some_and(|print| self.settled.knows(print));
        let outcome = self.apply(Some(&live)).await;
        let mut tally = tally.lock().unwrap();
        let Ok(applied) = outcome else {
            let error = outcome.unwrap_err();
            match comparison {
                Comparison::Same => self.violate(&mut tally, &live, &error.to_string()),
                Comparison::Doubt(_) => tally.refused += 1,
            }
            return false;
        };
        let moved = has_moved(&live, &applied.object);
        match comparison {
            Comparison::Same if moved => {
                self.violate(&mut tally, &live, &applied.object.body().to_string());
            }
            Comparison::Same => tally.same += 1,
            Comparison::Doubt(_) if known && !moved_but_for_times(&live, &applied.object) => {
                tally.remembered += 1;
            }
            Comparison::Doubt(_) if known => {
                self.violate(&mut tally, &live, &applied.object.body().to_string());
            }
            Comparison::Doubt(_) if moved => tally.doubt_right += 1,
            Comparison::Doubt(doubt) => {
                let kind = &self.desired.kind().kind;
                *tally.doubt_wrong.entry(format!("{kind}: {doubt}")).or_default() += 1;
            }
        }
        if let Some(footprint) = footprint {
            self.settled.learn(footprint, &applied.object);
        }
        true
    }

    fn violate(&self, tally: &mut Tally, live: &Object, after: &str) {
        let story = self.log.join("\n");
        let desired = self.desired.body();
        let live = live.body();
        tally.violations.push(format!("{story}\ndesired {desired}\nlive {live}\nafter {after}"));
    }
}

/// Kinds that a controller writes to at any time.
const RESTLESS: [&str; 11] = [
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "Job",
    "Namespace",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "ResourceQuota",
    "StatefulSet",
];

fn has_moved(before: &Object, after: &Object) -> bool {
    if is_noted_as_first(before, after) {
        return false;
    }
    let restless = RESTLESS.contains(&before.kind().kind.as_str());
    lasting(before) != lasting(after) || (!restless && before.version() != after.version())
}

/// Where nobody owned anything, the first apply, even one of nothing, makes an
/// entry for whoever was there before, and nothing else.
fn is_noted_as_first(before: &Object, after: &Object) -> bool {
    let owners = |object: &Object| object.items("/metadata/managedFields").to_vec();
    let rest = |object: &Object| {
        let mut body = lasting(object);
        body["metadata"].as_object_mut().unwrap().remove("managedFields");
        body
    };
    let first =
        |owners: &[Value]| matches!(owners, [one] if one["manager"] == "before-first-apply");
    owners(before).is_empty() && first(&owners(after)) && rest(before) == rest(after)
}

/// The time of an entry moves with an empty list that nobody owns.
fn moved_but_for_times(before: &Object, after: &Object) -> bool {
    let timeless = |object: &Object| {
        let mut body = lasting(object);
        if let Some(managers) = body["metadata"]["managedFields"].as_array_mut() {
            for one in managers.iter_mut() {
                one.as_object_mut().unwrap().remove("time");
            }
            managers.sort_by_key(Value::to_string);
        }
        body
    };
    timeless(before) != timeless(after)
}

/// Who writes status, and little else, between our look and our apply.
const CONTROLLERS: [&str; 3] = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// What only an apply of ours can have moved.
fn lasting(object: &Object) -> Value {
    let mut body = object.body().clone();
    body["status"] = Value::Null;
    let metadata = body["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion");
    if let Some(managers) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
        managers.retain(|one| !CONTROLLERS.iter().any(|name| one["manager"] == *name));
        if managers.is_empty() {
            metadata.remove("managedFields");
        }
    }
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove("deployment.kubernetes.io/revision");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    body
}
