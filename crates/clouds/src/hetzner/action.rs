//! Actions: what Hetzner is still doing after it has answered.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::query::Query;
use super::{Hetzner, HetznerError, Id, Listed, Meaning};

/// Something that Hetzner is doing or has done.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Action {
    /// Its id.
    pub id: Id<Self>,
    /// What is done, such as `create_server`.
    pub command: String,
    /// How far it is.
    pub status: ActionStatus,
    /// How far it is, in percent.
    #[serde(default)]
    pub progress: u8,
    /// Why it failed, where it did.
    #[serde(default)]
    pub error: Option<ActionError>,
}

/// How far an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionStatus {
    /// Under way.
    Running,
    /// Done.
    Success,
    /// Failed, and over.
    Error,
}

/// Why an action failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ActionError {
    /// A code of the same words that calls are refused with.
    pub code: String,
    /// A message for people.
    #[serde(default)]
    pub message: String,
}

impl Listed for Action {
    const SINGULAR: &'static str = "action";
    const PLURAL: &'static str = "actions";
}

impl ActionError {
    /// Returns what the code means.
    pub fn meaning(&self) -> Meaning {
        Meaning::of(&self.code)
    }
}

/// How many ids one request may ask for.
const CHUNK: usize = 25;

impl Hetzner {
    /// Returns how far actions are, in the order of their ids. Gates poll this.
    ///
    /// An action that Hetzner does not know is an error: nobody can tell
    /// whether it was done.
    pub async fn actions(&self, ids: &[Id<Action>]) -> Result<Vec<Action>, HetznerError> {
        let mut found = BTreeMap::new();
        for chunk in ids.chunks(CHUNK) {
            let query = chunk.iter().fold(Query::default(), |query, id| query.with("id", id));
            for action in self.list::<Action>("read actions", query).await? {
                found.insert(action.id, action);
            }
        }
        let missing: Vec<_> =
            ids.iter().filter(|id| !found.contains_key(id)).map(|id| id.number()).collect();
        if missing.is_empty() {
            Ok(found.into_values().collect())
        } else {
            Err(HetznerError::ActionsMissing { ids: missing })
        }
    }
}
