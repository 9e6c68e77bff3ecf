//! Values of a Secret that the API cites in its answer.
//!
//! A no often quotes what it is about (`expected map, got &{hunter2}`). What
//! was sent is known here, so that it can be taken out again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Trouble;

/// What stands in the place of a value.
const HIDDEN: &str = "(hidden)";

/// What is shorter cannot be told from the words around it, and is no secret.
const SHORTEST: usize = 3;

/// What a Secret says about itself.
const ABOUT: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];

impl Trouble {
    /// Takes the values of the Secret that was sent out of what the API said.
    pub(super) fn hide_values_of(&mut self, sent: &Value) {
        let mut values = Vec::new();
        let fields = sent.as_object().into_iter().flatten();
        let fields = fields.filter(|(name, _)| !ABOUT.contains(&name.as_str()));
        fields.for_each(|(_, value)| gather(value, &mut values));
        // A value that is a part of another one would leave the rest of it.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for message in self.messages() {
            for value in &values {
                *message = message.replace(value.as_str(), HIDDEN);
            }
        }
    }

    /// Everything that is told in the API's own words.
    fn messages(&mut self) -> Vec<&mut String> {
        match self {
            Self::Forbidden(message)
            | Self::Denied(message)
            | Self::Changed(message)
            | Self::Unavailable { message, .. }
            | Self::Refused { message, .. }
            | Self::Garbled(message) => vec![message],
            Self::Invalid(problems) => problems.iter_mut().map(|one| &mut one.message).collect(),
            Self::Immutable(fields) => {
                fields.problems.iter_mut().map(|one| &mut one.message).collect()
            }
            Self::Unreachable(_)
            | Self::NoCredential(_)
            | Self::Unauthenticated
            | Self::NoDryRun { .. }
            | Self::Absent
            | Self::KindMissing { .. }
            | Self::NoApi(_)
            | Self::NamespaceMissing(_)
            | Self::NamespaceTerminating(_)
            | Self::AlreadyExists
            | Self::Ownership(_)
            | Self::Expired
            | Self::Throttled(_)
            | Self::TooLong { .. }
            | Self::EndlessPages(_)
            | Self::Redirected { .. }
            | Self::TooLarge => Vec::new(),
        }
    }
}

fn gather(value: &Value, values: &mut Vec<String>) {
    let mut keep = |text: String| {
        if text.len() >= SHORTEST {
            values.push(text);
        }
    };
    match value {
        Value::String(text) => {
            keep(text.clone());
            // A webhook cites what is meant, and not how it is written.
            if let Some(plain) = plain(text) {
                plain.lines().for_each(|line| keep(line.trim().to_owned()));
                keep(plain);
            }
        }
        Value::Number(number) => keep(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, values)),
        Value::Object(map) => map.values().for_each(|value| gather(value, values)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns what stands in base64, where it is text.
fn plain(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::FieldProblem;

    #[test]
    fn values_go_and_names_stay() {
        let sent = json!({ "kind": "Secret", "metadata": { "name": "door" },
            "stringData": "hunter2", "data": { "k": "hunter2!", "pin": 4711, "no": "a" } });
        let said = "door: a Secret with hunter2! and hunter2 and 4711";
        let expected = "door: a Secret with (hidden) and (hidden) and (hidden)";
        let problem = || FieldProblem { path: None, reason: String::new(), message: said.into() };
        for mut trouble in [
            Trouble::Denied(said.into()),
            Trouble::Refused { code: 400, message: said.into() },
            Trouble::Invalid(vec![problem(), problem()]),
        ] {
            trouble.hide_values_of(&sent);
            let text = trouble.to_string();
            assert!(text.starts_with(expected) && !text.contains("hunter"), "{text}");
        }
    }

    #[test]
    fn what_is_written_in_base64_is_hidden_in_plain_text_too() {
        // `correct horse` in one line, and a key in two.
        let sent = json!({ "kind": "Secret", "data":
            { "p": "Y29ycmVjdCBob3JzZQ==", "key": "Zmlyc3QtaGFsZgpzZWNvbmQtaGFsZgo=" } });
        let said = "denied: `correct horse` is weak, and second-half of Y29ycmVjdCBob3JzZQ== too";
        let mut trouble = Trouble::Denied(said.into());
        trouble.hide_values_of(&sent);
        assert_eq!(trouble.to_string(), "denied: `(hidden)` is weak, and (hidden) of (hidden) too");
    }
}
