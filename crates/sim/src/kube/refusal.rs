//! What the API says when it does not do as asked: a `Status` object.

use serde_json::{Value, json};

use super::resource::{Key, Resource};

/// A request that was refused, in the words that a client matches on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason, such as `NotFound`; empty where there is none.
    pub reason: &'static str,
    /// The sentence for people.
    pub message: String,
    /// What it is about.
    pub details: Option<Box<Value>>,
}

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    /// The machine-readable reason.
    pub reason: &'static str,
    /// The path of the field.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

// === impl Refusal ===

impl Refusal {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None }
    }

    fn about(mut self, key: &Key, name: &str) -> Self {
        let mut details = json!({ "name": name, "kind": key.plural });
        if !key.group.is_empty() {
            details["group"] = json!(key.group);
        }
        self.details = Some(Box::new(details));
        self
    }

    /// There is no such object.
    pub fn not_found(key: &Key, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{key} \"{name}\" not found")).about(key, name)
    }

    /// There is no such path.
    pub fn no_such_path() -> Self {
        let mut refusal =
            Self::new(404, "NotFound", "the server could not find the requested resource");
        refusal.details = Some(Box::new(json!({})));
        refusal
    }

    /// The name is taken.
    pub fn already_exists(key: &Key, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{key} \"{name}\" already exists")).about(key, name)
    }

    /// The object is not what the caller thinks it is.
    pub fn conflict(key: &Key, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {key} \"{name}\": {why}");
        Self::new(409, "Conflict", message).about(key, name)
    }

    /// The object has changed since the caller read it.
    pub(crate) fn modified(key: &Key, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(key, name, why)
    }

    /// Others own fields that an apply would change.
    pub(crate) fn apply_conflict(conflicts: &[(String, String)]) -> Self {
        let (count, s) = (conflicts.len(), if conflicts.len() == 1 { "" } else { "s" });
        let lines = conflicts.iter().map(|(who, field)| format!("conflict with {who}: {field}"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let message = format!("Apply failed with {count} conflict{s}: {text}");
        let cause = |(who, field): &(String, String)| json!({ "reason": "FieldManagerConflict", "message": format!("conflict with {who}"), "field": field });
        let causes = conflicts.iter().map(cause).collect::<Vec<_>>();
        let mut refusal = Self::new(409, "Conflict", message);
        refusal.details = Some(Box::new(json!({ "causes": causes })));
        refusal
    }

    /// The object is not valid.
    pub(crate) fn invalid(resource: &Resource, name: &str, problems: &[Problem]) -> Self {
        let kind = Key::of(&resource.key.group, &resource.kind);
        let texts = problems.iter().map(|p| format!("{}: {}", p.field, p.message));
        let text = match texts.collect::<Vec<_>>().as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{kind} \"{name}\" is invalid: {text}");
        let mut refusal = Self::new(422, "Invalid", message).about(&kind, name);
        let cause =
            |p: &Problem| json!({ "reason": p.reason, "message": p.message, "field": p.field });
        if let Some(details) = &mut refusal.details {
            details["causes"] = problems.iter().map(cause).collect();
        }
        refusal
    }

    /// The request makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// The caller may not do this.
    pub fn forbidden(key: &Key, name: &str, why: &str) -> Self {
        let message = match name {
            "" => format!("{key} is forbidden: {why}"),
            name => format!("{key} \"{name}\" is forbidden: {why}"),
        };
        Self::new(403, "Forbidden", message).about(key, name)
    }

    /// Nobody knows the caller.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// The path does not take this method.
    pub fn method_not_allowed() -> Self {
        let mut refusal = Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        refusal.details = Some(Box::new(json!({})));
        refusal
    }

    /// The body is of a type that is not taken here.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The version that the caller starts from is forgotten.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// The version that the caller asks for is not there yet.
    pub(crate) fn too_new(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut refusal = Self::new(504, "Timeout", message);
        let cause =
            json!({ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" });
        refusal.details = Some(Box::new(json!({ "causes": [cause], "retryAfterSeconds": 1 })));
        refusal
    }

    /// More is asked for than there may be, such as an eviction.
    pub(crate) fn too_many_requests(message: &str) -> Self {
        Self::new(429, "TooManyRequests", message)
    }

    /// Nobody answers behind the API.
    pub(crate) fn service_unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// The real API reads protobuf, which most components of Kubernetes send
    /// unless they are told otherwise.
    pub fn protobuf() -> Self {
        let message = "a protobuf body is not implemented by this simulated API; \
                       send JSON: start the component with \
                       --kube-api-content-type=application/json, \
                       or set contentType: application/json in its clientConnection";
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The real API can do this and the simulated one cannot.
    pub fn not_implemented(what: &str) -> Self {
        Self::new(501, "", format!("{what} is not implemented by this simulated API"))
    }

    /// Returns the body that says so.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            body["details"] = (**details).clone();
        }
        body
    }
}

// === impl Problem ===

impl Problem {
    /// A value that is not allowed.
    pub(crate) fn invalid(field: &str, value: &Value, why: &str) -> Self {
        let shown = match value {
            Value::Null => "null".to_owned(),
            other => other.to_string(),
        };
        let message = format!("Invalid value: {shown}: {why}");
        Self { reason: "FieldValueInvalid", field: field.to_owned(), message }
    }

    /// A value that is missing.
    pub(crate) fn required(field: &str, why: &str) -> Self {
        let message = if why.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {why}")
        };
        Self { reason: "FieldValueRequired", field: field.to_owned(), message }
    }

    /// A value that may not change.
    pub(crate) fn immutable(field: &str, value: &Value) -> Self {
        Self::invalid(field, value, "field is immutable")
    }
}
