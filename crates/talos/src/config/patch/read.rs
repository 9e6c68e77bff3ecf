//! From text to documents.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

use super::error::Reason;
use super::node::{Content, Node, Scalar};

/// Talos nests ten deep; the rest is for what is not its own.
const MAX_DEPTH: usize = 64;
/// What aliases may add up to.
const MAX_NODES: usize = 100_000;

/// What is wrong with a text, and on which line.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) line: u64,
    pub(super) place: String,
    pub(super) reason: Reason,
}

struct Builder {
    open: Vec<Collection>,
    documents: Vec<Node>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

struct Collection {
    line: u64,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map { entries: Vec<(String, Node)>, key: Option<String> },
}

/// Reads all documents of a text; those that are empty are left out.
pub(super) fn documents(text: &str) -> Result<Vec<Node>, Mistake> {
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        emit_comments: false,
    };
    let mut builder =
        Builder { open: vec![], documents: vec![], anchors: HashMap::new(), nodes: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| {
            let reason = Reason::Syntax(error.kind().to_string());
            Mistake { line: line(error.marker().line()), place: String::new(), reason }
        })?;
        builder.take(event, line(span.start.line()))?;
    }
    Ok(builder.documents)
}

fn line(line: usize) -> u64 {
    u64::try_from(line).unwrap_or(u64::MAX)
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: u64) -> Result<(), Mistake> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let scalar = Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                self.place(Node { line, content: Content::Scalar(scalar) }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(line, anchor, Items::List(Vec::new()));
                Ok(())
            }
            Event::MappingStart(_, anchor, _) => {
                self.open(line, anchor, Items::Map { entries: Vec::new(), key: None });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(collection) = self.open.pop() else { return Ok(()) };
                let content = match collection.items {
                    Items::List(items) => Content::List(items),
                    Items::Map { entries, .. } => Content::Map(entries),
                };
                self.place(Node { line: collection.line, content }, collection.anchor)
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => {
                    self.nodes += size(&node);
                    self.place(node, 0)
                }
                None => Err(self.mistake(line, Reason::NoAnchor)),
            },
            _ => Ok(()),
        }
    }

    fn open(&mut self, line: u64, anchor: usize, items: Items) {
        self.open.push(Collection { line, anchor, items });
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), Mistake> {
        let line = node.line;
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.mistake(line, Reason::Syntax("it is too large".to_owned())));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|collection| &mut collection.items) {
            None if node.is_null() => {}
            None => self.documents.push(node),
            Some(Items::List(items)) => items.push(node),
            Some(Items::Map { entries, key }) => match (key.take(), node.content) {
                (Some(name), content) => entries.push((name, Node { line, content })),
                (None, Content::Scalar(scalar)) => {
                    let wrong = wrong_key(&scalar, entries);
                    *key = Some(scalar.text);
                    if let Some(reason) = wrong {
                        return Err(self.mistake(line, reason));
                    }
                }
                (None, _) => return Err(self.mistake(line, Reason::KeyIsNoText)),
            },
        }
        Ok(())
    }

    fn mistake(&self, line: u64, reason: Reason) -> Mistake {
        let step = |collection: &Collection| match &collection.items {
            Items::Map { key, .. } => key.clone(),
            Items::List(items) => Some(format!("[{}]", items.len())),
        };
        let path: Vec<_> = self.open.iter().filter_map(step).collect();
        Mistake { line, place: super::rules::written(&path), reason }
    }
}

fn wrong_key(key: &Scalar, entries: &[(String, Node)]) -> Option<Reason> {
    if key.plain && key.text == "<<" {
        return Some(Reason::MergeKey);
    }
    entries.iter().any(|(name, _)| *name == key.text).then_some(Reason::KeyTwice)
}

fn size(node: &Node) -> usize {
    match &node.content {
        Content::Scalar(_) => 1,
        Content::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Content::Map(entries) => 1 + entries.iter().map(|(_, node)| size(node)).sum::<usize>(),
    }
}
