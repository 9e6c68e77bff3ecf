//! What to do next, in flags and commands. The library says what is the matter;
//! which flag helps only the command line knows.

use objects::set::{InventoryError, SetError, StepError};
use objects::{ApiError, NotForced, Trouble};

/// An error of the API with the next step.
pub(crate) fn of_api(error: &ApiError) -> String {
    match next(error.trouble()) {
        Some(next) => format!("{}; {next}", error.without_advice()),
        None => error.to_string(),
    }
}

/// Why an object of a set is not as wished, with the next step.
pub(crate) fn of_step(error: &StepError) -> String {
    match error {
        StepError::Api(error) => of_api(error),
        StepError::NotOurs { owner: Some(owner) } => {
            let who = owner.strip_prefix("the set ").map_or(String::new(), who_is);
            format!("{error}{who}; take it from there, or adopt it with `--adopt always`")
        }
        StepError::NotOurs { owner: None } => {
            format!("{error}; adopt it with `--adopt unmanaged`, or rename it")
        }
        other => other.to_string(),
    }
}

/// Members know their set by its id only; its parent knows the name.
fn who_is(set: &str) -> String {
    format!(" (`kubectl get secrets,configmaps -A -l applyset.kubernetes.io/id={set}` names it)")
}

/// The next step where a set was not touched at all.
pub(crate) fn for_set(error: &SetError) -> Option<&'static str> {
    match error {
        SetError::Inventory(InventoryError::AnotherTool { .. }) => {
            Some("`--adopt always` takes the set over")
        }
        SetError::Inventory(InventoryError::Absent(_)) => {
            Some("`seaworthy apply --applyset NAME` makes one")
        }
        SetError::NothingToPruneBy => Some("`--applyset NAME` remembers the members of a set"),
        _ => None,
    }
}

/// Why finalizers were not removed, with the next step.
pub(crate) fn of_not_forced(error: &NotForced) -> String {
    match error {
        NotForced::Holder(_) => {
            format!("{error}; look what keeps them, or give `--force-finalizers` twice")
        }
        other => other.to_string(),
    }
}

/// The next step where the command line knows a better one than the library.
fn next(trouble: &Trouble) -> Option<String> {
    let next = match trouble {
        Trouble::Ownership(_) => {
            "leave these fields out, or take them with `--force-conflicts`".to_owned()
        }
        Trouble::Changed(_) => "give the same command again, which looks anew".to_owned(),
        Trouble::Unauthenticated => {
            "get a fresh kubeconfig or token, and name it with `--kubeconfig`".to_owned()
        }
        Trouble::NamespaceMissing(name) => {
            format!("put it into the manifests, or make it: `kubectl create namespace {name}`")
        }
        Trouble::NamespaceTerminating(name) => {
            format!("`seaworthy wait namespace/{name} --for delete` waits until it is gone")
        }
        _ => return None,
    };
    Some(next)
}
