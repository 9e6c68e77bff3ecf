//! Label selectors: the text of queries, and the objects of manifests.

use serde_json::Value;

use crate::kube::object::{items, pairs, texts};
use crate::kube::refusal::Refusal;

/// Requirements on labels, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    Absent,
    Greater,
    Less,
}

impl LabelSelector {
    /// Reads a selector such as `app=web,tier in (a,b),!old`.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let parts = split(text);
        let requirements = parts.iter().map(|part| Requirement::parse(part, text));
        Ok(Self { requirements: requirements.collect::<Result<_, _>>()? })
    }

    /// Reads the `matchLabels` and `matchExpressions` of a manifest.
    pub fn of(selector: &Value) -> Self {
        let mut whole = Self::of_map(&selector["matchLabels"]);
        for expression in items(&selector["matchExpressions"]) {
            let operator = match expression["operator"].as_str() {
                Some("In") => Operator::In,
                Some("NotIn") => Operator::NotIn,
                Some("DoesNotExist") => Operator::Absent,
                _ => Operator::Exists,
            };
            let key = expression["key"].as_str().unwrap_or_default().to_owned();
            whole.requirements.push(Requirement {
                key,
                operator,
                values: texts(&expression["values"]),
            });
        }
        whole
    }

    /// Reads a plain map, such as a service's selector.
    pub fn of_map(map: &Value) -> Self {
        let requirements = pairs(map).map(|(key, value)| Requirement::equals(key, value));
        Self { requirements: requirements.collect() }
    }

    /// Says whether there are no requirements.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Says whether labels meet all requirements.
    pub fn matches(&self, labels: &Value) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }
}

impl Requirement {
    fn equals(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), operator: Operator::In, values: vec![value.to_owned()] }
    }

    fn new(key: &str, operator: Operator, values: &[&str]) -> Self {
        let values = values.iter().map(|value| value.trim().to_owned()).collect();
        Self { key: key.trim().to_owned(), operator, values }
    }

    fn parse(part: &str, whole: &str) -> Result<Self, Refusal> {
        let parsed = Self::parse_set(part).unwrap_or_else(|| Self::parse_simple(part));
        let legal = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let is_value = |value: &String| value.chars().all(legal);
        if parsed.key.is_empty()
            || !parsed.key.chars().all(legal)
            || !parsed.values.iter().all(is_value)
        {
            let why = format!("unable to parse requirement: found '{part}' in '{whole}'");
            return Err(Refusal::bad_request(why));
        }
        Ok(parsed)
    }

    /// Reads `key in (a,b)` and `key notin (a,b)`.
    fn parse_set(part: &str) -> Option<Self> {
        let (head, values) = part.strip_suffix(')')?.split_once('(')?;
        let (key, word) = head.trim().rsplit_once(char::is_whitespace)?;
        let operator = match word {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            _ => return None,
        };
        Some(Self::new(key, operator, &values.split(',').collect::<Vec<_>>()))
    }

    fn parse_simple(part: &str) -> Self {
        let operators = [
            ("!=", Operator::NotIn),
            ("==", Operator::In),
            ("=", Operator::In),
            (">", Operator::Greater),
            ("<", Operator::Less),
        ];
        for (sign, operator) in operators {
            if let Some((key, value)) = part.split_once(sign) {
                return Self::new(key, operator, &[value]);
            }
        }
        match part.strip_prefix('!') {
            Some(key) => Self::new(key, Operator::Absent, &[]),
            None => Self::new(part, Operator::Exists, &[]),
        }
    }

    fn matches(&self, labels: &Value) -> bool {
        let value = labels.get(&self.key).and_then(Value::as_str);
        let listed = value.is_some_and(|value| self.values.iter().any(|one| one == value));
        let number = |text: &str| text.parse::<i64>().ok();
        let wanted = self.values.first().and_then(|text| number(text));
        let compared = value.and_then(number).zip(wanted).map(|(is, wanted)| is.cmp(&wanted));
        match self.operator {
            Operator::In => listed,
            Operator::NotIn => !listed,
            Operator::Exists => value.is_some(),
            Operator::Absent => value.is_none(),
            Operator::Greater => compared.is_some_and(std::cmp::Ordering::is_gt),
            Operator::Less => compared.is_some_and(std::cmp::Ordering::is_lt),
        }
    }
}

/// Splits at the commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    if parts == [""] { Vec::new() } else { parts }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(selector: &str) -> bool {
        let labels = json!({ "app": "web", "tier": "front", "n": "7" });
        LabelSelector::parse(selector).unwrap().matches(&labels)
    }

    #[test]
    fn the_whole_grammar_is_read() {
        for yes in [
            "",
            "app=web",
            "app==web",
            "app!=db",
            "app in (web,db)",
            "app in (web), tier",
            "other notin (a)",
            "!other",
            "n>6",
            "n<8",
            "tier=front,app",
        ] {
            assert!(matches(yes), "{yes}");
        }
        for no in ["app=db", "app!=web", "app in (db)", "!app", "other", "n>7", "app notin (web)"] {
            assert!(!matches(no), "{no}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["app in web", "a b", "=x", "app=web,,tier", "x in (a b)"] {
            assert_eq!(LabelSelector::parse(text).unwrap_err().code, 400, "{text}");
        }
    }

    #[test]
    fn manifests_have_selectors_too() {
        let selector = json!({
            "matchLabels": { "app": "web" },
            "matchExpressions": [{ "key": "old", "operator": "DoesNotExist" }],
        });
        let selector = LabelSelector::of(&selector);
        assert!(selector.matches(&json!({ "app": "web" })));
        assert!(!selector.matches(&json!({ "app": "web", "old": "" })));
    }
}
