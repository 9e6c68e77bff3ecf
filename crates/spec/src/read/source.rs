//! The text of a cluster file, and places in it.

use serde::Serialize;

/// A cluster file as it was read: its name for messages, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Where each line but the first starts.
    line_starts: Vec<usize>,
}

/// A range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

/// A value together with the place where it was written.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// A place as people and editors count: lines and columns from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Source {
    /// Returns a source with the given name for messages.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self {
            name: name.into(),
            line_starts: text.match_indices('\n').map(|(newline, _)| newline + 1).collect(),
            text,
        }
    }

    /// The same text under another name.
    #[must_use]
    pub(crate) fn renamed(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The name that messages show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of a byte offset; an offset behind the end is the end.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let line_start = line.checked_sub(1).map_or(0, |index| self.line_starts[index]);
        Position { line: line + 1, column: self.text[line_start..offset].chars().count() + 1 }
    }

    /// A part of the text, with spaces for everything else: what is read from it
    /// stands where it stands in the file.
    pub fn alone(&self, part: Span) -> String {
        let blank = |(at, character): (usize, char)| match character {
            '\n' => '\n',
            _ if (part.start..part.end).contains(&at) => character,
            _ => ' ',
        };
        self.text.char_indices().map(blank).collect()
    }

    /// The whole lines from the first of some places to the last.
    pub(crate) fn lines_of(&self, spans: impl Iterator<Item = Span> + Clone) -> Span {
        let start = spans.clone().map(|span| span.start).min().unwrap_or(0);
        let end = spans.map(|span| span.end).max().unwrap_or(0);
        Span {
            start: self.text[..start].rfind('\n').map_or(0, |newline| newline + 1),
            end: self.text[end..].find('\n').map_or(self.text.len(), |newline| end + newline + 1),
        }
    }
}

impl Span {
    /// The place of a stand-in: a value that could not be read, about which the
    /// reader has been told already. A problem that points here is dropped, so
    /// that one mistake gives one message.
    pub const NOWHERE: Self = Self { start: usize::MAX, end: usize::MAX };

    /// Whether this is the place of a stand-in.
    pub fn is_nowhere(self) -> bool {
        self == Self::NOWHERE
    }
}

impl<T> Spanned<T> {
    pub(crate) fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stands_where_it_stood() {
        let source = Source::new("cluster.yaml", "a:\n  ü: 1\n  c: 2\nd: e\n");
        assert_eq!(source.alone(Span { start: 5, end: 18 }), "  \n  ü: 1\n  c: 2\n    \n");
    }

    #[test]
    fn positions_count_characters_not_bytes() {
        let source = Source::new("cluster.yaml", "a: ü b\nc: d\n");
        assert_eq!(source.position(6), Position { line: 1, column: 6 });
        assert_eq!(source.position(8), Position { line: 2, column: 1 });
        assert_eq!(source.position(999), Position { line: 3, column: 1 });
    }
}
