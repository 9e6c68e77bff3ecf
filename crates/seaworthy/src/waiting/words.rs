//! Words for goals, and for who has to reach them.

use objects::{Goal, Subject};

use crate::board::count;

/// Returns who is waited for.
pub(super) fn subjects(many: &[Subject]) -> String {
    if let [Subject::One(id)] = many {
        return id.to_string();
    }
    let scopes: Vec<String> = many
        .iter()
        .filter_map(|subject| match subject {
            Subject::Each(scope) => Some(format!("every {scope}")),
            Subject::One(_) => None,
        })
        .collect();
    let ones = many.len() - scopes.len();
    let ones = (ones > 0).then(|| count(ones, "object"));
    ones.into_iter().chain(scopes).collect::<Vec<_>>().join(" and ")
}

/// Completes "waiting for it …".
pub(super) fn wish(goal: &Goal) -> String {
    match goal {
        Goal::Ready => "to be ready".to_owned(),
        Goal::Rollout => "to be rolled out".to_owned(),
        Goal::Created => "to be there".to_owned(),
        Goal::Deleted => "to be gone".to_owned(),
        Goal::Condition { name, status } => format!("to be {name}={status}"),
        Goal::Field { .. } => format!("to have {}", value(goal)),
    }
}

/// Completes "it is …".
pub(super) fn state(goal: &Goal) -> String {
    match goal {
        Goal::Ready => "ready".to_owned(),
        Goal::Rollout => "rolled out".to_owned(),
        Goal::Created => "there".to_owned(),
        Goal::Deleted => "gone".to_owned(),
        Goal::Condition { name, status } => format!("{name}={status}"),
        Goal::Field { .. } => format!("at {}", value(goal)),
    }
}

fn value(goal: &Goal) -> String {
    match goal {
        Goal::Field { path, test } => format!("{path}{test}"),
        _ => String::new(),
    }
}

/// Returns the verb of those that have got there.
pub(super) fn verb(goal: &Goal) -> &'static str {
    match goal {
        Goal::Ready => "Ready",
        Goal::Rollout => "Rolled out",
        Goal::Created => "There",
        Goal::Deleted => "Gone",
        Goal::Condition { .. } | Goal::Field { .. } => "Met",
    }
}
