//! What people see while objects are waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::time::Duration;

use events::Because;
use objects::{ObjectId, Wait, WaitEvent};
use report::Span;
use report::terminal::{Palette, say};

use crate::commands::palette;
use crate::ui::Ui;

/// Where nothing moves, a long wait says again what it waits for.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// What follows the verb of a line that moves has to fit beside it.
const VERB: usize = 15;

/// Tells of a wait: lines for what changes, and one that moves on a terminal.
pub(super) struct Display {
    palette: Palette,
    /// Whether there is a line that moves.
    moves: bool,
    all: usize,
    /// Who has not reached the goal, and why.
    open: BTreeMap<ObjectId, String>,
    /// Who was told of, and so is told of again once it is there.
    told: BTreeSet<ObjectId>,
    /// When something was last said.
    said: Duration,
}

impl Display {
    pub(super) fn new(ui: &Ui, wait: &Wait) -> Self {
        let (palette, all) = (palette(ui), wait.subjects().len());
        let (open, told) = (BTreeMap::new(), BTreeSet::new());
        Self { palette, moves: ui.moves(), all, open, told, said: Duration::ZERO }
    }

    /// Returns who has not reached the goal, and why.
    pub(super) fn open(&self) -> Vec<(ObjectId, String)> {
        self.open.iter().map(|(id, why)| (id.clone(), why.clone())).collect()
    }

    /// Tells what has happened. What was there from the start is no news.
    pub(super) fn hear(&mut self, event: WaitEvent, at: Duration) -> io::Result<()> {
        match event {
            WaitEvent::Waiting { id: None, because } => self.say("Waiting", &because.what, at),
            WaitEvent::Waiting { id: Some(id), because } => {
                let why = reason(&because);
                let words = format!("{id}: {why}");
                self.told.insert(id.clone());
                let known = self.open.insert(id, why.clone());
                if known == Some(why) { Ok(()) } else { self.say("Waiting", &words, at) }
            }
            WaitEvent::Holding { id, stable } => {
                let why = format!("ready, and has to stay so for {}", span(stable));
                let words = format!("{id}: {why}");
                let told = self.told.contains(&id);
                self.open.insert(id, why);
                if told { self.say("Holding", &words, at) } else { Ok(()) }
            }
            WaitEvent::Met { id, after } => {
                self.open.remove(&id);
                let told = self.told.contains(&id);
                let words = format!("{id} after {}", span(after));
                if told { self.say("Ready", &words, at) } else { Ok(()) }
            }
            WaitEvent::Trouble { error, total } => {
                self.say("Retrying", &format!("{error} ({total} so far)"), at)
            }
        }
    }

    /// Moves the line that moves, or says again what is waited for.
    pub(super) fn tick(&mut self, at: Duration) -> io::Result<()> {
        let Some((id, why)) = self.open.first_key_value() else { return Ok(()) };
        let ready = self.all.saturating_sub(self.open.len());
        let words = format!("{ready}/{}  {}  {id}: {why}", self.all, span(at));
        if self.moves {
            self.redraw(&words)
        } else if at.saturating_sub(self.said) >= HEARTBEAT {
            self.say("Waiting", &words, at)
        } else {
            Ok(())
        }
    }

    /// Takes the line that moves away.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if self.moves { write!(io::stderr().lock(), "\r\x1b[2K") } else { Ok(()) }
    }

    fn say(&mut self, verb: &str, words: &str, at: Duration) -> io::Result<()> {
        self.said = at;
        self.end()?;
        // The palette has decided about colour.
        say(self.palette, verb, words, &mut io::stderr().lock())
    }

    fn redraw(&self, words: &str) -> io::Result<()> {
        let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
        let room = usize::from(width).saturating_sub(VERB);
        let words: String = words.chars().take(room).collect();
        let mut line = Vec::new();
        say(self.palette, "Waiting", &words, &mut line)?;
        let line = String::from_utf8_lossy(&line);
        let mut out = io::stderr().lock();
        write!(out, "\r\x1b[2K{}", line.trim_end_matches('\n'))?;
        out.flush()
    }
}

/// What is missing, and the deepest state that is known behind it. Events are
/// long, and repeat what states say; they come at the end.
fn reason(because: &Because) -> String {
    let mut states = because.chain.iter().skip(1).filter(|link| !link.starts_with("event: "));
    match states.next_back() {
        Some(deepest) => format!("{}; {deepest}", because.what),
        None => because.what.clone(),
    }
}

/// Returns a length of time as people read it.
pub(super) fn span(time: Duration) -> Span {
    Span(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
