//! From bytes to a tree of nodes, in the strict profile of cluster files.
//!
//! The tree is built from the events of `granit-parser`, the parser inside
//! serde-saphyr: they carry a byte span for every key and value, and a tree of
//! them can be decoded to the end whatever is wrong in it, where serde stops at
//! the first mistake. What makes YAML a hazard is refused here:
//! anchors and aliases (bombs, spooky copies), tags, merge keys, duplicate
//! keys, several documents, deep nesting and oversized files.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

use super::node::{Content, Entry, Node, Scalar};
use super::problem::{Problem, Problems};
use super::source::{Source, Span, Spanned};
use super::syntax::syntax_problem;
use crate::rules::Rule;

/// A cluster file of a thousand nodes has a tenth of this; more is another file.
const MAX_BYTES: usize = 1 << 20;

/// The cluster file itself nests eight deep; the rest is for inline values.
pub(super) const MAX_DEPTH: usize = 64;

/// Turns the bytes of a file into text, and says what is wrong with them.
pub(crate) fn decode_text(name: &str, bytes: &[u8]) -> (Source, Option<Problem>) {
    if bytes.len() > MAX_BYTES {
        return (Source::new(name, ""), Some(too_large(bytes.len())));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => (Source::new(name, text), None),
        Err(error) => {
            let start = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes);
            let span = Span { start, end: start + '\u{FFFD}'.len_utf8() };
            (Source::new(name, text), Some(not_utf8(span, bytes)))
        }
    }
}

fn too_large(bytes: usize) -> Problem {
    let mebibytes = bytes.div_ceil(1 << 20);
    Problem::of_file(
        Rule::FileTooLarge,
        format!("the file has {mebibytes} MiB; a cluster file has at most 1 MiB"),
    )
    .help("put large values into files of their own and name them with `valuesFiles` or `patches`")
}

fn not_utf8(span: Span, bytes: &[u8]) -> Problem {
    let problem = Problem::error(Rule::NotUtf8, span, "the file is not valid UTF-8")
        .label(format!("byte 0x{:02X} cannot stand here", bytes[span.start]));
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return problem.help("it looks like UTF-16; save it as UTF-8");
    }
    problem
}

/// Parses the one document of a source; `None` if there is nothing to decode.
pub(crate) fn parse(source: &Source, problems: &Problems) -> Option<Node> {
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        emit_comments: false,
    };
    let mut builder = Builder { problems, open: Vec::new(), root: None, documents: 0, aliases: 0 };
    for next in Parser::new_from_str_with_options(source.text(), options) {
        match next {
            Ok((event, span)) => {
                builder.refuse_tag(span.tag_span().as_ref().map(span_of));
                builder.take(event, span_of(&span));
            }
            Err(error) => {
                problems.push(syntax_problem(source, &error));
                return None;
            }
        }
    }
    match builder.root {
        Some(root) if !root.is_null() => Some(root),
        _ => {
            problems.push(
                Problem::of_file(Rule::EmptyFile, "the file is empty")
                    .help("`seaworthy init` writes one to start from"),
            );
            None
        }
    }
}

/// Assembles nodes from events; `open` are the collections not yet closed.
struct Builder<'a> {
    problems: &'a Problems,
    open: Vec<Collection>,
    root: Option<Node>,
    documents: usize,
    aliases: usize,
}

struct Collection {
    start: Span,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        /// Where each key was first set.
        seen: HashMap<String, Span>,
        key: PendingKey,
    },
}

