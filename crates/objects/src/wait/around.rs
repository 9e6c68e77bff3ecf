//! What lies around workloads that are not ready: their pods, and warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::timeout;

use super::Missed;
use crate::chain::{Found, Pool, explain_in};
use crate::lookout::{Lookout, PostId};
use crate::{Ailment, Cluster, Kind, Object, Scope};

/// Reasons need not be fresher than a person can read, and pods change often.
const INTERVAL: Duration = Duration::from_millis(200);

/// An explanation is worth so much more time to who has waited in vain.
const EXPLANATION: Duration = Duration::from_secs(10);

/// Watches that only help to understand. They begin when the first workload
/// of a namespace is found not to be ready.
#[derive(Default)]
pub(super) struct Around {
    namespaces: BTreeMap<String, [PostId; 3]>,
    changed: BTreeSet<String>,
    due: Option<Duration>,
}

/// What the objects around a workload tell about it.
pub(super) struct Insight {
    pub(super) ailment: Option<Ailment>,
    pub(super) chain: Vec<String>,
}

/// Kinds that pods tell more about than they do themselves.
pub(super) fn makes_pods(kind: &Kind) -> bool {
    let workloads = ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"];
    workloads.iter().any(|name| kind.is("apps", name))
        || kind.is("batch", "Job")
        || kind.is("", "ReplicationController")
}

impl Around {
    pub(super) fn look_into(&mut self, lookout: &mut Lookout, namespace: &str) {
        if self.namespaces.contains_key(namespace) {
            return;
        }
        let scope = |api_version, kind: &str| {
            let kind = Kind::new(api_version, kind).expect("a constant apiVersion is one");
            Scope::all(kind).within(namespace)
        };
        let warnings = scope("v1", "Event").with_fields("type=Warning");
        let scopes = [scope("v1", "Pod"), scope("apps/v1", "ReplicaSet"), warnings];
        let posts = scopes.map(|scope| lookout.add(scope, Vec::new()));
        self.namespaces.insert(namespace.to_owned(), posts);
    }

    /// Takes in that a post has news, and returns whether it is one of these.
    pub(super) fn hear(&mut self, at: Duration, post: PostId) -> bool {
        let mut all = self.namespaces.iter();
        let Some((namespace, _)) = all.find(|(_, posts)| posts.contains(&post)) else {
            return false;
        };
        self.changed.insert(namespace.clone());
        self.due = self.due.or(Some(at + INTERVAL));
        true
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Returns the namespaces in which something is new, once it is time.
    pub(super) fn take_changed(&mut self, at: Duration) -> BTreeSet<String> {
        if self.due.is_none_or(|due| at < due) {
            return BTreeSet::new();
        }
        self.due = None;
        std::mem::take(&mut self.changed)
    }

    pub(super) fn pool<'a>(&self, lookout: &'a Lookout, namespace: &str) -> Pool<'a> {
        let Some([pods, sets, events]) = self.namespaces.get(namespace) else {
            return Pool::default();
        };
        let objects = lookout.view(*pods).objects().chain(lookout.view(*sets).objects());
        Pool::new(objects, [], lookout.view(*events).objects())
    }
}

impl Insight {
    pub(super) fn of(root: &Object, pool: &Pool<'_>) -> Self {
        let path = pool.path(root);
        let lowest_first = || path.iter().rev().filter_map(Found::object);
        let own = lowest_first().find_map(Ailment::of);
        // Who has a pod was allowed to make it.
        let has_pod = lowest_first().any(|object| object.kind().is("", "Pod"));
        let refused = || {
            let mut events = lowest_first().flat_map(|object| pool.events_about(object));
            events.find_map(Ailment::of_event)
        };
        let ailment = own.or_else(|| if has_pod { None } else { refused() });
        let links = explain_in(root, pool).links.into_iter().skip(1);
        Self { ailment, chain: links.map(|link| link.to_string()).collect() }
    }
}

impl Missed {
    /// Adds the whole chain of causes, events and last log lines included.
    pub(super) async fn explain(&mut self, cluster: &Cluster, root: &Object) {
        if let Ok(chain) = timeout(EXPLANATION, cluster.why_of(root)).await
            && !chain.links.is_empty()
        {
            self.because.chain = chain.lines();
        }
    }
}
