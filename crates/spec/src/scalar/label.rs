//! Labels and taints of nodes and cloud resources.

use std::fmt;

use serde::Serialize;

use super::{Complaint, Format, Json, Scalar, Word};

/// The key of a label, by the rules that Kubernetes and Hetzner share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LabelKey(String);

/// The value of a label: at most 63 letters, digits, `-`, `_` and `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LabelValue(String);

/// A taint: `key=value:Effect` or `key:Effect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Taint {
    /// The key.
    pub key: LabelKey,
    /// The value, often empty.
    pub value: LabelValue,
    /// What it does to pods that do not tolerate it.
    pub effect: TaintEffect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TaintEffect {
    /// New pods stay away.
    NoSchedule,
    /// New pods stay away where they can.
    PreferNoSchedule,
    /// Running pods leave too.
    NoExecute,
}

impl LabelKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the `/`, if any.
    pub fn prefix(&self) -> Option<&str> {
        self.0.split_once('/').map(|(prefix, _)| prefix)
    }

    pub(crate) fn assert(text: &str) -> Self {
        Self::read(text).expect("the crate's own label keys follow the rules")
    }
}

impl LabelValue {
    /// The value as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads a value, for labels whose values are made at run time.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }

    pub(crate) fn assert(text: &str) -> Self {
        Self::read(text).expect("names and ids of this crate are valid label values")
    }
}

impl fmt::Display for LabelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for LabelValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equals = if self.value.0.is_empty() { "" } else { "=" };
        write!(f, "{}{equals}{}:{}", self.key, self.value, self.effect.word())
    }
}

impl Scalar for LabelKey {
    const FORMAT: Format = Format {
        name: "a label key",
        example: "`team` or `example.com/team`",
        json: Json::Text {
            pattern: r"^([a-zA-Z0-9][-a-zA-Z0-9_.]*/)?[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?$",
        },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let (prefix, name) =
            text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
        check(name, 63, "the name")?;
        if let Some(prefix) = prefix {
            check(prefix, 253, "the prefix")?;
        }
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("key".to_owned())
    }
}

impl Scalar for LabelValue {
    const FORMAT: Format = Format {
        name: "a label value",
        example: "`platform`",
        json: Json::Text { pattern: "^([a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?)?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if !text.is_empty() {
            check(text, 63, "the value")?;
        }
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self(String::new())
    }
}

fn check(text: &str, longest: usize, what: &str) -> Result<(), Complaint> {
    let ends = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    if let Some(wrong) = text.chars().find(|c| !c.is_ascii_alphanumeric() && !"-_.".contains(*c)) {
        return Err(Complaint::label(format!(
            "`{wrong}` cannot stand here: letters, digits, `-`, `_` and `.` can"
        )));
    }
    if text.len() > longest {
        return Err(Complaint::label(format!(
            "{what} has {} characters, at most {longest} fit",
            text.len()
        )));
    }
    if !ends(text) {
        return Err(Complaint::label(format!("{what} must start and end with a letter or digit")));
    }
    Ok(())
}

impl Word for TaintEffect {
    const WHAT: &'static str = "taint effect";
    const ALL: &'static [Self] = &[Self::NoSchedule, Self::PreferNoSchedule, Self::NoExecute];
    const WORDS: &'static [&'static str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
}

impl Scalar for Taint {
    const FORMAT: Format = Format {
        name: "a taint",
        example: "`dedicated=gpu:NoSchedule`",
        json: Json::Text { pattern: "^[^=:]+(=[^=:]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let Some((head, effect)) = text.rsplit_once(':') else {
            return Err(Complaint::label(format!(
                "the effect is missing, such as `{text}:NoSchedule`"
            )));
        };
        let (key, value) = head.split_once('=').unwrap_or((head, ""));
        Ok(Self {
            key: LabelKey::read(key)?,
            value: LabelValue::read(value)?,
            effect: TaintEffect::read(effect)?,
        })
    }

    fn stand_in() -> Self {
        Self {
            key: LabelKey::stand_in(),
            value: LabelValue::stand_in(),
            effect: TaintEffect::NoSchedule,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values() {
        assert!(LabelKey::read("seaworthy.dev/cluster-id").is_ok());
        assert!(LabelKey::read("a/b/c").is_err());
        assert!(LabelKey::read("/b").is_err());
        assert!(LabelValue::read("").is_ok());
        assert!(LabelValue::read(&"x".repeat(64)).is_err());
        assert_eq!(
            LabelValue::read("a b").expect_err("refused").label,
            "` ` cannot stand here: letters, digits, `-`, `_` and `.` can"
        );
    }

    #[test]
    fn taints() {
        for text in ["dedicated=gpu:NoSchedule", "gpu:NoExecute"] {
            assert_eq!(Taint::read(text).expect("a taint").to_string(), text);
        }
        assert_eq!(
            Taint::read("gpu").expect_err("refused").label,
            "the effect is missing, such as `gpu:NoSchedule`"
        );
        assert_eq!(
            Taint::read("gpu:Noschedule").expect_err("refused").label,
            "did you mean `NoSchedule`?"
        );
    }
}
