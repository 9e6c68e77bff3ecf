//! The live view: lines that stay scroll up, below them a frame that moves.

use std::fmt;
use std::io::{self, Write};

use events::{Event, StageName};

use super::frame::{Screen, frame};
use super::ink::Palette;
use super::printer::Printer;
use super::telling::Telling;
use crate::Story;

/// Prints a run on a terminal.
pub struct Live {
    palette: Palette,
    screen: Screen,
    telling: Telling,
    usual: Usual,
    drawn: Vec<String>,
}

/// Tells how long a stage usually takes.
type Usual = Box<dyn Fn(&StageName) -> Option<u64> + Send>;

/// The terminal shows what lies between these two at once, so that nothing flickers.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

// === impl Live ===

impl Live {
    /// A view on a terminal of that size; `usual` tells how long a stage usually takes.
    pub fn new(
        palette: Palette,
        screen: Screen,
        usual: impl Fn(&StageName) -> Option<u64> + Send + 'static,
    ) -> Self {
        Self {
            palette,
            screen,
            telling: Telling::default(),
            usual: Box::new(usual),
            drawn: Vec::new(),
        }
    }

    /// Takes the terminal's new size.
    pub fn resize(&mut self, screen: Screen) {
        self.screen = screen;
    }

    /// Takes the frame off the screen, for whoever has something else to say.
    pub fn clear(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.show(&[], Vec::new(), out)
    }

    fn show(
        &mut self,
        staying: &[String],
        moving: Vec<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if staying.is_empty() && moving == self.drawn {
            return Ok(());
        }
        write!(out, "{BEGIN}")?;
        self.erase(out)?;
        for line in staying.iter().chain(&moving) {
            writeln!(out, "{line}")?;
        }
        write!(out, "{END}")?;
        self.drawn = moving;
        out.flush()
    }

    /// Goes up to the first line of the frame and clears all below.
    fn erase(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.drawn.len() {
            0 => Ok(()),
            rows => write!(out, "\x1b[{rows}A\r\x1b[J"),
        }
    }
}

impl Printer for Live {
    fn event(&mut self, story: &Story, event: &Event, out: &mut dyn Write) -> io::Result<()> {
        let staying: Vec<_> =
            self.telling.lines(story, event).iter().map(|line| line.paint(self.palette)).collect();
        let moving = frame(story, event.elapsed_ms, self.screen, &self.usual, self.palette);
        self.show(&staying, moving, out)
    }

    fn tick(&mut self, story: &Story, now_ms: u64, out: &mut dyn Write) -> io::Result<()> {
        let moving = frame(story, now_ms, self.screen, &self.usual, self.palette);
        self.show(&[], moving, out)
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("screen", &self.screen)
            .field("drawn", &self.drawn)
            .finish_non_exhaustive()
    }
}