/// What the next node in a mapping is.
enum PendingKey {
    /// A key.
    Awaited,
    /// The value of this key.
    Read(Spanned<String>),
    /// The value of a key that cannot be used.
    Refused,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::DocumentStart(..) => self.start_document(span),
            Event::Scalar(text, style, ..) => {
                let scalar = Scalar::new(text.into_owned(), style == ScalarStyle::Plain);
                self.place(Node { span, content: Content::Scalar(scalar) });
            }
            Event::SequenceStart(..) => {
                self.open.push(Collection { start: span, items: Items::List(Vec::new()) });
            }
            Event::MappingStart(..) => {
                let items = Items::Map {
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    key: PendingKey::Awaited,
                };
                self.open.push(Collection { start: span, items });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.refuse_alias(span);
                let scalar = Scalar::new(String::new(), true);
                self.place(Node { span: Span::NOWHERE, content: Content::Scalar(scalar) });
            }
            Event::Anchor(..) => self.refuse_alias(span),
            _ => {}
        }
    }

    fn start_document(&mut self, span: Span) {
        self.documents += 1;
        if self.documents == 2 {
            self.problems.push(
                Problem::error(
                    Rule::SeveralDocuments,
                    span,
                    "the file holds several documents",
                )
                .label("a second document starts here")
                .help(
                    "one cluster file describes one cluster; put the second into a file of its own",
                ),
            );
        }
    }

    fn refuse_tag(&self, tag: Option<Span>) {
        if let Some(span) = tag {
            self.problems.push(
                Problem::error(
                    Rule::Tag,
                    span,
                    "tags such as `!secret` or `!!str` are not read in a cluster file",
                )
                .label("remove the tag"),
            );
        }
    }

    fn refuse_alias(&mut self, span: Span) {
        self.aliases += 1;
        // One message: a bomb has thousands.
        if self.aliases == 1 {
            self.problems.push(
                Problem::error(
                    Rule::Alias,
                    span,
                    "anchors and aliases are not read in a cluster file",
                )
                .label("write the value out")
                .note("every line of a cluster file means what it says where it stands"),
            );
        }
    }

    fn close(&mut self, end: Span) {
        let Some(collection) = self.open.pop() else {
            return;
        };
        let span = Span { start: collection.start.start, end: end.end.max(collection.start.end) };
        let content = match collection.items {
            Items::List(items) => Content::List(items),
            Items::Map { entries, .. } => Content::Map(entries),
        };
        self.place(Node { span, content });
    }

    /// Puts a finished node where it belongs: into the open collection, or at the root.
    fn place(&mut self, node: Node) {
        let Some(collection) = self.open.last_mut() else {
            // A second document is refused, but not decoded.
            self.root.get_or_insert(node);
            return;
        };
        match &mut collection.items {
            Items::List(items) => items.push(node),
            Items::Map { entries, seen, key } => {
                match std::mem::replace(key, PendingKey::Awaited) {
                    PendingKey::Awaited => *key = read_key(node, seen, self.problems),
                    PendingKey::Read(name) => entries.push(Entry { key: name, value: node }),
                    PendingKey::Refused => {}
                }
            }
        }
    }
}

/// Reads a key; one that cannot be used takes its value with it.
fn read_key(node: Node, seen: &mut HashMap<String, Span>, problems: &Problems) -> PendingKey {
    let span = node.span;
    let Content::Scalar(scalar) = node.content else {
        problems.push(
            Problem::error(Rule::Syntax, node.caret(), format!("{} cannot be a key", node.kind()))
                .label("expected the name of a setting")
                .help("a value in braces, such as `{{ name }}` of a template, needs quotes"),
        );
        return PendingKey::Refused;
    };
    if scalar.plain && scalar.text == "<<" {
        problems.push(
            Problem::error(Rule::Alias, span, "merge keys are not read in a cluster file")
                .label("write the settings out"),
        );
        return PendingKey::Refused;
    }
    if let Some(first) = seen.get(&scalar.text) {
        problems.push(duplicate_key(&scalar.text, span, *first));
        return PendingKey::Refused;
    }
    seen.insert(scalar.text.clone(), span);
    PendingKey::Read(Spanned::new(scalar.text, span))
}

fn duplicate_key(key: &str, span: Span, first: Span) -> Problem {
    Problem::error(Rule::DuplicateKey, span, format!("duplicate key `{key}`"))
        .label("set a second time here")
        .related(first, "first set here")
}

fn span_of(span: &granit_parser::Span) -> Span {
    // Byte offsets are always known for input from a string.
    span.byte_range().map_or(Span::NOWHERE, |range| Span { start: range.start, end: range.end })
}
