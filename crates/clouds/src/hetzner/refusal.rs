//! Hetzner's no, and the form in which it comes.

use std::fmt;
use std::time::Duration;

use events::Class;
use http::StatusCode;
use serde::Deserialize;

use super::Meaning;

/// What Hetzner said when it refused a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was tried.
    pub attempt: String,
    /// The HTTP status.
    pub status: StatusCode,
    /// The code, which decides what it means where it is known.
    pub code: String,
    /// The message for people.
    pub message: String,
    /// What is wrong with which field.
    pub fields: Vec<String>,
    /// By what Hetzner's support finds the call.
    pub correlation_id: Option<String>,
    /// How long to pause, where calls are too many.
    pub pause: Option<Duration>,
}

/// The body of a refusal.
#[derive(Debug, Deserialize)]
pub(super) struct ErrorBody {
    error: ErrorObject,
}

#[derive(Debug, Deserialize)]
struct ErrorObject {
    code: String,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    details: Option<serde_json::Value>,
}

// === impl Refusal ===

impl Refusal {
    /// Returns what the code means.
    pub fn meaning(&self) -> Meaning {
        Meaning::with_status(&self.code, self.status)
    }

    /// Returns what may be done about it.
    pub fn class(&self) -> Class {
        match self.meaning().class() {
            Class::RateLimited { .. } => Class::RateLimited {
                after_ms: self.pause.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(0)),
            },
            class => class,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hetzner answers {}", self.code)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        self.fields.iter().try_for_each(|field| write!(f, "; {field}"))?;
        if let Some(id) = &self.correlation_id {
            write!(f, " (correlation id {id})")?;
        }
        self.meaning().advice().map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

// === impl ErrorBody ===

impl ErrorBody {
    pub(super) fn into_refusal(self, attempt: &str, status: StatusCode) -> Refusal {
        let fields = self.error.details.as_ref().map(fields).unwrap_or_default();
        Refusal {
            attempt: attempt.to_owned(),
            status,
            code: self.error.code,
            message: self.error.message.unwrap_or_default(),
            fields,
            correlation_id: None,
            pause: None,
        }
    }
}

/// Each code has details of its own; those of an invalid input name the fields.
fn fields(details: &serde_json::Value) -> Vec<String> {
    let fields = details["fields"].as_array().into_iter().flatten();
    let line = |field: &serde_json::Value| {
        let messages = field["messages"].as_array().into_iter().flatten();
        let messages: Vec<_> = messages.filter_map(serde_json::Value::as_str).collect();
        Some(format!("{}: {}", field["name"].as_str()?, messages.join(", ")))
    };
    fields.filter_map(line).collect()
}
