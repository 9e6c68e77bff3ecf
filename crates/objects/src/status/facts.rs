//! What an object says, read without trust in its shape.

use serde_json::Value;

use crate::Object;

/// An object as the rules read it.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a>(pub(crate) &'a Object);

/// One entry of `status.conditions`.
#[derive(Clone, Copy)]
pub(crate) struct Condition<'a> {
    name: &'a str,
    body: &'a Value,
}

impl<'a> Facts<'a> {
    pub(crate) fn text(self, pointer: &str) -> Option<&'a str> {
        self.0.text(pointer)
    }

    /// A number; absent ones count as none, as controllers leave zeros out.
    pub(crate) fn count(self, pointer: &str) -> i64 {
        self.number(pointer).unwrap_or(0)
    }

    /// Some controllers write numbers as texts.
    pub(crate) fn number(self, pointer: &str) -> Option<i64> {
        number(self.0.at(pointer)?)
    }

    pub(crate) fn is_true(self, pointer: &str) -> bool {
        self.0.at(pointer).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn condition(self, name: &str) -> Option<Condition<'a>> {
        let conditions = self.0.items("/status/conditions");
        let named = |body: &'a Value| body["type"].as_str().map(|name| (name, body));
        let mut named = conditions.iter().filter_map(named);
        let (name, body) = named.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        let condition = Condition { name, body };
        // A condition may speak of an older generation than the whole status.
        let observed = number(&body["observedGeneration"]);
        let generation = self.number("/metadata/generation");
        match (observed, generation) {
            (Some(observed), Some(generation)) if observed < generation => None,
            _ => Some(condition),
        }
    }

    /// Returns the observed and the actual generation where they differ.
    pub(crate) fn lag(self) -> Option<(i64, i64)> {
        let observed = self.number("/status/observedGeneration")?;
        let generation = self.number("/metadata/generation")?;
        (observed != generation).then_some((observed, generation))
    }
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

impl<'a> Condition<'a> {
    pub(crate) fn is(self, status: &str) -> bool {
        self.body["status"].as_str().is_some_and(|found| found.eq_ignore_ascii_case(status))
    }

    pub(crate) fn reason(self) -> &'a str {
        self.body["reason"].as_str().unwrap_or_default()
    }

    /// What it says to people: its message, else its reason, else its status.
    pub(crate) fn says(self) -> String {
        let message = self.body["message"].as_str().map(str::trim).unwrap_or_default();
        let status = self.body["status"].as_str().unwrap_or("absent");
        match (self.reason(), message) {
            ("", "") => format!("{} is {status}", self.name),
            (reason, "") => format!("{} is {status}: {reason}", self.name),
            ("", message) => message.to_owned(),
            (reason, message) => format!("{reason}: {message}"),
        }
    }
}
