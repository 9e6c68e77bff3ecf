//! Differences as people read them.
//!
//! ```text
//! ~ deployment.apps/web in namespace app
//!     ~ spec.template.spec.containers[name="app"].image: "web:1" → "web:2"
//!     + metadata.labels["app.kubernetes.io/version"]: "2"
//!     - spec.replicas: 3
//!       taken from kubectl: spec.replicas
//! ```

use std::fmt;

use serde_json::Value;

use super::lines::{Line, lines};
use super::{Diff, Difference, Drift, Drifted, Shown, Touch};
use crate::fields::Passed;

impl fmt::Display for Shown {
    /// A value as JSON on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(&harmless(&value.to_string())),
            Self::Hidden(mark) => write!(f, "(hidden {mark})"),
            Self::Order(names) => f.write_str(&harmless(&names.join(", "))),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match (&self.old, &self.new) {
            (Some(old @ Shown::Order(_)), Some(new)) => {
                write!(f, "~ {path}: in another order: {old} → {new}")
            }
            (Some(old), Some(new)) => match (text_of(old), text_of(new)) {
                (Some(old), Some(new)) if old.contains('\n') || new.contains('\n') => {
                    write!(f, "~ {path}:")?;
                    lines(old, new).iter().try_for_each(|line| write!(f, "\n    {line}"))
                }
                _ => write!(f, "~ {path}: {old} → {new}"),
            },
            (None, Some(new)) => write!(f, "+ {path}: {new}"),
            (Some(old), None) => write!(f, "- {path}: {old}"),
            (None, None) => write!(f, "  {path}"),
        }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::From(number) => write!(f, "@ line {number}"),
            Self::Same(line) => write!(f, "  {}", harmless(line)),
            Self::Old(line) => write!(f, "- {}", harmless(line)),
            Self::New(line) => write!(f, "+ {}", harmless(line)),
        }
    }
}

impl fmt::Display for Diff {
    /// Nothing at all where nothing would change.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() && self.handover.is_empty() {
            return Ok(());
        }
        let sign = if self.is_new { "+" } else { "~" };
        writeln!(f, "{sign} {}", self.id)?;
        for difference in &self.differences {
            indented(f, &difference.to_string())?;
        }
        let handover = &self.handover;
        passed(f, "taken from", &handover.taken)?;
        passed(f, "shared with", &handover.shared)?;
        passed(f, "lost to", &handover.lost)
    }
}

fn passed(f: &mut fmt::Formatter<'_>, how: &str, fields: &[Passed]) -> fmt::Result {
    for Passed { path, others } in fields {
        let others: Vec<String> = others.iter().map(ToString::to_string).collect();
        writeln!(f, "      {how} {}: {path}", others.join(", "))?;
    }
    Ok(())
}

impl fmt::Display for Drift {
    /// Nothing at all where nobody has changed anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        writeln!(f, "~ {}", self.id)?;
        self.drifted.iter().try_for_each(|one| indented(f, &one.to_string()))
    }
}

impl fmt::Display for Drifted {
    /// From ours to theirs, then who did it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, ours, theirs, by, perhaps } = self;
        let difference = Difference { path: path.clone(), old: ours.clone(), new: theirs.clone() };
        difference.fmt(f)?;
        if !by.is_empty() {
            write!(f, "\n    by {}", joined(by))
        } else if !perhaps.is_empty() {
            let how = if theirs.is_some() { "changed" } else { "removed" };
            write!(f, "\n    {how}, perhaps by {}", joined(perhaps))
        } else {
            f.write_str("\n    removed by somebody who left no name")
        }
    }
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time {
            Some(time) => write!(f, "{} at {time}", self.owner),
            None => write!(f, "{}", self.owner),
        }
    }
}

fn joined(touches: &[Touch]) -> String {
    let touches: Vec<String> = touches.iter().map(ToString::to_string).collect();
    touches.join(", ")
}

fn indented(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "    {line}"))
}

fn text_of(shown: &Shown) -> Option<&str> {
    match shown {
        Shown::Value(Value::String(text)) => Some(text),
        Shown::Value(_) | Shown::Hidden(_) | Shown::Order(_) => None,
    }
}

/// What could steer a terminal, or turn the direction of its text, is spelled
/// out: values come from others.
fn harmless(text: &str) -> String {
    let steers = |character: char| {
        (character.is_control() && character != '\t')
            || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    let mut harmless = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) {
            harmless.extend(character.escape_unicode());
        } else {
            harmless.push(character);
        }
    }
    harmless
}
