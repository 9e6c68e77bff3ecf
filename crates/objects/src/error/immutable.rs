//! Fields that cannot be changed any more: which, and what it costs to have
//! them otherwise.
//!
//! The API has no reason of its own for them. It says `FieldValueInvalid` or
//! `FieldValueForbidden`, and the rest in words that differ by kind.

use std::fmt;

use serde_json::Value;

use super::FieldProblem;
use super::trouble::joined;
use crate::fields::{FieldPath, Step};
use crate::{Kind, Object};

/// How the API says that a field stays as it is. Definitions with rules of
/// their own mostly say "immutable" too.
const WORDS: [&str; 6] = [
    "immutable",
    "updates to ",
    "updates may not change",
    "may not change once set",
    "may not be changed",
    "cannot change roleRef",
];

/// So many of the fields that differ are told.
const TOLD: usize = 5;

/// What it means to make an object anew, by kind.
const LOSSES: &[(&str, &str, &str)] = &[
    ("apps", "Deployment", "delete it and apply again: its pods stop until the new ones run"),
    ("apps", "DaemonSet", "delete it and apply again: its pods stop until the new ones run"),
    (
        "apps",
        "StatefulSet",
        "delete it with `--propagation orphan` and apply again: its pods go on, and its claims stay",
    ),
    ("batch", "Job", "delete it and apply again: its pods and their logs go, and it runs anew"),
    ("", "Pod", "delete it and apply again: what it holds in memory and in emptyDirs is lost"),
    (
        "",
        "Service",
        "delete it and apply again: its addresses change, and are not answered meanwhile",
    ),
    (
        "",
        "PersistentVolumeClaim",
        "make another claim and copy the data: deleting this one deletes its data, unless its volume is retained",
    ),
    ("", "PersistentVolume", "make another volume: claims that are bound to this one lose it"),
    (
        "",
        "Secret",
        "apply it under another name, or delete it and apply again: its readers miss it meanwhile",
    ),
    (
        "",
        "ConfigMap",
        "apply it under another name, or delete it and apply again: its readers miss it meanwhile",
    ),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "apply it under another name: deleting it deletes all objects of its kind",
    ),
    (
        "rbac.authorization.k8s.io",
        "RoleBinding",
        "delete it and apply again: nobody has its rights meanwhile",
    ),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        "delete it and apply again: nobody has its rights meanwhile",
    ),
    ("storage.k8s.io", "StorageClass", "delete it and apply again: its volumes stay as they are"),
];

const LOSS_OF_OTHERS: &str =
    "delete it and apply again, if nothing is lost with it and nobody misses it meanwhile";

/// Fields that cannot be changed, and nothing else is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Immutable {
    /// What the API says of which field.
    pub problems: Vec<FieldProblem>,
    /// The fields below those that are wished for otherwise than they are, where
    /// that could be seen.
    pub differ: Vec<FieldPath>,
    /// What to do, and what it costs.
    pub next: &'static str,
}

impl Immutable {
    /// Returns them where all problems are of that kind. Whoever makes an object
    /// anew that is wrong besides has lost it.
    pub(super) fn among(problems: &[FieldProblem]) -> Option<Self> {
        let problems: Option<Vec<FieldProblem>> = problems.iter().map(short).collect();
        let problems = problems.filter(|problems| !problems.is_empty())?;
        Some(Self { problems, differ: Vec::new(), next: LOSS_OF_OTHERS })
    }

    /// Says what it costs to make an object of this kind anew.
    pub(super) fn of_kind(&mut self, kind: &Kind) {
        let found = LOSSES.iter().find(|(group, name, _)| kind.is(group, name));
        self.next = found.map_or(LOSS_OF_OTHERS, |(_, _, next)| *next);
    }

    /// Takes the fields that are wished for otherwise, as far as they are below
    /// what the API names. What it says may be changed is not among them.
    pub(super) fn differ_at(&mut self, paths: Vec<FieldPath>) {
        let is_meant = |path: &FieldPath| self.problems.iter().any(|one| one.forbids(path));
        self.differ = paths.into_iter().filter(is_meant).collect();
    }
}

