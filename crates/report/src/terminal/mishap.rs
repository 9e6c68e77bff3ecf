//! A failure outside of a run, in the form of those inside: the cause first, a
//! next step last.

use std::io::{self, Write};

use events::NextStep;
use unicode_width::UnicodeWidthStr;

use super::ink::{Ink, Palette};
use super::line::Line;
use crate::text;

/// What went wrong, why, and what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mishap {
    /// What went wrong.
    pub message: String,
    /// Why, each line caused by the next.
    pub because: Vec<String>,
    /// What else is worth knowing, each with a word of up to seven letters.
    pub notes: Vec<(&'static str, String)>,
    /// What to do.
    pub next: Vec<NextStep>,
}

/// A chain that is longer than this hides the cause that it explains.
const CHAIN: usize = 20;
/// Where the words of a row begin.
const INDENT: usize = 11;
/// No row is broken into narrower lines.
const NARROWEST: usize = 30;

impl Mishap {
    /// Prints it, with its lines broken at `columns` where that is given.
    pub fn print(
        &self,
        palette: Palette,
        columns: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let message = text::line(&self.message);
        let headline = Line::of(Ink::Bad, "error").and(Ink::Strong, format!(": {message}"));
        writeln!(out, "{}", headline.paint(palette))?;
        self.print_reasons(palette, columns, out)
    }

    /// Prints all but the headline, for whoever has one.
    pub fn print_reasons(
        &self,
        palette: Palette,
        columns: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let room =
            columns.map_or(usize::MAX, |columns| columns.saturating_sub(INDENT).max(NARROWEST));
        let mut lines = Vec::new();
        for (index, words) in self.because.iter().take(CHAIN).enumerate() {
            let label = if index == 0 { "because" } else { "      ←" };
            lines.extend(row(label, words, room));
        }
        if let Some(more) = self.because.len().checked_sub(CHAIN).filter(|more| *more > 0) {
            lines.push(labelled("", &format!("… and {more} more")));
        }
        lines.extend(self.notes.iter().flat_map(|(label, words)| row(label, words, room)));
        lines.extend(self.steps(columns));
        lines.iter().try_for_each(|line| writeln!(out, "{}", line.paint(palette)))
    }

    /// Commands are never broken; what they tell stands beside them where there is room.
    fn steps(&self, columns: Option<usize>) -> Vec<Line> {
        let width = self.next.iter().map(|step| step.command.width()).max().unwrap_or(0).min(48);
        let line = |(index, step): (usize, &NextStep)| {
            let label = if index == 0 { "next" } else { "" };
            let pad = " ".repeat(width.saturating_sub(step.command.width()));
            let tells = format!("{pad}  {}", step.tells);
            let end = INDENT + step.command.width() + tells.width();
            let command = labelled(label, &step.command);
            if columns.is_some_and(|columns| end > columns) {
                return vec![command, labelled("", &format!("  {}", step.tells))];
            }
            vec![command.and(Ink::Faint, tells)]
        };
        self.next.iter().enumerate().flat_map(line).collect()
    }
}

fn row(label: &str, words: &str, room: usize) -> Vec<Line> {
    let lines = text::wrap(&text::line(words), room);
    let line =
        |(index, words): (usize, &String)| labelled(if index == 0 { label } else { "" }, words);
    lines.iter().enumerate().map(line).collect()
}

fn labelled(label: &str, words: &str) -> Line {
    Line::of(Ink::Busy, format!("  {label:<7}")).and(Ink::Text, format!("  {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_broken_only_where_somebody_looks() {
        let step = |command: &str| NextStep { command: command.into(), tells: "shows it".into() };
        let mishap = Mishap {
            message: "it is not ready".to_owned(),
            because: vec![
                "no pods are ready in all of the fleet".to_owned(),
                "no\nnode".to_owned(),
            ],
            notes: vec![("also", "1 more".to_owned())],
            next: vec![step("kubectl get pods"), step("kubectl get nodes --all of them")],
        };
        let print = |columns| {
            let mut out = Vec::new();
            mishap.print(Palette::Plain, columns, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        insta::assert_snapshot!(print(None), @r"
        error: it is not ready
          because  no pods are ready in all of the fleet
                ←  no node
          also     1 more
          next     kubectl get pods                 shows it
                   kubectl get nodes --all of them  shows it
        ");
        insta::assert_snapshot!(print(Some(42)), @r"
        error: it is not ready
          because  no pods are ready in all of the
                   fleet
                ←  no node
          also     1 more
          next     kubectl get pods
                     shows it
                   kubectl get nodes --all of them
                     shows it
        ");
    }
}
