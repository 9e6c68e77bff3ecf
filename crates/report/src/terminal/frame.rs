//! The moving part of the live view: what runs now, and what it waits for.

use events::StageName;
use unicode_width::UnicodeWidthStr;

use super::columns::Columns;
use super::ink::{Ink, Palette};
use super::line::Line;
use super::telling::place;
use crate::{CheckState, Span, Stage, State, Story, UnitStory};

/// The size of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its width.
    pub columns: usize,
    /// Its height.
    pub rows: usize,
}

/// Returns the moving part as it looks at `now_ms`: a line for each stage that
/// runs, and one for the run. `usual` tells how long a stage usually takes.
///
/// No line is wider than the screen, and there are at most half its rows, but always the run's.
pub fn frame(
    story: &Story,
    now_ms: u64,
    screen: Screen,
    usual: impl Fn(&StageName) -> Option<u64>,
    palette: Palette,
) -> Vec<String> {
    if story.run().is_none() || story.ending().is_some() {
        return Vec::new();
    }
    let lines = running(story, now_ms, screen, usual);
    let fit = |line: Line| line.cut(screen.columns).paint(palette);
    lines.into_iter().map(fit).collect()
}

/// Returns a line for each stage that runs, as far as there is room, and one for the run.
fn running(
    story: &Story,
    now_ms: u64,
    screen: Screen,
    usual: impl Fn(&StageName) -> Option<u64>,
) -> Vec<Line> {
    let (columns, room) = (Columns::of(story), screen.rows / 2);
    let runs = |stage: &&Stage| stage.count(State::Running) > 0;
    let stages: Vec<_> = story.stages().iter().filter(runs).collect();
    let shown = if stages.len() < room { stages.len() } else { room.saturating_sub(2) };
    let line = |stage: &&Stage| {
        // The usual time is what the eye compares with: the words give way to it.
        let usual = usual(&stage.name).map_or_else(String::new, usually);
        let room = screen.columns.saturating_sub(usual.width());
        let line = stage_line(columns, stage, now_ms).cut(room);
        line.and(Ink::Faint, usual)
    };
    let mut lines: Vec<_> = stages.iter().take(shown).map(line).collect();
    if shown < stages.len() && room > 1 {
        let more = format!("{} more stages", stages.len() - shown);
        lines.push(Line::verb(Ink::Faint, "…").and(Ink::Faint, more));
    }
    lines.push(run_line(story, now_ms));
    lines
}

/// The line of a stage that runs; plain output prints the same one for a long wait.
pub(crate) fn stage_line(columns: Columns, stage: &Stage, now_ms: u64) -> Line {
    let busy = Busy::of(stage);
    let time = busy.since_ms.map(|since| now_ms.saturating_sub(since));
    let time = time.map_or_else(String::new, |ms| Span(ms).roughly());
    columns.stage(busy.ink, busy.verb, stage, &time, &busy.words)
}

fn usually(ms: u64) -> String {
    let span = if ms < 1_000 { Span(ms).to_string() } else { Span(ms).roughly() };
    format!(" (usually {span})")
}

fn run_line(story: &Story, now_ms: u64) -> Line {
    let over = story.stages().iter().filter(|stage| stage.is_over()).count();
    let simulated = story.run().and_then(|run| run.simulated_ms(now_ms));
    let simulated = simulated.map(|ms| format!(" ({} simulated)", Span(ms).roughly()));
    let words = format!(
        "{over}/{} stages, {}{}",
        story.stages().len(),
        Span(now_ms).roughly(),
        simulated.unwrap_or_default()
    );
    Line::verb(Ink::Faint, "Elapsed").and(Ink::Faint, words)
}

/// What a stage is busy with.
pub(crate) struct Busy {
    pub(crate) since_ms: Option<u64>,
    ink: Ink,
    verb: &'static str,
    pub(crate) words: String,
}

impl Busy {
    /// Tells of the unit that waits longest, or else acts longest: it is the
    /// one that people wait for.
    pub(crate) fn of(stage: &Stage) -> Self {
        let running = || stage.units.iter().filter(|unit| unit.state() == State::Running);
        let since = |unit: &&UnitStory| unit.started;
        let waiting = running().filter(|unit| unit.waiting_for().is_some());
        let told = waiting.min_by_key(since).or_else(|| running().min_by_key(since));
        let mut busy = told.map_or_else(Self::idle, Self::with);
        let others = running().count().saturating_sub(1);
        if others > 0 {
            busy.words = format!("{} (and {others} more)", busy.words);
        }
        busy
    }

    fn with(unit: &UnitStory) -> Self {
        let tries = match unit.attempts.last() {
            Some(attempt) if attempt.number > 1 => format!("try {}: ", attempt.number),
            _ => String::new(),
        };
        let (ink, verb, words) = match (unit.waiting_for(), unit.open_call()) {
            (Some((check, words)), _) if check.state() == CheckState::Unknown => {
                (Ink::Caution, "Waiting", words)
            }
            (Some((_, words)), _) => (Ink::Busy, "Waiting", words),
            (None, Some(call)) => (Ink::Busy, "Calling", call.call.to_string()),
            (None, None) => (Ink::Busy, "Running", String::new()),
        };
        let words = place(&unit.unit, &format!("{tries}{words}"));
        let words = words.trim_end_matches([' ', ':']).to_owned();
        Self { since_ms: unit.started.map(|moment| moment.at_ms), ink, verb, words }
    }

    fn idle() -> Self {
        Self { since_ms: None, ink: Ink::Busy, verb: "Running", words: String::new() }
    }
}
