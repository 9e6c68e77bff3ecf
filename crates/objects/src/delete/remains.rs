//! What is left of an object that is being deleted.

use super::{Doomed, Finalizer, Gone};
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

/// What keeps an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remains {
    /// Whether it is marked for deletion at all.
    pub marked: bool,
    /// Its finalizers, those of a namespace's own included.
    pub finalizers: Vec<Finalizer>,
    /// What a namespace says of what is left in it, the gravest first.
    pub hindrances: Vec<String>,
    /// How many objects a namespace says are left in it.
    pub content: Option<u64>,
    /// The objects that have to go before it.
    pub dependents: Vec<String>,
}

/// What a namespace says while it goes, the gravest first.
pub(crate) const NAMESPACE_CONDITIONS: [&str; 5] = [
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
        if remains.waits_for_dependents() {
            let mut all = Vec::new();
            for scope in dependent_scopes(&object) {
                all.extend(self.list(&scope).await?.objects);
            }
            remains.dependents = dependents(&object, &all.iter().collect::<Vec<_>>());
        }
        Ok(Look::There(remains))
    }
}

/// Where the objects are that a controller makes, and those that these make.
pub(super) fn dependent_scopes(owner: &Object) -> Vec<Scope> {
    let kind = owner.kind();
    let kinds: &[(&str, &str)] = match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment") => &[("apps/v1", "ReplicaSet"), ("v1", "Pod")],
        ("batch", "CronJob") => &[("batch/v1", "Job"), ("v1", "Pod")],
        ("apps", "ReplicaSet" | "DaemonSet" | "StatefulSet") | ("batch", "Job") => &[("v1", "Pod")],
        _ => &[],
    };
    let kinds = kinds.iter().filter_map(|(api_version, kind)| Kind::new(api_version, *kind).ok());
    let namespace = owner.id().namespace.as_deref().unwrap_or_default();
    kinds.map(|kind| Scope::all(kind).within(namespace)).collect()
}

/// Returns those that it owns, and those that these own.
pub(super) fn dependents(owner: &Object, all: &[&Object]) -> Vec<String> {
    let mut owners = vec![owner.uid().unwrap_or_default()];
    let mut names = Vec::new();
    for one in all {
        if owners.iter().any(|uid| one.is_owned_by(uid)) {
            owners.extend(one.uid());
            names.push(one.id().to_string());
        }
    }
    names
}

// === impl Remains ===

impl Remains {
    /// Reads what keeps an object, as far as it says so itself.
    pub fn of(object: &Object) -> Self {
        let hindrances = hindrances(object);
        Self {
            marked: object.text("/metadata/deletionTimestamp").is_some(),
            finalizers: Finalizer::all_of(object),
            content: hindrances.iter().rev().find_map(|says| instances(says)),
            hindrances,
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
            (None, 0, 1) => format!("finalizer {} is left", self.finalizers[0].name),
            (None, 0, count) => format!("{count} finalizers are left"),
            (None, 1, _) => format!("{} has to go first", self.dependents[0]),
            (None, count, _) => format!("{count} objects have to go first"),
        }
    }

    /// Returns the details behind that line.
    pub fn details(&self) -> Vec<String> {
        let finalizers = self.finalizers.iter().map(ToString::to_string);
        let dependents = self.dependents.iter().map(|name| format!("{name} is still there"));
        self.hindrances.iter().skip(1).cloned().chain(dependents).chain(finalizers).collect()
    }

    pub(super) fn waits_for_dependents(&self) -> bool {
        self.finalizers.iter().any(|one| one.name == "foregroundDeletion")
    }
}

/// Adds up what a namespace says: `configmaps. has 80 resource instances, …`.
fn instances(says: &str) -> Option<u64> {
    let before = says.split(" resource instances").filter_map(|part| part.rsplit(' ').next());
    let numbers: Vec<u64> = before.filter_map(|word| word.parse().ok()).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum())
}

fn hindrances(object: &Object) -> Vec<String> {
    if !object.kind().is("", "Namespace") {
        return Vec::new();
    }
    let facts = Facts(object);
    let conditions = NAMESPACE_CONDITIONS.iter().filter_map(|name| facts.condition(name));
    conditions.filter(|condition| condition.is("True")).map(Condition::says).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_in_a_namespace_is_counted() {
        let says = "SomeResourcesRemain: Some resources are remaining: configmaps. has 80 resource \
            instances, pods. has 3 resource instances";
        assert_eq!(instances(says), Some(83));
        assert_eq!(instances("SomeFinalizersRemain: x.io/stay in 80 resource instances"), Some(80));
        assert_eq!(instances("DiscoveryFailed: stale GroupVersion"), None);
    }
}
