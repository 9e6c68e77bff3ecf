//! Labels, and the selectors that choose by them.

use std::collections::BTreeMap;

use thiserror::Error;

use super::refusal::Refusal;

/// The labels of a resource.
pub type Labels = BTreeMap<String, String>;

/// A label selector: all of its terms must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    text: String,
    terms: Vec<Term>,
}

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("could not read the label selector near `{near}`")]
pub(crate) struct InvalidSelector {
    near: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Has(String),
    Lacks(String),
    OneOf(String, Vec<String>),
    NoneOf(String, Vec<String>),
}

impl Selector {
    /// Reads `k`, `!k`, `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`,
    /// joined by commas.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidSelector> {
        let terms = split_terms(text).into_iter().map(Term::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), terms })
    }

    /// Reads the selector of a request's field.
    pub(crate) fn of_field(field: &str, text: &str) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Refusal::invalid(field, "must not be empty"));
        }
        Self::parse(text).map_err(|error| Refusal::invalid(field, error.to_string()))
    }

    pub(crate) fn matches(&self, labels: &Labels) -> bool {
        self.terms.iter().all(|term| term.holds(labels))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl Term {
    fn parse(text: &str) -> Result<Self, InvalidSelector> {
        let text = text.trim();
        let unreadable = || InvalidSelector { near: text.to_owned() };
        let key = |key: &str| valid_key(key.trim()).ok_or_else(unreadable);
        let value = |value: &str| valid_value(value.trim()).ok_or_else(unreadable);
        if let Some(list) = text.strip_suffix(')') {
            let (head, list) = list.split_once('(').ok_or_else(unreadable)?;
            let values = list.split(',').map(value).collect::<Result<_, _>>()?;
            return match head.trim_end().rsplit_once(char::is_whitespace) {
                Some((name, "in")) => Ok(Self::OneOf(key(name)?, values)),
                Some((name, "notin")) => Ok(Self::NoneOf(key(name)?, values)),
                _ => Err(unreadable()),
            };
        }
        if let Some((name, wanted)) = text.split_once("!=") {
            return Ok(Self::NoneOf(key(name)?, vec![value(wanted)?]));
        }
        if let Some((name, wanted)) = text.split_once("==").or_else(|| text.split_once('=')) {
            return Ok(Self::OneOf(key(name)?, vec![value(wanted)?]));
        }
        match text.strip_prefix('!') {
            Some(name) => Ok(Self::Lacks(key(name)?)),
            None => Ok(Self::Has(key(text)?)),
        }
    }

    fn holds(&self, labels: &Labels) -> bool {
        match self {
            Self::Has(key) => labels.contains_key(key),
            Self::Lacks(key) => !labels.contains_key(key),
            Self::OneOf(key, values) => labels.get(key).is_some_and(|it| values.contains(it)),
            Self::NoneOf(key, values) => !labels.get(key).is_some_and(|it| values.contains(it)),
        }
    }
}

/// The prefix of labels that only Hetzner sets.
const RESERVED_PREFIX: &str = "hetzner.cloud/";

/// Refuses labels that the API would not take.
pub(crate) fn check_labels(labels: &Labels) -> Result<(), Refusal> {
    for (key, value) in labels {
        if key.starts_with(RESERVED_PREFIX) {
            let message =
                format!("the prefix `{RESERVED_PREFIX}` of label key `{key}` is reserved");
            return Err(Refusal::invalid("labels", message));
        }
        if valid_key(key).is_none() {
            return Err(Refusal::invalid("labels", format!("invalid label key `{key}`")));
        }
        if valid_value(value).is_none() {
            return Err(Refusal::invalid("labels", format!("invalid label value `{value}`")));
        }
    }
    Ok(())
}

/// Splits at the commas outside of parentheses.
fn split_terms(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|sign| {
        depth += i32::from(sign == '(') - i32::from(sign == ')');
        sign == ',' && depth == 0
    })
    .collect()
}

fn valid_key(key: &str) -> Option<String> {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(p, n)| (Some(p), n));
    let fits = !name.is_empty()
        && is_word(name, 63)
        && prefix.is_none_or(|prefix| !prefix.is_empty() && is_word(prefix, 253));
    fits.then(|| key.to_owned())
}

fn valid_value(value: &str) -> Option<String> {
    is_word(value, 63).then(|| value.to_owned())
}

/// Letters, digits and `-_.` inside, letters and digits at both ends.
fn is_word(text: &str, longest: usize) -> bool {
    let inner = |sign: u8| sign.is_ascii_alphanumeric() || b"-_.".contains(&sign);
    let outer = |sign: Option<&u8>| sign.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= longest
        && bytes.iter().copied().all(inner)
        && outer(bytes.first())
        && outer(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Selector::parse(selector).unwrap().matches(&labels)
    }

    #[test]
    fn every_form_of_a_term_is_understood() {
        let labels = [("env", "prod"), ("example.com/role", "cp"), ("empty", "")];
        for holds in [
            "env",
            "!tier",
            "env=prod",
            "env==prod",
            "env!=dev",
            "tier!=any",
            "env in (dev,prod)",
            "env notin (dev, test)",
            "tier notin (a)",
            "example.com/role=cp,env in ( prod ),!tier",
            "empty=",
        ] {
            assert!(matches(holds, &labels), "{holds}");
        }
        for fails in ["tier", "!env", "env=dev", "env!=prod", "env in (dev)", "env notin (prod)"] {
            assert!(!matches(fails, &labels), "{fails}");
        }
        assert!(!matches("env=prod,tier", &labels), "all terms count");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "a,,b", "=x", "a within (b)", "(a)", "a=b c", "-a", "a=ä", "in (a)"] {
            assert!(Selector::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn labels_are_checked() {
        let labels = |key: &str, value: &str| Labels::from([(key.to_owned(), value.to_owned())]);
        assert!(check_labels(&labels("seaworthy.dev/cluster", "0-a_b.C")).is_ok());
        assert!(check_labels(&labels("a", "")).is_ok());
        assert!(check_labels(&labels("a", &"x".repeat(63))).is_ok());
        assert!(check_labels(&labels("a", &"x".repeat(64))).is_err());
        assert!(check_labels(&labels("a/b/c", "x")).is_err());
        assert!(check_labels(&labels("a", "ends-")).is_err());
        assert!(check_labels(&labels("hetzner.cloud/role", "x")).is_err(), "reserved");
        assert!(check_labels(&labels("hetzner.cloud", "x")).is_ok(), "no prefix");
    }
}
