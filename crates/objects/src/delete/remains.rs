//! What is left of an object that is being deleted.

use serde_json::Value;

use super::{Doomed, Gone};
use crate::status::{Condition, Facts};
use crate::{ApiError, Cluster, Kind, Object, Scope};

/// What a look for a doomed object saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is gone.
    Gone(Gone),
    /// It is still there.
    There(Remains),
}

/// What keeps an object. Two looks that differ in anything are progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remains {
    /// Whether it is marked for deletion at all.
    pub marked: bool,
    /// Its finalizers, those of a namespace's own included.
    pub finalizers: Vec<String>,
    /// What a namespace says of what is left in it, the gravest first.
    pub hindrances: Vec<String>,
    /// The objects that have to go before it.
    pub dependents: Vec<String>,
}

/// What a namespace says while it goes, the gravest first.
const NAMESPACE_CONDITIONS: [&str; 5] = [
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceFinalizersRemaining",
    "NamespaceContentRemaining",
];

impl Cluster {
    /// Looks what is left of a doomed object.
    pub async fn remains(&self, doomed: &Doomed) -> Result<Look, ApiError> {
        let Some(object) = self.get(&doomed.id).await? else {
            return Ok(Look::Gone(Gone::Absent));
        };
        if object.uid() != Some(doomed.uid.as_str()) {
            return Ok(Look::Gone(Gone::Replaced));
        }
        let mut remains = Remains::of(&object);
        if let Some(kind) = remains.waits_for_dependents().then(|| child_kind(&object)).flatten() {
            remains.dependents = self.dependents(&object, kind).await?;
        }
        Ok(Look::There(remains))
    }

    async fn dependents(&self, owner: &Object, kind: Kind) -> Result<Vec<String>, ApiError> {
        let mut scope = Scope::all(kind);
        if let Some(namespace) = &owner.id().namespace {
            scope = scope.within(namespace);
        }
        let uid = owner.uid().unwrap_or_default();
        let all = self.list(&scope).await?.objects;
        let children = all.iter().filter(|object| object.is_owned_by(uid));
        Ok(children.map(|object| object.id().to_string()).collect())
    }
}

/// The kind of objects that a controller makes.
fn child_kind(owner: &Object) -> Option<Kind> {
    let kind = owner.kind();
    let (api_version, child) = match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment") => ("apps/v1", "ReplicaSet"),
        ("apps", "ReplicaSet" | "DaemonSet" | "StatefulSet") | ("batch", "Job") => ("v1", "Pod"),
        ("batch", "CronJob") => ("batch/v1", "Job"),
        _ => return None,
    };
    Kind::new(api_version, child).ok()
}

// === impl Remains ===

impl Remains {
    /// Reads what keeps an object, as far as it says so itself.
    pub fn of(object: &Object) -> Self {
        let own = object.items("/spec/finalizers").iter().filter_map(Value::as_str);
        let own = own.filter(|_| object.kind().is("", "Namespace"));
        let finalizers = object.finalizers().into_iter().chain(own).map(str::to_owned);
        Self {
            marked: object.text("/metadata/deletionTimestamp").is_some(),
            finalizers: finalizers.collect(),
            hindrances: hindrances(object),
            dependents: Vec::new(),
        }
    }

    /// Returns what keeps it, in one line.
    pub fn says(&self) -> String {
        if !self.marked {
            return "it is not marked for deletion".to_owned();
        }
        match (self.hindrances.first(), self.dependents.len(), self.finalizers.len()) {
            (Some(hindrance), ..) => hindrance.clone(),
            (None, 0, 0) => "it is about to go".to_owned(),
            (None, 0, 1) => format!("finalizer {} is left", self.finalizers[0]),
            (None, 0, count) => format!("{count} finalizers are left"),
            (None, 1, _) => format!("{} has to go first", self.dependents[0]),
            (None, count, _) => format!("{count} objects have to go first"),
        }
    }

    /// Returns the details behind that line.
    pub fn details(&self) -> Vec<String> {
        let finalizers = self.finalizers.iter().map(|name| format!("finalizer {name}"));
        let dependents = self.dependents.iter().map(|name| format!("{name} is still there"));
        self.hindrances.iter().skip(1).cloned().chain(dependents).chain(finalizers).collect()
    }

    fn waits_for_dependents(&self) -> bool {
        self.finalizers.iter().any(|name| name == "foregroundDeletion")
    }
}

fn hindrances(object: &Object) -> Vec<String> {
    if !object.kind().is("", "Namespace") {
        return Vec::new();
    }
    let facts = Facts(object);
    let conditions = NAMESPACE_CONDITIONS.iter().filter_map(|name| facts.condition(name));
    conditions.filter(|condition| condition.is("True")).map(Condition::says).collect()
}
