//! YAML into nodes.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError};

use super::Mistake;
use super::error::Spot;
use super::node::{Content, Mapping, Node};
use super::scalar::{self, Written};

/// Definitions of custom resources nest about 40 deep.
const MAX_DEPTH: usize = 500;

/// Real manifests stay below a tenth of this; cert-manager has 1 MB in 50 documents.
const MAX_NODES: usize = 2_000_000;

/// What aliases may stand for, in nodes: a bomb is refused before it is felt.
const MAX_COPIED: usize = 100_000;

/// Nobody reads on after so many mistakes in one file.
const MAX_MISTAKES: usize = 50;

/// Reads all documents that are not empty, and tells what is wrong with the
/// others: the first thing that they must not say, and where they are no YAML.
pub(super) fn documents(text: &str) -> (Vec<Node>, Vec<Mistake>) {
    let (mut documents, mut mistakes) = (Vec::new(), Vec::new());
    let mut from = Some(Start { offset: 0, line: 0 });
    while let Some(start) = from {
        from = stretch(text, start, &mut documents, &mut mistakes);
    }
    documents.retain(|document| !document.is_null());
    (documents, mistakes)
}

/// Where reading begins.
#[derive(Clone, Copy)]
struct Start {
    offset: usize,
    /// How many lines are before it.
    line: usize,
}

/// Reads as far as the parser gets, and returns where the next document begins
/// after one that it cannot get through.
fn stretch(
    text: &str,
    start: Start,
    documents: &mut Vec<Node>,
    mistakes: &mut Vec<Mistake>,
) -> Option<Start> {
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        emit_unresolved_aliases: true,
        emit_comments: false,
    };
    let rest = &text[start.offset..];
    let mut builder = Builder::default();
    let mut stuck_at = None;
    for next in Parser::new_from_str_with_options(rest, options) {
        let mistake = match next {
            Ok((event, span)) => {
                let (line, column) = (start.line + span.start.line(), span.start.col() + 1);
                builder.take_unless_broken(event, Spot { line, column })
            }
            Err(error) => {
                let mut mistake = syntax(rest, &error);
                stuck_at = Some(mistake.at.line);
                mistake.at.line += start.line;
                Err(mistake)
            }
        };
        mistakes.extend(mistake.err());
        if stuck_at.is_some() || builder.is_spent() || mistakes.len() >= MAX_MISTAKES {
            break;
        }
    }
    documents.append(&mut builder.documents);
    let next = after(rest, stuck_at.filter(|_| mistakes.len() < MAX_MISTAKES)?)?;
    Some(Start { offset: start.offset + next.offset, line: start.line + next.line })
}

/// Finds where the next document begins, from a line on, but never the first.
fn after(text: &str, line: usize) -> Option<Start> {
    let mut offset = 0;
    for (index, content) in text.split_inclusive('\n').enumerate() {
        let begins = content
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        if begins && index > 0 && index + 1 >= line {
            return Some(Start { offset, line: index });
        }
        offset += content.len();
    }
    None
}

fn syntax(text: &str, error: &ScanError) -> Mistake {
    let marker = error.marker();
    let at = Spot { line: marker.line(), column: marker.col() + 1 };
    tab(text, at).unwrap_or_else(|| Mistake::new(at, error.kind().to_string()))
}

/// The parser meets a tab at the end of the line before it.
fn tab(text: &str, at: Spot) -> Option<Mistake> {
    let lines = text.lines().enumerate().skip(at.line.saturating_sub(1)).take(2);
    lines.into_iter().find_map(|(index, line)| {
        let indentation = &line[..line.len() - line.trim_start().len()];
        let column = indentation.find('\t')? + 1;
        let problem = "a tab cannot indent YAML, use spaces";
        Some(Mistake::new(Spot { line: index + 1, column }, problem))
    })
}

/// Assembles nodes from events; `open` are the collections not yet closed.
#[derive(Default)]
struct Builder {
    documents: Vec<Node>,
    open: Vec<Open>,
    /// Nodes with an anchor, by the parser's number; none while they are open.
    anchors: HashMap<usize, Option<Node>>,
    nodes: usize,
    copied: usize,
    /// Whether the rest of the document is not to be read.
    broken: bool,
}

