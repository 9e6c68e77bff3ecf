//! Lines for logs and pipes: nothing moves, nothing blinks.

use std::collections::BTreeMap;
use std::io::{self, Write};

use events::{Event, StageName, What};

use super::columns::Columns;
use super::frame::{Busy, stage_line};
use super::ink::Palette;
use super::line::Line;
use super::printer::Printer;
use super::telling::Telling;
use crate::{Stage, State, Story};

/// Prints a run as lines.
///
/// A wait of more than ten seconds says what it waits for: when that changes,
/// but not more often than every ten seconds, and after a minute's silence anyway.
#[derive(Debug)]
pub struct Plain {
    palette: Palette,
    telling: Telling,
    waits: BTreeMap<StageName, Waited>,
}

/// The last line about a wait.
#[derive(Debug)]
struct Waited {
    at_ms: u64,
    words: String,
}

const PATIENCE_MS: u64 = 10_000;
const SILENCE_MS: u64 = 60_000;

impl Plain {
    /// A printer that has printed nothing yet.
    pub fn new(palette: Palette) -> Self {
        Self { palette, telling: Telling::default(), waits: BTreeMap::new() }
    }

    fn waiting(&mut self, story: &Story, stage: &Stage, now_ms: u64) -> Option<Line> {
        let waits = stage
            .units
            .iter()
            .any(|unit| unit.state() == State::Running && unit.waiting_for().is_some());
        if !waits {
            return None;
        }
        let Busy { since_ms, words, .. } = Busy::of(stage);
        let (since, changed) = match self.waits.get(&stage.name) {
            Some(last) => (last.at_ms, last.words != words),
            None => (since_ms?, true),
        };
        let patience = if changed { PATIENCE_MS } else { SILENCE_MS };
        if now_ms.saturating_sub(since) < patience {
            return None;
        }
        let waited = Waited { at_ms: now_ms, words };
        self.waits.insert(stage.name.clone(), waited);
        Some(stage_line(Columns::of(story), stage, now_ms))
    }

    fn print(&self, lines: &[Line], out: &mut dyn Write) -> io::Result<()> {
        lines.iter().try_for_each(|line| writeln!(out, "{}", line.paint(self.palette)))
    }
}

impl Printer for Plain {
    fn event(&mut self, story: &Story, event: &Event, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = self.telling.lines(story, event);
        if let What::Checked { unit, .. } = &event.what {
            let stage = story.stage_of(unit);
            lines.extend(stage.and_then(|stage| self.waiting(story, stage, event.elapsed_ms)));
        }
        self.print(&lines, out)
    }

    fn tick(&mut self, story: &Story, now_ms: u64, out: &mut dyn Write) -> io::Result<()> {
        let lines: Vec<_> =
            story.stages().iter().filter_map(|stage| self.waiting(story, stage, now_ms)).collect();
        self.print(&lines, out)
    }
}
