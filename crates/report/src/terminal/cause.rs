//! The block that explains a failure: the true cause first, a next step last.

use events::NextStep;
use unicode_width::UnicodeWidthStr;

use super::columns::WORDS;
use super::ink::{Ink, Palette};
use super::line::Line;
use crate::{FirstCause, Story, text, words};

/// A chain that is longer than this hides the cause that it explains.
const CHAIN: usize = 12;
const OTHERS: usize = 5;
const STEPS: usize = 8;
/// The longest line of words, in characters.
const WIDEST: usize = 180;
/// The longest line of the block where a page quotes it, in characters.
const QUOTED: usize = 300;

/// Returns the block that explains the first cause; empty where nothing failed.
pub(crate) fn block(story: &Story) -> Vec<Line> {
    let Some(first) = story.first_cause() else {
        return Vec::new();
    };
    let mut lines = vec![headline(&first)];
    lines.extend(rows(first.place_word(), &first.place()));
    lines.extend(chain(&first.cause.because));
    lines.extend(beside(&first.cause.also));
    lines.extend(first.cause.so.iter().flat_map(|so| rows("so", so)));
    lines.extend(next(&first.cause.next));
    lines.extend(others(story));
    lines
}

/// Returns the block as plain text, for pages that quote it and have a budget.
pub(crate) fn explain(story: &Story) -> String {
    let paint = |line: Line| text::clip(&line.paint(Palette::Plain), QUOTED);
    block(story).into_iter().map(paint).collect::<Vec<_>>().join("\n")
}

/// Returns what a stopped or failed run leaves behind, and how to go on.
pub(crate) fn note(story: &Story) -> Option<Line> {
    let words = words::remains(story.run()?);
    Some(Line::of(Ink::Strong, "note").and(Ink::Text, format!(": {words}")))
}

fn headline(first: &FirstCause<'_>) -> Line {
    Line::of(Ink::Bad, format!("error[{}]", first.cause.code))
        .and(Ink::Strong, format!(": {}", text::clip(&first.cause.message, WORDS)))
}

fn row(label: &str, words: &str) -> Line {
    Line::of(Ink::Busy, format!("  {label:<7}"))
        .and(Ink::Text, format!("  {}", text::clip(words, WORDS)))
}

/// Breaks long words into lines that stand below each other.
fn rows(label: &str, words: &str) -> Vec<Line> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text::clip(words, WORDS).split(' ') {
        match pieces.last_mut() {
            Some(piece) if piece.chars().count() + word.chars().count() < WIDEST => {
                piece.push(' ');
                piece.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    let piece = |(index, piece): (usize, &String)| match index {
        0 => row(label, piece),
        _ => row("", piece),
    };
    pieces.iter().enumerate().map(piece).collect()
}

fn chain(because: &[String]) -> Vec<Line> {
    let link = |(index, words): (usize, &String)| match index {
        0 => rows("because", words),
        _ => rows("      ←", words),
    };
    let mut lines: Vec<_> = because.iter().enumerate().take(CHAIN).flat_map(link).collect();
    if let Some(more) = because.len().checked_sub(CHAIN + 1) {
        lines.push(row("", &format!("… {} more in the report", more + 1)));
    }
    lines
}

fn beside(also: &[String]) -> Vec<Line> {
    let mut lines: Vec<_> =
        also.iter().take(OTHERS).flat_map(|words| rows("also", words)).collect();
    if let Some(more) = also.len().checked_sub(OTHERS).filter(|more| *more > 0) {
        lines.push(row("", &format!("… {more} more in the report")));
    }
    lines
}

/// Commands stand in a column of their own and are never cut or wrapped.
fn next(steps: &[NextStep]) -> Vec<Line> {
    let width = steps.iter().map(|step| step.command.width()).max().unwrap_or(0).min(48);
    let line = |(index, step): (usize, &NextStep)| {
        let label = if index == 0 { "next" } else { "" };
        let pad = " ".repeat(width.saturating_sub(step.command.width()));
        row(label, &step.command).and(Ink::Faint, format!("{pad}  {}", step.tells))
    };
    steps.iter().enumerate().take(STEPS).map(line).collect()
}

fn others(story: &Story) -> Vec<Line> {
    let others = story.also();
    let mut lines: Vec<_> =
        others.iter().take(OTHERS).flat_map(|also| rows("also", &also.line())).collect();
    if others.len() > OTHERS {
        let more = text::count(others.len() - OTHERS, "more cause");
        lines.push(row("also", &format!("{more}, in the report")));
    }
    lines
}
