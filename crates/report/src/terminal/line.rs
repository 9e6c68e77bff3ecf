//! A line of the terminal: pieces of text with their meaning.

use unicode_width::UnicodeWidthStr;

use super::ink::{Ink, Palette};
use crate::text;

/// The width of the verb column.
pub(crate) const VERB: usize = 13;

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

    #[test]
    fn colours_end_where_they_should() {
        let line = Line::of(Ink::Bad, "error").and(Ink::Text, ": it");
        assert_eq!(line.paint(Palette::Colour), "\x1b[1m\x1b[31merror\x1b[0m: it");
    }
}
