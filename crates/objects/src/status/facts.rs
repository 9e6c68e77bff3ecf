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

    /// A condition of the current generation: it may speak of an older one than
    /// the whole status.
    pub(crate) fn condition(self, name: &str) -> Option<Condition<'a>> {
        self.last_condition(name).filter(|condition| !self.is_old(condition.body))
    }

    /// A condition of whatever generation.
    pub(crate) fn last_condition(self, name: &str) -> Option<Condition<'a>> {
        let conditions = self.0.items("/status/conditions");
        let named = |body: &'a Value| body["type"].as_str().map(|name| (name, body));
        let mut named = conditions.iter().filter_map(named);
        let (name, body) = named.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some(Condition { name, body })
    }

    fn is_old(self, condition: &Value) -> bool {
        let observed = number(&condition["observedGeneration"]);
        let generation = self.number("/metadata/generation");
        observed.zip(generation).is_some_and(|(observed, generation)| observed < generation)
    }

    /// Returns whether a condition by which to tell is of an older generation,
    /// or all of them are.
    pub(crate) fn has_old_conditions(self) -> bool {
        let conditions = self.0.items("/status/conditions");
        let all = !conditions.is_empty() && conditions.iter().all(|one| self.is_old(one));
        let mut telling =
            ["Ready", "Available"].into_iter().filter_map(|one| self.last_condition(one));
        all || telling.any(|one| self.is_old(one.body))
    }

    /// Returns whether all conditions are still what the API fills in.
    pub(crate) fn has_unknown_conditions(self) -> bool {
        let conditions = self.0.items("/status/conditions");
        !conditions.is_empty() && conditions.iter().all(|one| one["status"] == "Unknown")
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
