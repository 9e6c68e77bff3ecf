//! What came of a set.

use super::Pruned;
use crate::fields::OwnersError;
use crate::{ApiError, Change, ObjectId, Version};

/// What came of one object.
#[derive(Debug)]
pub struct Step {
    /// The object.
    pub id: ObjectId,
    /// What came of it.
    pub outcome: Outcome,
}

/// How an object ended.
#[derive(Debug)]
pub enum Outcome {
    /// It is as wished.
    There(There),
    /// It is not.
    Failed(StepError),
    /// It was left, because it waits for one that failed.
    Left {
        /// Why.
        because: String,
    },
    /// The work was ended before its turn.
    NoTurn,
}

/// An object that is as wished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct There {
    /// What was done to it.
    pub change: Change,
    /// Its life and its state; none after a dry run that would create it.
    pub version: Option<Version>,
    /// Whether the list of who owns its fields had to be put in order first.
    pub repaired: bool,
    /// What the API said besides.
    pub warnings: Vec<String>,
}

/// Why an object is not as wished.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The API said no.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The object is there and was not made by us.
    #[error("{}", not_ours(.owner.as_deref()))]
    NotOurs {
        /// Who claims it, where somebody does.
        owner: Option<String>,
    },
    /// The life that is meant is over.
    #[error("{}", over(.expected, .found.as_deref()))]
    AnotherLife {
        /// The uid that is meant.
        expected: String,
        /// The uid of what has the name now, where something has.
        found: Option<String>,
    },
    /// The object is on its way out.
    #[error("{}", leaves(.kept_by.as_deref()))]
    Terminating {
        /// What keeps it, where it was waited for.
        kept_by: Option<String>,
    },
    /// The manifest says which life or state of the object it is for, and that is
    /// not the one that is there.
    #[error("{}", meant_for(.field, .wanted, .found.as_deref()))]
    Precondition {
        /// The field of the manifest's metadata that says so.
        field: &'static str,
        /// What it says.
        wanted: String,
        /// What the object says; none where it is not there.
        found: Option<String>,
    },
    /// Who owns its fields cannot be told.
    #[error(transparent)]
    Owners(#[from] OwnersError),
    /// A webhook would stop requests that nobody answers.
    #[error("service {service} in namespace {namespace} has no ready endpoint: {because}")]
    NoEndpoint {
        /// The namespace of the service.
        namespace: String,
        /// The service.
        service: String,
        /// What was waited for.
        because: String,
    },
}

/// What came of a set.
#[derive(Debug, Default)]
pub struct Report {
    /// What came of each object, in the order of the manifest.
    pub steps: Vec<Step>,
    /// What came of each member that is no longer wished for.
    pub pruned: Vec<Pruned>,
    /// Why members that are no longer wished for were not looked for, or not all ended.
    pub not_pruned: Option<&'static str>,
}

impl Report {
    /// Returns whether everything is as wished.
    pub fn is_whole(&self) -> bool {
        let there = |step: &Step| matches!(step.outcome, Outcome::There(_));
        self.steps.iter().all(there)
            && self.pruned.iter().all(|one| !one.is_failure())
            && self.not_pruned.is_none()
    }

    /// Returns how many objects were left as they are, changed, or made.
    pub fn count(&self, change: Change) -> usize {
        let with =
            |step: &&Step| matches!(&step.outcome, Outcome::There(there) if there.change == change);
        self.steps.iter().filter(with).count()
    }
}

fn leaves(kept_by: Option<&str>) -> String {
    let kept = kept_by.map(|kept_by| format!(", and stays: {kept_by}")).unwrap_or_default();
    format!("it is being deleted{kept}; apply again when it is gone")
}

fn over(expected: &str, found: Option<&str>) -> String {
    match found {
        Some(found) => format!(
            "the object with uid {expected} is gone, and somebody has made another one with uid \
             {found}; import that one, or delete it"
        ),
        None => format!("the object with uid {expected} is gone; forget its uid to make it anew"),
    }
}

fn meant_for(field: &str, wanted: &str, found: Option<&str>) -> String {
    let now = match found {
        Some(found) => format!("it is {found} now"),
        None => "the object is not there".to_owned(),
    };
    format!(
        "the manifest is for {field} {wanted}, and {now}; take the change over to what is there, \
         or leave `metadata.{field}` out"
    )
}

fn not_ours(owner: Option<&str>) -> String {
    match owner {
        Some(owner) => format!("it belongs to {owner}"),
        None => "it is there already, and was not made by us".to_owned(),
    }
}