struct Open {
    at: Spot,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map(Mapping, Option<Key>),
}

/// A key whose value comes next.
enum Key {
    Named(String, Spot),
    Merge,
}

impl Builder {
    /// Takes an event, unless its document has a mistake already.
    fn take_unless_broken(&mut self, event: Event<'_>, at: Spot) -> Result<(), Mistake> {
        if matches!(event, Event::DocumentStart(..) | Event::DocumentEnd) {
            self.broken = false;
        }
        if self.broken {
            return Ok(());
        }
        let taken = self.take(event, at);
        if taken.is_err() {
            self.broken = true;
            self.open.clear();
        }
        taken
    }

    /// Returns whether a limit for the whole file is reached.
    fn is_spent(&self) -> bool {
        self.nodes > MAX_NODES || self.copied > MAX_COPIED
    }

    fn take(&mut self, event: Event<'_>, at: Spot) -> Result<(), Mistake> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Mistake::new(at, "the file has too many values"));
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_ref().map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
                let plain = style == ScalarStyle::Plain;
                let written = Written { text: &text, plain, tag: tag.as_deref() };
                if plain
                    && tag.is_none()
                    && text == "<<"
                    && let Some(Open { items: Items::Map(_, key @ None), .. }) =
                        self.open.last_mut()
                {
                    *key = Some(Key::Merge);
                    return Ok(());
                }
                let value = scalar::value(&written).map_err(|problem| Mistake::new(at, problem))?;
                self.place(anchor, Node { at, content: Content::Scalar(value) })
            }
            Event::SequenceStart(_, anchor, _) => self.start(at, anchor, Items::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.start(at, anchor, Items::Map(Mapping::default(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.copy(anchor, at),
            Event::UnresolvedAlias(name) => {
                Err(Mistake::new(at, format!("there is no anchor `&{name}` before this")))
            }
            _ => Ok(()),
        }
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { items: Items::Map(_, None), .. }))
    }

    fn start(&mut self, at: Spot, anchor: usize, items: Items) -> Result<(), Mistake> {
        if self.awaits_key() {
            return Err(Mistake::new(at, "a list or a mapping cannot be a key"));
        }
        self.anchors.insert(anchor, None);
        self.open.push(Open { at, anchor, items });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Mistake> {
        let Some(Open { at, anchor, items }) = self.open.pop() else { return Ok(()) };
        let content = match items {
            Items::List(items) => Content::List(items),
            Items::Map(map, _) => Content::Map(map),
        };
        self.place(anchor, Node { at, content })
    }

    fn copy(&mut self, anchor: usize, at: Spot) -> Result<(), Mistake> {
        let node = match self.anchors.get(&anchor) {
            Some(Some(node)) => node.clone(),
            _ => return Err(Mistake::new(at, "an anchor cannot contain itself")),
        };
        self.copied += node.count();
        if self.copied > MAX_COPIED {
            return Err(Mistake::new(at, "the aliases stand for too many values"));
        }
        self.place(0, node)
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, anchor: usize, node: Node) -> Result<(), Mistake> {
        if anchor != 0 {
            self.anchors.insert(anchor, Some(node.clone()));
        }
        let Some(open) = self.open.last_mut() else {
            self.documents.push(node);
            return Ok(());
        };
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map(map, awaited) => match awaited.take() {
                None => *awaited = Some(key(map, &node)?),
                Some(Key::Merge) => map.merge(node)?,
                Some(Key::Named(key, at)) => map.write(key, at, node),
            },
        }
        Ok(())
    }
}

fn key(map: &Mapping, node: &Node) -> Result<Key, Mistake> {
    let Content::Scalar(value) = &node.content else {
        return Err(Mistake::new(node.at, "a list or a mapping cannot be a key"));
    };
    let name = scalar::key(value).ok_or_else(|| Mistake::new(node.at, "null cannot be a key"))?;
    map.check(&name, node.at)?;
    Ok(Key::Named(name, node.at))
}
