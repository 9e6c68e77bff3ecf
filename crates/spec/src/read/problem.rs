//! What is wrong with a cluster file.

use std::cell::RefCell;

use serde::Serialize;

use super::source::{Position, Source, Span};
use crate::rules::Rule;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but probably should not be.
    Warning,
}

/// One thing that is wrong with a cluster file, where, and what to do.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The rule that was broken.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; `None` for a problem of the file as a whole.
    pub span: Option<Span>,
    /// What the caret says: mostly what was expected.
    pub label: String,
    /// Other places that belong to the problem.
    pub related: Vec<Related>,
    /// Why it is a problem.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
    /// Places of further values that the problem follows from.
    causes: Vec<Span>,
}

/// A second place that a problem points at.
#[derive(Clone, Debug)]
pub struct Related {
    /// The place.
    pub span: Span,
    /// What it has to do with the problem.
    pub label: String,
}

/// A problem in the form that machines read (`-o json`).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProblemRecord {
    severity: Severity,
    rule: Rule,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<PlaceRecord>,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    help: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct PlaceRecord {
    start: Position,
    end: Position,
}

#[derive(Clone, Debug, Serialize)]
struct RelatedRecord {
    place: PlaceRecord,
    label: String,
}

/// Nobody reads more, and a hostile file must not cost more than its length.
const MOST: usize = 1000;

/// Collects problems while a file is decoded and checked.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: RefCell<Vec<Problem>>,
    /// Where keys are refused for now: nothing else is said of what is in them.
    refused: RefCell<Vec<Span>>,
    /// Features that were refused already.
    features: RefCell<Vec<&'static str>>,
    /// Whether keys that are not supported yet are read like others.
    reads_all: bool,
}

impl Problem {
    /// Returns an error at a place.
    pub fn error(rule: Rule, span: Span, message: impl Into<String>) -> Self {
        Self::at(rule, Severity::Error, Some(span), message.into())
    }

    /// Returns a warning at a place.
    pub fn warning(rule: Rule, span: Span, message: impl Into<String>) -> Self {
        Self::at(rule, Severity::Warning, Some(span), message.into())
    }

    /// Returns an error of the file as a whole.
    pub fn of_file(rule: Rule, message: impl Into<String>) -> Self {
        Self::at(rule, Severity::Error, None, message.into())
    }

    fn at(rule: Rule, severity: Severity, span: Option<Span>, message: String) -> Self {
        Self {
            rule,
            severity,
            message,
            span,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            causes: Vec::new(),
        }
    }

    /// Says what the caret says.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push(Related { span, label: label.into() });
        self
    }

    /// Says that the problem only exists if the value at this place was read.
    #[must_use]
    pub(crate) fn follows_from(mut self, cause: Span) -> Self {
        self.causes.push(cause);
        self
    }

    /// Adds a reason.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Whether any place it points at belongs to a value that could not be read.
    fn follows_from_another(&self) -> bool {
        self.places().any(Span::is_nowhere)
    }

    /// All places that the problem has to do with.
    pub(crate) fn places(&self) -> impl Iterator<Item = Span> {
        let related = self.related.iter().map(|related| related.span);
        self.span.into_iter().chain(related).chain(self.causes.iter().copied())
    }

    /// The form for machines.
    pub fn record(&self, source: &Source) -> ProblemRecord {
        ProblemRecord {
            severity: self.severity,
            rule: self.rule,
            message: self.message.clone(),
            place: self.span.map(|span| PlaceRecord::new(source, span)),
            label: self.label.clone(),
            related: self
                .related
                .iter()
                .map(|related| RelatedRecord::new(source, related))
                .collect(),
            notes: self.notes.clone(),
            help: self.help.clone(),
        }
    }
}

impl PlaceRecord {
    fn new(source: &Source, span: Span) -> Self {
        Self { start: source.position(span.start), end: source.position(span.end) }
    }
}

impl RelatedRecord {
    fn new(source: &Source, related: &Related) -> Self {
        Self { place: PlaceRecord::new(source, related.span), label: related.label.clone() }
    }
}

impl Problems {
    /// Lets keys pass that are not supported yet.
    pub(crate) fn reading_all() -> Self {
        Self { reads_all: true, ..Self::default() }
    }

    /// Keeps the refusal of a key that is not supported yet, and none of the problems inside
    /// `whole`. A feature is refused once, however many keys it has.
    pub(crate) fn refuse(&self, problem: Problem, whole: Span, feature: Option<&'static str>) {
        if self.reads_all {
            return;
        }
        self.refused.borrow_mut().push(whole);
        let mut features = self.features.borrow_mut();
        if feature.is_some_and(|feature| features.contains(&feature)) {
            return;
        }
        features.extend(feature);
        self.push(problem);
    }

    /// Keeps a problem, unless it only follows from one that was reported already.
    pub(crate) fn push(&self, problem: Problem) {
        if !self.is_full() && !problem.follows_from_another() {
            self.found.borrow_mut().push(problem);
        }
    }

    /// Keeps a problem that makes all others before it beside the point.
    pub(crate) fn push_only(&self, problem: Problem) {
        *self.found.borrow_mut() = vec![problem];
    }

    /// Whether no further problem is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.found.borrow().len() >= MOST
    }

    /// All problems in the order of the file; those of the whole file come first.
    pub(crate) fn into_sorted(self) -> Vec<Problem> {
        let refused = self.refused.into_inner();
        let is_refused = |place: Span| {
            refused.iter().any(|whole| whole.start <= place.start && place.start < whole.end)
        };
        let mut found = self.found.into_inner();
        found.retain(|it| it.rule == Rule::NotSupported || !it.places().any(is_refused));
        found.sort_by_key(|problem| problem.span);
        found
    }
}
