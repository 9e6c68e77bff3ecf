//! A line of the terminal: pieces of text with their meaning.

use std::mem;

use unicode_width::UnicodeWidthStr;

use super::ink::{Ink, Palette};
use crate::text;

/// The width of the verb column.
pub(crate) const VERB: usize = 13;

/// Words in a column narrower than this are a pile, not a line.
const NARROW: usize = 24;

/// A line that is not painted yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pieces: Vec<(Ink, String)>,
}

impl Line {
    /// A line without a verb.
    pub(crate) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self::default().and(ink, text)
    }

    /// A line that starts with a right-aligned verb.
    pub(crate) fn verb(ink: Ink, verb: &str) -> Self {
        Self::of(ink, format!("{verb:>VERB$}")).and(Ink::Text, " ")
    }

    /// Adds a piece.
    pub(crate) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.pieces.push((ink, text.into()));
        self
    }

    /// Returns the line cut to `width` columns.
    pub(crate) fn cut(self, width: usize) -> Self {
        let mut room = width;
        let mut pieces = Vec::new();
        for (ink, text) in self.pieces {
            let cut = text::fit(&text, room);
            room = room.saturating_sub(cut.width());
            let whole = cut == text;
            pieces.push((ink, cut));
            if !whole {
                break;
            }
        }
        Self { pieces }
    }

    /// Returns the line as lines of at most `width` columns, broken between
    /// words. What follows is indented to where the last piece begins. A word
    /// that is longer than a line stays whole, so that it can be copied.
    pub(crate) fn wrap(self, width: usize) -> Vec<Self> {
        if self.width() <= width {
            return vec![self];
        }
        let indent = self.hang(width);
        let (mut lines, mut line) = (Vec::new(), Self::default());
        for (ink, text) in &self.pieces {
            for word in words(text) {
                let breaks = word.starts_with(' ') && line.width() > indent;
                if breaks && line.width() + word.width() > width {
                    let next = Self::of(Ink::Text, " ".repeat(indent));
                    lines.push(mem::replace(&mut line, next));
                    line.append(*ink, word.trim_start());
                } else {
                    line.append(*ink, word);
                }
            }
        }
        lines.push(line);
        lines
    }

    fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }

    /// Returns the column where the last piece begins, or that of the words
    /// behind a verb where it leaves too little room.
    fn hang(&self, width: usize) -> usize {
        let Some(((_, last), before)) = self.pieces.split_last() else {
            return 0;
        };
        let before: usize = before.iter().map(|(_, text)| text.width()).sum();
        let column = before + last.len() - last.trim_start().len();
        if column + NARROW <= width { column } else { VERB + 1 }
    }

    fn append(&mut self, ink: Ink, text: &str) {
        match self.pieces.last_mut() {
            Some((last, piece)) if *last == ink => piece.push_str(text),
            _ => self.pieces.push((ink, text.to_owned())),
        }
    }

    /// Returns the line as it goes to the terminal, without a line break.
    pub(crate) fn paint(&self, palette: Palette) -> String {
        let mut painted = String::new();
        let end = self.pieces.len().saturating_sub(1);
        for (index, (ink, text)) in self.pieces.iter().enumerate() {
            // Columns that stay empty at the end of a line are only noise in a log.
            let text = if index == end { text.trim_end() } else { text };
            if text.is_empty() {
                continue;
            }
            let style = palette.style(*ink);
            painted.push_str(&style.render().to_string());
            painted.push_str(text);
            painted.push_str(&style.render_reset().to_string());
        }
        match palette {
            Palette::Plain => painted.trim_end().to_owned(),
            Palette::Colour => painted,
        }
    }
}

/// Returns the words of a text, each with the spaces before it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.find(|letter| letter != ' ').unwrap_or(rest.len());
        let end = rest[word..].find(' ').map_or(rest.len(), |length| word + length);
        let (first, after) = rest.split_at(end);
        rest = after;
        (!first.is_empty()).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_across_its_pieces() {
        let line =
            Line::verb(Ink::Good, "Passed").and(Ink::Strong, "api").and(Ink::Faint, "  healthy");
        assert_eq!(line.paint(Palette::Plain), "       Passed api  healthy");
        assert_eq!(line.clone().cut(20).paint(Palette::Plain), "       Passed api  …");
        assert_eq!(line.clone().cut(15).paint(Palette::Plain), "       Passed …");
        assert_eq!(line.cut(0).paint(Palette::Plain), "");
    }

    fn wrapped(line: Line, width: usize) -> Vec<String> {
        line.wrap(width).iter().map(|line| line.paint(Palette::Plain)).collect()
    }

    #[test]
    fn a_long_line_goes_on_below_its_words() {
        let line = Line::verb(Ink::Good, "Passed")
            .and(Ink::Strong, "seal   ")
            .and(Ink::Text, "  bundle written before any node was made");
        assert_eq!(wrapped(line.clone(), 80).len(), 1);
        let expected = [
            "       Passed seal     bundle written before any",
            "                       node was made",
        ];
        assert_eq!(wrapped(line.clone(), 50), expected);
        let narrow =
            ["       Passed seal     bundle written", "              before any node was made"];
        assert_eq!(wrapped(line, 40), narrow);
    }

    #[test]
    fn a_word_that_is_longer_than_a_line_stays_whole() {
        let path = format!("{}/REPORT.html", "folder/".repeat(12));
        let line = Line::verb(Ink::Strong, "Report").and(Ink::Text, path.clone());
        assert_eq!(wrapped(line, 60), [format!("       Report {path}")]);
    }

    #[test]
    fn colours_end_where_they_should() {
        let line = Line::of(Ink::Bad, "error").and(Ink::Text, ": it");
        assert_eq!(line.paint(Palette::Colour), "\x1b[1m\x1b[31merror\x1b[0m: it");
    }
}
