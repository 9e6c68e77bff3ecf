//! What a node says against a config, without what stood in the config.
//!
//! A node repeats what it does not understand, with its value: a password under
//! a misspelt key would go from there into journals and reports. So keys are
//! kept, and values are not.

use events::Secret;
use serde_json::Value;

use super::Reason;
use crate::config::MachineConfig;
use crate::yaml::documents;

/// What comes before an excerpt of the config that runs to the end.
const UNKNOWN_KEYS: &str = "unknown keys found during decoding:";
/// What comes before a value in backquotes that is of another kind than wanted.
const OF_ANOTHER_KIND: &str = "cannot unmarshal !!";
/// What is in the name of a key whose value is nobody's business.
const PRIVATE: [&str; 6] = ["secret", "token", "password", "passphrase", "auth", "key"];
/// Shorter values are in every other word.
const TELLING: usize = 4;

/// Returns why a node did not take `config`, without its values: whichever code
/// a node answers with, its words may repeat them.
pub(super) fn refused(mut reason: Reason, config: &MachineConfig) -> Reason {
    if let Some(said) = reason.words_mut() {
        *said = without_values(said, config.yaml().reveal());
    }
    match reason {
        // All that the call argues is the config.
        Reason::InvalidArgument(said) => Reason::InvalidConfig(said),
        other => other,
    }
}

/// Returns the words of a node that refuses `config`, without its values.
fn without_values(said: &str, config: &str) -> String {
    let said = match said.split_once(UNKNOWN_KEYS) {
        Some((before, excerpt)) => format!("{before}{UNKNOWN_KEYS} {}", keys(excerpt)),
        None => said.to_owned(),
    };
    let mut hidden = Vec::new();
    for document in documents(config).unwrap_or_default() {
        private(&document, false, &mut hidden);
    }
    // A longer one may hold a shorter one.
    hidden.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let said = of_another_kind(&said);
    hidden.iter().fold(said, |said, value| said.replace(value.as_str(), Secret::MASK))
}

/// Returns the paths of an excerpt.
fn keys(excerpt: &str) -> String {
    let mut paths = Vec::new();
    for document in documents(excerpt).unwrap_or_default() {
        walk(&document, "", &mut paths);
    }
    if paths.is_empty() { Secret::MASK.to_owned() } else { paths.join(", ") }
}

fn walk(value: &Value, path: &str, paths: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                walk(value, &below(key), paths);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (at, item) in items.iter().enumerate() {
                walk(item, &below(&at.to_string()), paths);
            }
        }
        _ if path.is_empty() => {}
        _ => paths.push(path.to_owned()),
    }
}

/// Hides the values that are not of the kind that they should be.
fn of_another_kind(said: &str) -> String {
    let mut parts = said.split(OF_ANOTHER_KIND);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean += OF_ANOTHER_KIND;
        match part.split_once('`').and_then(|(kind, rest)| Some((kind, rest.split_once('`')?.1))) {
            Some((kind, rest)) => clean.extend([kind, Secret::MASK, rest]),
            None => clean += part,
        }
    }
    clean
}

/// Collects what stands under keys that tell of secrets, line by line: a key in
/// PEM may be shown in part.
fn private(value: &Value, is_private: bool, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = key.to_lowercase();
                private(value, is_private || PRIVATE.iter().any(|it| key.contains(it)), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| private(item, is_private, found)),
        Value::String(text) if is_private => {
            let lines = text.lines().map(str::trim).filter(|line| line.len() >= TELLING);
            found.extend(lines.map(str::to_owned));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    const CANARY: &str = "hunter22hunter22";

    /// Words of Talos 1.14, with a canary where it repeats what it was given.
    #[test]
    fn keys_are_named_and_values_are_not() {
        let before = "error decoding document /v1alpha1/ (line 1): ";
        let rows = [
            (
                format!(
                    "{before}unknown keys found during decoding:\nmachine:\n    \
                     registries:\n        config:\n            ghcr.io:\n                \
                     auht:\n                    password: {CANARY}\n    tokne: {CANARY}\n"
                ),
                format!(
                    "{before}unknown keys found during decoding: \
                     machine.registries.config.ghcr.io.auht.password, machine.tokne"
                ),
            ),
            (
                format!(
                    "{before}unknown keys found during decoding:\nslice:\n    - more: {CANARY}\n"
                ),
                format!("{before}unknown keys found during decoding: slice.0.more"),
            ),
            (
                format!("{before}unknown keys found during decoding:\nlist:\n    - {CANARY}\n"),
                format!("{before}unknown keys found during decoding: list"),
            ),
            (
                format!("unknown keys found during decoding:\n- [{CANARY}"),
                "unknown keys found during decoding: ‹secret›".to_owned(),
            ),
            (
                "yaml: unmarshal errors:\n  line 3: cannot unmarshal !!str `hunter2...` into bool"
                    .to_owned(),
                "yaml: unmarshal errors:\n  line 3: cannot unmarshal !!str ‹secret› into bool"
                    .to_owned(),
            ),
            (
                format!("wireguard: wrong key \"{CANARY}\", of /dev/sda"),
                "wireguard: wrong key \"‹secret›\", of /dev/sda".to_owned(),
            ),
            (
                "1 error occurred:\n\t* install disk is required (/dev/sda)".to_owned(),
                "1 error occurred:\n\t* install disk is required (/dev/sda)".to_owned(),
            ),
        ];
        let config = format!(
            "machine:\n  install: {{disk: /dev/sda}}\n  wireguard: {{privateKey: {CANARY}}}\n"
        );
        for (said, expected) in rows {
            let clean = without_values(&said, &config);
            assert_eq!(clean, expected.replace("‹secret›", Secret::MASK));
            assert!(!clean.contains("hunter2"), "{clean}");
        }
    }

    /// Until 1.12 some of this has no code, and nobody knows what 1.15 has.
    #[test]
    fn values_are_hidden_whatever_the_code_is() {
        let config = MachineConfig::from_yaml(Secret::new(format!("tokne: {CANARY}\n")));
        let said = format!("unknown keys found during decoding:\ntokne: {CANARY}\n");
        for code in (1..17).map(Code::from_i32) {
            let reason = refused(Reason::of_status(code, &said), &config);
            assert!(!format!("{reason:?} {reason}").contains(CANARY), "{reason:?}");
        }
        let old = Reason::of_status(Code::Unknown, &format!("failed to parse config: {said}"));
        let expected = "failed to parse config: unknown keys found during decoding: tokne";
        assert_eq!(refused(old, &config), Reason::InvalidConfig(expected.to_owned()));
    }
}
