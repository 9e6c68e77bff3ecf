//! Reading a cluster file from beginning to end.

use serde::Serialize;

use crate::cluster::{Cluster, ROOT, other_kind};
use crate::read::{
    Colour, Fields, Node, Problem, ProblemRecord, Problems, Severity, Source, decode_text, parse,
    render, render_problems,
};
use crate::rules;

/// What came of reading a cluster file.
#[derive(Clone, Debug)]
pub struct Reading {
    source: Source,
    cluster: Option<Cluster>,
    problems: Vec<Problem>,
    /// Whether the text could be parsed, whatever it says.
    was_parsed: bool,
}

/// A reading in the form that machines read (`-o json`).
#[derive(Clone, Debug, Serialize)]
pub struct ReadingRecord {
    file: String,
    valid: bool,
    errors: usize,
    warnings: usize,
    problems: Vec<ProblemRecord>,
}

/// Reads a cluster file; `name` is what messages call it.
pub fn read(name: &str, bytes: &[u8]) -> Reading {
    read_into(Problems::default(), name, bytes)
}

/// Reads a cluster file as [`read`] does, and takes keys that are not supported yet.
///
/// For tests of what is being built. Nothing that builds a cluster may call it.
pub fn read_with_unsupported(name: &str, bytes: &[u8]) -> Reading {
    read_into(Problems::reading_all(), name, bytes)
}

fn read_into(problems: Problems, name: &str, bytes: &[u8]) -> Reading {
    let (source, unreadable) = decode_text(name, bytes);
    let root = match unreadable {
        None => parse(&source, &problems),
        Some(problem) => {
            problems.push(problem);
            None
        }
    };
    let was_parsed = root.is_some();
    let cluster = root.and_then(|root| decode(&root, &problems));
    let problems = problems.into_sorted();
    let is_valid = problems.iter().all(|problem| problem.severity == Severity::Warning);
    Reading { source, cluster: cluster.filter(|_| is_valid), problems, was_parsed }
}

fn decode(root: &Node, problems: &Problems) -> Option<Cluster> {
    if let Some(problem) = other_kind(root) {
        problems.push_only(problem);
        return None;
    }
    let cluster = Cluster::decode(Fields::root(root, &ROOT, problems));
    rules::check(&cluster, problems);
    Some(cluster)
}

impl Reading {
    /// The cluster, if the file has no errors.
    pub fn cluster(&self) -> Option<&Cluster> {
        self.cluster.as_ref()
    }

    /// The cluster, or the reading back if the file has errors.
    pub fn into_cluster(mut self) -> Result<Cluster, Box<Self>> {
        self.cluster.take().ok_or_else(|| Box::new(self))
    }

    /// All problems, in the order of the file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The text that was read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How many problems are errors.
    pub fn errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error).count()
    }

    /// All problems as people see them, with a closing line if the file cannot be used;
    /// empty if there are none.
    pub fn render(&self, colour: Colour) -> String {
        let name = self.source.name();
        let outcome = if self.was_parsed {
            format!("{name} is not valid")
        } else {
            format!("could not read {name}")
        };
        render(&self.source, &self.problems, &outcome, colour)
    }

    /// All problems as people see them, under another name and without a closing line:
    /// for a text that is no file yet.
    pub(crate) fn render_problems(&self, name: &str, colour: Colour) -> String {
        render_problems(&self.source.clone().renamed(name), &self.problems, colour)
    }

    /// The form for machines.
    pub fn record(&self) -> ReadingRecord {
        ReadingRecord {
            file: self.source.name().to_owned(),
            valid: self.cluster.is_some(),
            errors: self.errors(),
            warnings: self.problems.len() - self.errors(),
            problems: self.problems.iter().map(|problem| problem.record(&self.source)).collect(),
        }
    }
}

/// Parses one YAML document in the strict profile of cluster files, as JSON.
///
/// For tools that look at a cluster file without knowing its keys.
pub fn parse_yaml(text: &str) -> Result<serde_json::Value, Vec<Problem>> {
    let problems = Problems::default();
    let node = parse(&Source::new("", text), &problems);
    match (node, problems.into_sorted()) {
        (Some(node), problems) if problems.is_empty() => Ok(node.to_json()),
        (_, problems) => Err(problems),
    }
}
