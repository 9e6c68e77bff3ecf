//! What `$patch: delete` takes away.

use serde_json::{Map, Value};

use super::error::Reason;
use super::node::{Content, Node};
use super::read::Mistake;
use super::rules::{Place, Rule, written};
use super::steps::DocumentId;

/// Something to be deleted: a document, a field, or an element of a list.
#[derive(Clone)]
pub(super) struct Deletion {
    pub(super) id: DocumentId,
    pub(super) line: u64,
    /// The way to it; nothing for the document itself. `[0]` is a step into a list.
    pub(super) path: Vec<String>,
    /// The key and value of the element that is meant.
    element: Option<(String, String)>,
}

/// Whether there is more in a document than deletions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Something,
    Nothing,
}

/// Takes all deletions out of a document.
pub(super) fn extract(
    document: &mut Node,
    id: &DocumentId,
) -> Result<(Vec<Deletion>, Rest), Mistake> {
    let mut search = Search { id, path: Vec::new(), found: Vec::new() };
    let rest = match search.strip(document, Parent::Mapping)? {
        Rest::Something if says_nothing(document) => Rest::Nothing,
        rest => rest,
    };
    Ok((search.found, rest))
}

/// Talos takes a document with nothing but these for empty.
fn says_nothing(document: &Node) -> bool {
    let named = |(key, node): &(String, Node)| {
        ["version", "kind", "name"].contains(&key.as_str())
            && matches!(node.content, Content::Scalar(_))
    };
    document.entries().is_some_and(|entries| entries.iter().all(named))
}

/// What holds a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    /// A mapping, or the document itself.
    Mapping,
    List,
}

struct Search<'a> {
    id: &'a DocumentId,
    path: Vec<String>,
    found: Vec<Deletion>,
}

impl Search<'_> {
    /// Takes the deletions out of a node, and says what is left of it.
    fn strip(&mut self, node: &mut Node, parent: Parent) -> Result<Rest, Mistake> {
        if is_marked(node) {
            self.note(node, parent == Parent::List)?;
            return Ok(Rest::Nothing);
        }
        match &mut node.content {
            Content::Scalar(_) => Ok(Rest::Something),
            Content::Map(entries) => {
                let before = entries.len();
                let mut kept = Vec::with_capacity(before);
                for (key, mut node) in std::mem::take(entries) {
                    self.path.push(key.clone());
                    let rest = self.strip(&mut node, Parent::Mapping)?;
                    self.path.pop();
                    kept.extend((rest == Rest::Something).then_some((key, node)));
                }
                *entries = kept;
                Ok(rest_of(before, entries.len()))
            }
            Content::List(items) => {
                let before = items.len();
                let mut kept = Vec::with_capacity(before);
                for mut item in std::mem::take(items) {
                    self.path.push(format!("[{}]", kept.len()));
                    let rest = self.strip(&mut item, Parent::List)?;
                    self.path.pop();
                    kept.extend((rest == Rest::Something).then_some(item));
                }
                *items = kept;
                Ok(rest_of(before, items.len()))
            }
        }
    }

    fn note(&mut self, node: &Node, is_element: bool) -> Result<(), Mistake> {
        let mistake = |reason| Mistake { line: node.line, place: self.place(), reason };
        let outer = &self.path[..self.path.len().saturating_sub(usize::from(is_element))];
        if outer.iter().any(|step| step.starts_with('[')) {
            return Err(mistake(Reason::WithinElement));
        }
        if self.path.is_empty() && self.id.is_main() {
            return Err(mistake(Reason::DeletesMain));
        }
        let mut keys = node.entries().into_iter().flatten().filter(|(key, _)| key != "$patch");
        let element = match (is_element, keys.next()) {
            (false, _) => None,
            (true, Some((key, node))) => {
                Some((key.clone(), node.text().unwrap_or_default().to_owned()))
            }
            (true, None) => return Err(mistake(Reason::WhichElement)),
        };
        let (id, path) = (self.id.clone(), self.path.clone());
        self.found.push(Deletion { id, line: node.line, path, element });
        Ok(())
    }

    fn place(&self) -> String {
        format!("{} {}", self.id, written(&self.path)).trim().to_owned()
    }
}

fn is_marked(node: &Node) -> bool {
    node.get("$patch").and_then(Node::text) == Some("delete")
}

/// What has lost everything says nothing any more; what was empty says so.
fn rest_of(before: usize, after: usize) -> Rest {
    if after == 0 && before > 0 { Rest::Nothing } else { Rest::Something }
}

impl Deletion {
    /// Deletes it from its document.
    pub(super) fn apply(&self, document: &mut Value) -> Result<(), Reason> {
        self.descend(document, &self.path, &mut Place::root(&self.id.kind))
    }

    fn descend(
        &self,
        value: &mut Value,
        path: &[String],
        place: &mut Place<'_>,
    ) -> Result<(), Reason> {
        let [step, below @ ..] = path else { return Ok(()) };
        match (value, &self.element) {
            (Value::Array(items), Some((key, wanted))) if below.is_empty() => {
                let is_meant = |item: &Value| item.get(key).and_then(Value::as_str) == Some(wanted);
                let found = items
                    .iter()
                    .position(is_meant)
                    .filter(|_| !matches!(place.rule(), Rule::Free | Rule::Whole));
                items.remove(found.ok_or(Reason::NothingToDelete)?);
                Ok(())
            }
            (Value::Object(fields), _) if below.is_empty() => {
                let is_table = matches!(
                    place.rule(),
                    Rule::Table | Rule::Texts | Rule::Free | Rule::Whole | Rule::Arguments
                );
                // A field that Talos knows is always there, set or not.
                match fields.remove(step) {
                    None if is_table => Err(Reason::NothingToDelete),
                    _ => Ok(()),
                }
            }
            (Value::Object(fields), _) => place.within(step, |place| {
                let mut standing = Value::Object(Map::new());
                let inner = match fields.get_mut(step) {
                    Some(inner) if !inner.is_null() => inner,
                    _ if place.rule() == Rule::Standing => &mut standing,
                    _ => return Err(Reason::NothingToDelete),
                };
                self.descend(inner, below, place)
            }),
            _ => Err(Reason::NothingToDelete),
        }
    }
}
