//! Paths into an object, as kubectl writes them.
//!
//! ```text
//!  {.status.conditions[?(@.type=="Ready")].status}   kubectl's form
//!   .status.loadBalancer.ingress[0].ip               braces and dot may be left out
//!    spec.containers[name="app"].image               the item with that name
//!    metadata.annotations['app.kubernetes.io/name']  any key, in quotes
//! ```
//!
//! A part of the language: keys, indices (from the end where negative), `[*]`
//! and filters. Recursion (`..`), slices, unions and text around the braces
//! are refused by name, never read as something else.

mod parse;
mod select;

use std::fmt;

/// A path that selects values of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

/// Why a text is no path, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a path: {problem} at character {at}")]
pub struct PathError {
    text: String,
    at: usize,
    problem: PathProblem,
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// There is no step at all.
    #[error("it selects nothing")]
    Empty,
    /// A brace, a bracket or a quote is left open.
    #[error("`{0}` is not closed")]
    Unclosed(char),
    /// A name, an index or a filter should stand here.
    #[error("a key, an index, `*` or a filter is missing")]
    NoStep,
    /// A filter is not `@.path`, with or without a comparison.
    #[error("a filter such as `?(@.type==\"Ready\")` is missing")]
    NoFilter,
    /// Something stands where a path goes on.
    #[error("`{0}` does not continue a path")]
    Unexpected(char),
    /// Recursive descent.
    #[error("`..` is not supported")]
    Recursion,
    /// A slice or a union.
    #[error("only one index is supported")]
    ManyIndices,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(i64),
    Every,
    Where(Filter),
}

/// Keeps the items for which this holds.
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    path: Vec<Step>,
    test: Option<(Comparison, Literal)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

#[derive(Clone, Debug, PartialEq)]
enum Literal {
    Text(String),
    Number(f64),
    Truth(bool),
}

impl PathError {
    /// Returns what is wrong.
    pub fn problem(&self) -> PathProblem {
        self.problem
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
