//! The live view: lines that stay scroll up, below them a frame that moves.

use std::collections::BTreeMap;
use std::io::{self, Write};

use events::{Event, StageName};

use super::canvas::Canvas;
use super::frame::{Screen, frame};
use super::ink::Palette;
use super::line::Line;
use super::printer::{Printer, saying};
use super::telling::Telling;
use crate::Story;

/// Prints a run on a terminal.
#[derive(Debug)]
pub struct Live {
    palette: Palette,
    screen: Screen,
    telling: Telling,
    usual_ms: BTreeMap<StageName, u64>,
    canvas: Canvas,
}

// === impl Live ===

impl Live {
    /// A view on a terminal of that size.
    pub fn new(palette: Palette, screen: Screen) -> Self {
        Self {
            palette,
            screen,
            telling: Telling::default(),
            usual_ms: BTreeMap::new(),
            canvas: Canvas::default(),
        }
    }

    /// Takes how long stages usually take.
    pub fn compare(&mut self, usual_ms: BTreeMap<StageName, u64>) {
        self.usual_ms = usual_ms;
    }

    /// Takes the terminal's new size.
    pub fn resize(&mut self, screen: Screen) {
        self.screen = screen;
    }

    /// Writes a line that is not of the run, with a verb of its own.
    pub fn say(&mut self, verb: &str, words: &str, out: &mut dyn Write) -> io::Result<()> {
        let said = self.wrap([saying(verb, words)]);
        self.canvas.show(&said, Vec::new(), out)
    }

    fn wrap(&self, lines: impl IntoIterator<Item = Line>) -> Vec<String> {
        let wrapped = lines.into_iter().flat_map(|line| line.wrap(self.screen.columns));
        wrapped.map(|line| line.paint(self.palette)).collect()
    }

    fn frame(&self, story: &Story, now_ms: u64) -> Vec<String> {
        let usual = |stage: &StageName| self.usual_ms.get(stage).copied();
        frame(story, now_ms, self.screen, usual, self.palette)
    }
}

impl Printer for Live {
    fn event(&mut self, story: &Story, event: &Event, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.telling.lines(story, event);
        let staying = self.wrap(lines);
        let moving = self.frame(story, event.elapsed_ms);
        self.canvas.show(&staying, moving, out)
    }

    fn tick(&mut self, story: &Story, now_ms: u64, out: &mut dyn Write) -> io::Result<()> {
        let moving = self.frame(story, now_ms);
        self.canvas.show(&[], moving, out)
    }
}
