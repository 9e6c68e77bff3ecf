//! A patch that was read: what it does, step by step.

use std::fmt;

use json_patch::PatchOperation;
use serde_json::Value;

use super::delete::{self, Deletion};
use super::error::{PatchError, Reason};
use super::node::{Content, Node};
use super::read::{self, Mistake};
use super::rules::{MAIN, Place, VALUE};

/// A change to machine configs. It may hold secrets, so only its name is shown.
#[derive(Clone)]
pub struct Patch {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone)]
pub(super) enum Step {
    Delete(Deletion),
    Merge { id: DocumentId, document: Node },
    Operate { line: u64, operation: PatchOperation },
}

/// Which document of a machine config.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct DocumentId {
    pub(super) kind: String,
    api_version: String,
    name: String,
}

/// What only the main document has, which names no kind.
const MAIN_KEYS: [&str; 4] = ["machine", "cluster", "debug", "persist"];

impl Patch {
    /// Reads a patch in any of its forms. `name` is what errors call it.
    pub fn read(name: &str, text: &str) -> Result<Self, PatchError> {
        let named = |mistake: Mistake| mistake.within(name);
        let documents = read::documents(text).map_err(named)?;
        let steps = match documents.as_slice() {
            [] => return Err(named(Mistake::of_all(Reason::Empty))),
            [Node { content: Content::List(operations), .. }] => {
                operations.iter().map(operation).collect::<Result<_, _>>().map_err(named)?
            }
            _ => {
                let steps: Result<Vec<_>, _> = documents.into_iter().map(changes).collect();
                steps.map_err(named)?.concat()
            }
        };
        Ok(Self { name: name.to_owned(), steps })
    }

    /// Returns what errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patch").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DocumentId {
    /// Returns which document of a config this is, or is meant for.
    pub(super) fn of(document: &Node) -> Result<Self, Reason> {
        let text =
            |key: &str| document.get(key).and_then(Node::text).unwrap_or_default().to_owned();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        match (kind.is_empty(), api_version.is_empty()) {
            (false, false) => Ok(Self { kind, api_version, name: text("name") }),
            (true, true) if MAIN_KEYS.iter().any(|key| document.get(key).is_some()) => {
                Ok(Self { kind: MAIN.to_owned(), api_version, name: String::new() })
            }
            _ => Err(Reason::NoKind),
        }
    }

    pub(super) fn is_main(&self) -> bool {
        self.kind == MAIN && self.api_version.is_empty()
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_main(), self.name.as_str()) {
            (true, _) => Ok(()),
            (false, "") => f.write_str(&self.kind),
            (false, name) => write!(f, "{} {name}", self.kind),
        }
    }
}

/// What a document of a patch does: it deletes first, and merges what is left.
fn changes(mut document: Node) -> Result<Vec<Step>, Mistake> {
    if document.entries().is_none() {
        return Err(Mistake { line: document.line, place: String::new(), reason: Reason::NoPatch });
    }
    let id = DocumentId::of(&document).map_err(|reason| Mistake {
        line: document.line,
        place: String::new(),
        reason,
    })?;
    let (deletions, rest) = delete::extract(&mut document, &id)?;
    let merge = match rest {
        delete::Rest::Something => Some(Step::Merge { id, document }),
        delete::Rest::Nothing => None,
    };
    Ok(deletions.into_iter().map(Step::Delete).chain(merge).collect())
}

fn operation(node: &Node) -> Result<Step, Mistake> {
    let mistake = || Mistake { line: node.line, place: String::new(), reason: Reason::NoOperation };
    let entries = node.entries().ok_or_else(mistake)?;
    // Operations work on what was read as YAML, before Talos reads it into fields.
    let mut place = Place::at(VALUE, vec![VALUE.to_owned()]);
    let value = |(key, node): &(String, Node)| {
        let value = match key.as_str() {
            VALUE => node.value(&mut place),
            _ => node.text().map_or(Value::Null, Value::from),
        };
        (key.clone(), value)
    };
    let object: Value = entries.iter().map(value).collect::<serde_json::Map<_, _>>().into();
    let operation = serde_json::from_value(object).map_err(|_| mistake())?;
    Ok(Step::Operate { line: node.line, operation })
}

impl Mistake {
    pub(super) fn of_all(reason: Reason) -> Self {
        Self { line: 1, place: String::new(), reason }
    }

    /// Names the patch that it was made in.
    pub(super) fn within(self, patch: &str) -> PatchError {
        let Self { line, place, reason } = self;
        PatchError { patch: patch.to_owned(), line, place, reason }
    }
}