impl FieldProblem {
    fn forbids(&self, path: &FieldPath) -> bool {
        let Some(own) = self.path.as_ref().filter(|own| own.is_prefix_of(path)) else {
            return false;
        };
        let Some(Step::Field(first)) = path.steps().get(own.steps().len()) else { return true };
        // `fields other than 'replicas', 'template', …`, `except resources.requests and …`
        let allowed = self.message.split_once("other than ").or(self.message.split_once("except "));
        let names = |allowed: &str| {
            allowed.split(|symbol: char| !symbol.is_alphanumeric()).any(|word| *word == **first)
        };
        !allowed.is_some_and(|(_, allowed)| names(allowed))
    }
}

/// Returns the fields of a wish that are otherwise in what is there.
pub(crate) fn differing(wish: &Object, live: &Object) -> Vec<FieldPath> {
    let mut found = Vec::new();
    walk(&FieldPath::default(), wish.body(), Some(live.body()), &mut found);
    found
}

fn walk(path: &FieldPath, wish: &Value, live: Option<&Value>, found: &mut Vec<FieldPath>) {
    match (wish, live) {
        (Value::Object(map), Some(Value::Object(_))) => {
            for (name, value) in map {
                let live = live.and_then(|live| live.get(name));
                walk(&path.then(Step::field(name)), value, live, found);
            }
        }
        (Value::Array(items), Some(Value::Array(lives))) if items.len() == lives.len() => {
            for (index, (item, live)) in (0..).zip(items.iter().zip(lives)) {
                walk(&path.then(Step::Index(index)), item, Some(live), found);
            }
        }
        (wish, Some(live)) if wish == live => {}
        (Value::Null, None) => {}
        _ => found.push(path.clone()),
    }
}

/// Returns a problem without the value: the API writes whole structures of Go
/// before the words that matter, and whole differences after them.
fn short(problem: &FieldProblem) -> Option<FieldProblem> {
    let message = &problem.message;
    let at = WORDS.iter().find_map(|words| message.find(words))?;
    let begin = message[..at].rfind(": ").map_or(0, |colon| colon + 2);
    let message = message[begin..].lines().next().unwrap_or_default().trim();
    Some(FieldProblem { message: message.to_owned(), ..problem.clone() })
}

impl fmt::Display for Immutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it cannot be changed in place: ")?;
        joined(f, &self.problems)?;
        if self.differ.is_empty() {
            return Ok(());
        }
        let told: Vec<String> =
            self.differ.iter().take(TOLD).map(|path| format!("`{path}`")).collect();
        write!(f, " (differs: {}", told.join(", "))?;
        match self.differ.len().saturating_sub(TOLD) {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_changed_is_told_without_the_values() {
        let table = [
            (
                "Invalid value: {\"matchLabels\":{\"a\":\"x: y\"}}: field is immutable",
                "field is immutable",
            ),
            (
                "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1 +1 @@\n core.X{a: b}",
                "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
            ),
            ("Invalid value: [\"10.0.0.1\"]: may not change once set", "may not change once set"),
            (
                "Forbidden: updates to provisioner are forbidden.",
                "updates to provisioner are forbidden.",
            ),
        ];
        for (said, told) in table {
            let problem = FieldProblem::of("spec", "FieldValueInvalid", said);
            let immutable = Immutable::among(&[problem]).unwrap();
            assert_eq!(immutable.problems[0].message, told);
        }
    }

    #[test]
    fn what_is_wrong_besides_is_to_be_corrected_first() {
        let immutable = FieldProblem::of("spec.selector", "", "field is immutable");
        let wrong = FieldProblem::of("spec.replicas", "", "must be at least 0");
        assert_eq!(Immutable::among(&[immutable, wrong]), None);
        assert_eq!(Immutable::among(&[]), None);
    }

    #[test]
    fn what_may_be_changed_is_not_named() {
        let says = "updates to statefulset spec for fields other than 'replicas', 'template' are forbidden";
        let mut immutable = Immutable::among(&[FieldProblem::of("spec", "", says)]).unwrap();
        let path = |text: &str| FieldPath::told(text, None).unwrap();
        immutable.differ_at(vec![
            path("spec.serviceName"),
            path("spec.replicas"),
            path("spec.template.spec"),
            path("metadata.labels.a"),
        ]);
        assert_eq!(immutable.differ, [path("spec.serviceName")]);
        assert!(immutable.to_string().ends_with(" (differs: `spec.serviceName`)"), "{immutable}");
    }
}
