//! Server-side apply: one object, one request.

use events::{Call, CallClass, Made, Permit};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::cluster::object_of;
use crate::request::{Answer, Ask};
use crate::{ApiError, Cluster, Object, Trouble, Version};

/// The field manager under which we own fields.
pub const FIELD_MANAGER: &str = "seaworthy";

/// What happens where a field belongs to another manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The apply fails and lists the fields.
    Respect,
    /// The fields become ours.
    Take,
}

/// What an apply has done.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object as it is now.
    pub object: Object,
    /// What was done to it.
    pub change: Change,
    /// What the API said besides.
    pub warnings: Vec<String>,
}

/// What was done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Created,
    /// It was there and is different now.
    Configured,
    /// It was so already.
    Unchanged,
}

/// Which state of an object a request is for; in any other one nothing is changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meant<'a> {
    /// Any.
    Any,
    /// None: the object is to be made.
    Absent,
    /// Any state of this life.
    Life(&'a Version),
    /// Just this state.
    State(&'a Version),
}

/// A state that no object is ever in: the first write to an empty store makes
/// the second one. An apply for it makes an object that is not there, and is a
/// conflict with one that is.
const BEFORE_ALL: &str = "1";

// === impl Change ===

impl Change {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
        }
    }

    /// An object that was seen before and is in the same state is unchanged.
    fn between(status: StatusCode, before: Option<&Version>, after: Option<&Version>) -> Self {
        if status == StatusCode::CREATED {
            Self::Created
        } else if before.is_some() && before == after {
            Self::Unchanged
        } else {
            Self::Configured
        }
    }
}

// === impl Applied ===

impl Applied {
    /// Returns what the journal keeps of it.
    pub fn made(&self) -> Made {
        let version = self.object.version();
        let made = Made::id("object", self.object.id().to_string());
        match version {
            Some(Version { uid, resource_version }) => {
                made.read_back(json!({ "uid": uid, "resourceVersion": resource_version }))
            }
            None => made,
        }
    }
}

// === impl Cluster ===

impl Cluster {
    /// Returns the call that [`apply`](Self::apply) makes, for its intent.
    pub fn apply_call(object: &Object) -> Call {
        let request = object.body().to_string();
        Call::new(CallClass::Idempotent, "apply", object.id().to_string(), request.as_bytes())
    }

    /// Applies an object, which uses up the permit whatever comes of it. `before`
    /// is the state that it was seen in: only that life of it is changed, and a
    /// later one of the same name is an error. So it is with the life that the
    /// object itself [means](Object::of_life).
    pub async fn apply(
        &self,
        permit: Permit,
        object: &Object,
        ownership: Ownership,
        before: Option<&Version>,
    ) -> Result<Applied, ApiError> {
        let meant = before.map_or(Meant::Any, Meant::Life);
        self.apply_to(permit, object, ownership, meant).await
    }

    /// Applies an object where it is in the state that is meant.
    pub(crate) async fn apply_to(
        &self,
        _permit: Permit,
        object: &Object,
        ownership: Ownership,
        meant: Meant<'_>,
    ) -> Result<Applied, ApiError> {
        let tried = format!("apply {}", object.id());
        let ask = self.patch(&tried, object, ownership, meant).await?;
        let answer = self.send_object(ask, object).await?;
        let now = Self::read(&tried, object, &answer)?;
        let change = Change::between(answer.status, meant.version(), now.version().as_ref());
        Ok(Applied { object: now, change, warnings: answer.warnings })
    }

    /// Says what an apply would do, and what the object would be. Changes nothing.
    pub async fn preview(
        &self,
        object: &Object,
        ownership: Ownership,
        live: Option<&Object>,
    ) -> Result<Applied, ApiError> {
        let tried = format!("try out {}", object.id());
        let before = live.and_then(Object::version);
        let meant = before.as_ref().map_or(Meant::Any, Meant::Life);
        let ask = self.patch(&tried, object, ownership, meant).await?;
        let answer = self.send_object(ask.with("dryRun", "All"), object).await?;
        let would_be = Self::read(&tried, object, &answer)?;
        let change = match live {
            None => Change::Created,
            Some(live) if lasting(live) == lasting(&would_be) => Change::Unchanged,
            Some(_) => Change::Configured,
        };
        Ok(Applied { object: would_be, change, warnings: answer.warnings })
    }

    async fn patch(
        &self,
        tried: &str,
        object: &Object,
        ownership: Ownership,
        meant: Meant<'_>,
    ) -> Result<Ask, ApiError> {
        let resource = self.resource(object.kind()).await?;
        let body = body(object, meant, resource.namespaced).to_string();
        let force = match ownership {
            Ownership::Respect => "false",
            Ownership::Take => "true",
        };
        Ok(Ask::new(Method::PATCH, resource.path_of(self, object.id()), tried)
            .with("fieldManager", FIELD_MANAGER)
            .with("fieldValidation", "Strict")
            .with("force", force)
            // JSON is YAML, and every server takes this name.
            .sending("application/apply-patch+yaml", body))
    }

    /// Sends an object, and says of a no what the API could not know.
    async fn send_object(&self, ask: Ask, object: &Object) -> Result<Answer, ApiError> {
        match self.send(ask).await {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let error = error.about_sent(object);
                let error = self.with_near_fields(error, object.kind()).await;
                Err(self.with_differences(error, object).await)
            }
        }
    }

    /// Where a field cannot be changed, the API often names only what holds it:
    /// `spec`. Another look tells which one differs.
    async fn with_differences(&self, error: ApiError, object: &Object) -> ApiError {
        if !matches!(error.trouble(), Trouble::Immutable(_)) {
            return error;
        }
        match self.get(object.id()).await {
            Ok(Some(live)) => error.about_differences(object, &live),
            // It is told all the same.
            Ok(None) | Err(_) => error,
        }
    }

    fn read(tried: &str, object: &Object, answer: &Answer) -> Result<Object, ApiError> {
        object_of(tried, object.kind(), answer.json(tried)?)
    }
}

impl<'a> Meant<'a> {
    fn version(self) -> Option<&'a Version> {
        match self {
            Self::Any | Self::Absent => None,
            Self::Life(version) | Self::State(version) => Some(version),
        }
    }

    fn resource_version(self) -> Option<&'a str> {
        match self {
            Self::Any | Self::Life(_) => None,
            Self::Absent => Some(BEFORE_ALL),
            Self::State(version) => Some(&version.resource_version),
        }
    }
}

/// What is sent: the wish without what only the server may say, and with the
/// life and the state that are meant.
fn body(object: &Object, meant: Meant<'_>, namespaced: bool) -> Value {
    let mut body = object.body().clone();
    if let Some(metadata) = body["metadata"].as_object_mut() {
        for ours_not in ["managedFields", "resourceVersion", "uid", "creationTimestamp"] {
            metadata.remove(ours_not);
        }
        if !namespaced {
            metadata.remove("namespace");
        }
        let life = meant.version().map(|version| version.uid.as_str());
        if let Some(uid) = object.life().or(life) {
            metadata.insert("uid".to_owned(), uid.into());
        }
        if let Some(state) = meant.resource_version() {
            metadata.insert("resourceVersion".to_owned(), state.into());
        }
    }
    if let Some(map) = body.as_object_mut() {
        map.remove("status");
    }
    body
}

/// What tells two states of an object apart. A dry run keeps the resource
/// version, and stamps its managers anew.
fn lasting(object: &Object) -> Value {
    let mut body = object.body().clone();
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        let managers = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
        for manager in managers.into_iter().flatten().filter_map(Value::as_object_mut) {
            manager.remove("time");
        }
    }
    body
}
