//! A call and its answer, without the HTTP around them.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use crate::hetzner::refusal::{Code, Refusal};

/// What a client sent.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// The ids in the path, in order.
    pub(crate) ids: Vec<i64>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// What a client gets back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Option<Value>,
}

/// What a call has changed, and what it answers.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) subject: String,
    pub(crate) reply: Reply,
}

/// An id, or a name; both may be written as a string.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum IdOrName {
    Id(i64),
    Name(String),
}

impl Call {
    /// Returns the id of the resource that the path names.
    pub(crate) fn id(&self) -> i64 {
        self.ids.first().copied().unwrap_or_default()
    }

    /// Reads the body.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let body: &[u8] = if self.body.is_empty() { b"{}" } else { &self.body };
        serde_json::from_slice(body).map_err(|error| match error.classify() {
            Category::Data => {
                let message = error.to_string();
                Refusal::invalid(quoted(&message).unwrap_or("body"), &message)
            }
            _ => Code::JsonError.because("invalid JSON in the request"),
        })
    }

    /// Returns the values of a query parameter.
    pub(crate) fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.query.iter().filter(move |(it, _)| it == key).map(|(_, value)| value.as_str())
    }
}

impl Reply {
    pub(crate) fn ok(body: Value) -> Self {
        Self { status: StatusCode::OK, body: Some(body) }
    }

    pub(crate) fn created(body: Value) -> Self {
        Self { status: StatusCode::CREATED, body: Some(body) }
    }

    pub(crate) fn no_content() -> Self {
        Self { status: StatusCode::NO_CONTENT, body: None }
    }

    /// Says what was changed by the call that is answered so.
    pub(crate) fn about(self, subject: impl Into<String>) -> Changed {
        Changed { subject: subject.into(), reply: self }
    }
}

impl IdOrName {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Name(name) => name.clone(),
        }
    }
}

/// Finds the field that a message of serde names.
fn quoted(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("missing field `")?;
    rest.split('`').next()
}
