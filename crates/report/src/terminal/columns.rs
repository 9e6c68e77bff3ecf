//! The columns of a stage's line, wide enough for every stage of the plan.

use unicode_width::UnicodeWidthStr;

use super::ink::Ink;
use super::line::Line;
use crate::{Span, Stage, State, Story, text};

/// Where the columns of a stage's line stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    name: usize,
    share: usize,
}

/// Longer names than this push their line's columns to the right.
const LONGEST_NAME: usize = 24;
const TIME: usize = 7;
/// More words than this push the lines before them off the screen.
pub(crate) const WORDS: usize = 400;

/// The most words of a line about an event; the report has all of them.
const EVENT: usize = 125;

impl Columns {
    pub(crate) fn of(story: &Story) -> Self {
        let name = |stage: &Stage| stage.name.as_str().width().min(LONGEST_NAME);
        let share = |stage: &Stage| 2 * stage.units.len().to_string().len() + 1;
        let widest = |of: &dyn Fn(&Stage) -> usize| story.stages().iter().map(of).max();
        Self {
            name: widest(&name).unwrap_or(0).max(13) + 2,
            share: widest(&share).unwrap_or(0).max(3),
        }
    }

    /// A line about a stage: verb, name, share of nodes, time, words.
    pub(crate) fn stage(
        self,
        ink: Ink,
        verb: &str,
        stage: &Stage,
        time: &str,
        words: &str,
    ) -> Line {
        self.row(ink, verb, stage.name.as_str(), &stage.share(), time, words)
    }

    /// A line about something that has no share and no time.
    pub(crate) fn note(self, ink: Ink, verb: &str, name: &str, words: &str) -> Line {
        let (name, gap) = (self.name_column(name), " ".repeat(self.share + TIME));
        let line = Line::verb(ink, verb).and(Ink::Strong, name);
        line.and(Ink::Text, gap).and(Ink::Text, spaced(words))
    }

    fn row(self, ink: Ink, verb: &str, name: &str, share: &str, time: &str, words: &str) -> Line {
        let width = self.share;
        let name = self.name_column(name);
        Line::verb(ink, verb)
            .and(Ink::Strong, name)
            .and(Ink::Text, format!("{share:<width$}"))
            .and(Ink::Text, format!("{time:>TIME$}"))
            .and(Ink::Text, spaced(words))
    }

    fn name_column(self, name: &str) -> String {
        let name = text::fit(name, LONGEST_NAME);
        let pad = self.name.saturating_sub(name.width());
        format!("{name}{}", " ".repeat(pad))
    }
}

/// The verb and its ink for a stage or unit that is over.
pub(crate) fn verb(state: State) -> (Ink, &'static str) {
    match state {
        State::Passed => (Ink::Good, "Passed"),
        State::Failed => (Ink::Bad, "Failed"),
        State::Unknown => (Ink::Caution, "Unknown"),
        State::Stopped => (Ink::Caution, "Stopped"),
        State::Skipped => (Ink::Caution, "Skipped"),
        State::NotRun => (Ink::Caution, "Not run"),
        State::Running => (Ink::Busy, "Running"),
        State::Planned => (Ink::Faint, "Planned"),
    }
}

/// How long something took, or nothing where it never began.
pub(crate) fn took(ms: Option<u64>) -> String {
    ms.map(|ms| Span(ms).to_string()).unwrap_or_default()
}

fn spaced(words: &str) -> String {
    if words.is_empty() {
        return String::new();
    }
    format!("  {}", text::clip(words, EVENT))
}
