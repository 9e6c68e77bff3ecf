//! What the two ways to print a run have in common.

use std::io::{self, Write};

use events::Event;

use super::ink::{Ink, Palette};
use super::line::Line;
use crate::Story;
use crate::text;

/// Prints a run while it goes on.
pub trait Printer {
    /// Prints `event`, which `story` has already taken.
    fn event(&mut self, story: &Story, event: &Event, out: &mut dyn Write) -> io::Result<()>;

    /// Says what is going on at `now_ms`, although nothing has happened. Call it
    /// about ten times a second; a replayed run does not call it at all.
    fn tick(&mut self, story: &Story, now_ms: u64, out: &mut dyn Write) -> io::Result<()>;
}

/// Writes a line with a verb of its own, in the column of all verbs.
pub fn say(palette: Palette, verb: &str, words: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", saying(verb, words).paint(palette))
}

/// Returns the line that [`say`] writes, cut to the width of a screen.
pub fn told(palette: Palette, verb: &str, words: &str, columns: usize) -> String {
    saying(verb, words).cut(columns).paint(palette)
}

pub(super) fn saying(verb: &str, words: &str) -> Line {
    Line::verb(Ink::Strong, verb).and(Ink::Text, text::line(words))
}
