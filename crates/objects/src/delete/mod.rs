//! Deleting: one request for each object, then a watch until it is gone or stuck.
//!
//! ```text
//!  Cluster::delete ──► Gone
//!        └───────────► UnderWay ──► Lookout ──► Removal (pure) ──► Gone · Progressing · Stuck
//!
//!  Cluster::remove = many deletions, 32 at once ─► one watch per kind ─► Removed · NotRemoved
//!  Force ─► Cluster::force = no finalizers any more, if it is still as it was seen
//! ```
//!
//! Only the API's word that the object is not there, or that another life has
//! its name, is "gone". An error while looking is counted and shown, and is
//! never taken for it. What gets less gets more time; what does not is stuck,
//! and its story, its finalizers and what is left of it are told.

mod content;
mod finalizer;
mod find;
mod force;
mod one;
mod outcome;
mod patience;
mod remains;
mod removal;
mod run;
mod waiting;

pub use content::Leftover;
pub use finalizer::Finalizer;
pub use force::{Force, ForceHolders, NotForced};
pub use outcome::{NotRemoved, RemovalEvent, RemovalTerms, Removed};
pub use patience::{Impatience, Patience};
pub(crate) use remains::NAMESPACE_CONDITIONS;
pub use remains::{Look, Remains};
pub use removal::{Removal, RemovalState};
pub use waiting::{Milestone, Waiting};

use events::{Call, CallClass, Permit};
use http::Method;
use serde_json::{Value, json};

use crate::request::Ask;
use crate::{ApiError, Cluster, ObjectId, Trouble};

/// What happens to the objects that the deleted one owns. Always sent: without
/// it the API leaves the pods of a Job behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// One life of an object, which is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    /// The object.
    pub id: ObjectId,
    /// Which life of it.
    pub uid: String,
}

/// What came of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// How far it is.
    pub deletion: Deletion,
    /// What the API said besides.
    pub warnings: Vec<String>,
}

/// How far a deletion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// It is over.
    Gone(Gone),
    /// The object is marked, and something keeps it.
    UnderWay,
}

/// How one knows that a life of an object is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// There is no such object.
    Absent,
    /// Another life has its name.
    Replaced,
}

impl Propagation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }

    fn options(self, doomed: &Doomed) -> Value {
        json!({ "apiVersion": "v1", "kind": "DeleteOptions",
            "propagationPolicy": self.as_str(), "preconditions": { "uid": doomed.uid } })
    }
}

// === impl Cluster ===

impl Cluster {
    /// Returns the call that [`delete`](Self::delete) makes, for its intent.
    pub fn delete_call(doomed: &Doomed) -> Call {
        let name = doomed.id.to_string();
        Call::new(CallClass::Idempotent, "delete", name, doomed.uid.as_bytes())
    }

    /// Deletes one life of an object, and no other. Uses up the permit
    /// whatever comes of it.
    pub async fn delete(
        &self,
        _permit: Permit,
        doomed: &Doomed,
        propagation: Propagation,
    ) -> Result<Deleted, ApiError> {
        self.ask_to_delete(doomed, propagation.options(doomed)).await
    }

    /// Lets the API say whether it would delete one life of an object, and
    /// deletes nothing.
    pub async fn preview_deletion(
        &self,
        doomed: &Doomed,
        propagation: Propagation,
    ) -> Result<Deleted, ApiError> {
        let mut options = propagation.options(doomed);
        options["dryRun"] = json!(["All"]);
        self.ask_to_delete(doomed, options).await
    }

    async fn ask_to_delete(&self, doomed: &Doomed, options: Value) -> Result<Deleted, ApiError> {
        let tried = format!("delete {}", doomed.id);
        let resource = match self.resource(&doomed.id.kind).await {
            Ok(resource) => resource,
            Err(error) if matches!(error.trouble(), Trouble::KindMissing { .. }) => {
                return self.gone_with_its_kind(doomed, error).await;
            }
            Err(error) => return Err(error),
        };
        let ask = Ask::new(Method::DELETE, resource.path_of(self, &doomed.id), &tried)
            .sending("application/json", options.to_string());
        match self.send(ask).await {
            Ok(answer) => {
                let body: Value = answer.json(&tried)?;
                Ok(Deleted { deletion: Deletion::read(&body), warnings: answer.warnings })
            }
            Err(error) if matches!(error.trouble(), Trouble::KindMissing { .. }) => {
                self.gone_with_its_kind(doomed, error).await
            }
            Err(error) => self.or_gone(doomed, error.about(&doomed.id)).await,
        }
    }
}

impl Cluster {
    /// A life that was there is over once no version of its kind is served.
    async fn gone_with_its_kind(
        &self,
        doomed: &Doomed,
        error: ApiError,
    ) -> Result<Deleted, ApiError> {
        self.unless_gone(&doomed.id.kind, error.about(&doomed.id)).await?;
        Ok(Deleted { deletion: Deletion::Gone(Gone::Absent), warnings: Vec::new() })
    }

    /// Takes a no that may say that there is nothing left to delete.
    async fn or_gone(&self, doomed: &Doomed, error: ApiError) -> Result<Deleted, ApiError> {
        let gone = match error.trouble() {
            Trouble::Absent => Some(Gone::Absent),
            // The API has no word of its own for a uid that differs: an object
            // that is changed all the time, or a server in between, says 409 too.
            Trouble::Changed(_) => self.look_for(doomed).await?,
            _ => None,
        };
        let Some(gone) = gone else { return Err(error) };
        Ok(Deleted { deletion: Deletion::Gone(gone), warnings: error.warnings().to_vec() })
    }

    /// Returns how a life is over; none where it goes on.
    async fn look_for(&self, doomed: &Doomed) -> Result<Option<Gone>, ApiError> {
        let live = self.get(&doomed.id).await?;
        Ok(match live {
            None => Some(Gone::Absent),
            Some(live) if live.uid() != Some(doomed.uid.as_str()) => Some(Gone::Replaced),
            Some(_) => None,
        })
    }
}

impl Deletion {
    /// The API answers with a `Status` where it is over. Where it answers with
    /// the object, that may be there still or not: the next look tells.
    fn read(body: &Value) -> Self {
        let is_status = body["kind"] == "Status" && body["apiVersion"] == "v1";
        if is_status { Self::Gone(Gone::Absent) } else { Self::UnderWay }
    }
}
