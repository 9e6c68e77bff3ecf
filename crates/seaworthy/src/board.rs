//! What people see of objects that are waited for: on a terminal a line each,
//! which moves; elsewhere a line for each change.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::Duration;

use events::Clock;
use report::Span;
use report::terminal::{Canvas, Mishap, Palette, say, told};

use crate::commands::palette;
use crate::patient;
use crate::ui::Ui;

/// Ten frames a second: a clock that moves, and nothing that flickers.
pub(crate) const FRAME: Duration = Duration::from_millis(100);

/// Where nothing moves, what is waited for is said again after so long.
const SILENCE: Duration = Duration::from_secs(30);

/// Shows objects that are waited for, and lines that stay.
pub(crate) struct Board<'a> {
    ui: &'a Ui,
    palette: Palette,
    clock: Clock,
    canvas: Option<Canvas>,
    /// By name: since when, and what is missing.
    rows: BTreeMap<String, (Duration, String)>,
    /// What the last line says, such as `3 of 5 ready`.
    sum: String,
    /// When something was last said.
    said: Duration,
}

impl<'a> Board<'a> {
    pub(crate) fn new(ui: &'a Ui, clock: Clock) -> Self {
        let canvas = ui.screen().map(|_| Canvas::default());
        let palette = palette(ui);
        Self {
            ui,
            palette,
            clock,
            canvas,
            rows: BTreeMap::new(),
            sum: String::new(),
            said: Duration::ZERO,
        }
    }

    /// Says something for people.
    pub(crate) fn say(&mut self, verb: &str, words: &str) -> io::Result<()> {
        self.clear()?;
        self.said = self.clock.elapsed();
        say(self.palette, verb, words, &mut self.ui.stderr())?;
        self.tick()
    }

    /// Says something that is data.
    pub(crate) fn data(&mut self, verb: &str, words: &str) -> io::Result<()> {
        self.clear()?;
        let mut out = self.ui.stdout();
        say(self.palette, verb, words, &mut out)?;
        out.flush()?;
        self.tick()
    }

    /// Says what is missing of somebody, where that is new.
    pub(crate) fn wait_for(&mut self, name: &str, missing: &str) -> io::Result<()> {
        let now = self.clock.elapsed();
        let row = self.rows.entry(name.to_owned()).or_insert_with(|| (now, String::new()));
        if row.1 == missing {
            return Ok(());
        }
        missing.clone_into(&mut row.1);
        if self.canvas.is_some() {
            return self.tick();
        }
        self.say("Waiting", &row_words(name, missing))
    }

    /// Ends the wait for somebody.
    pub(crate) fn done(&mut self, name: &str) {
        self.rows.remove(name);
    }

    /// Says how many have got there, in the last line of what moves.
    pub(crate) fn sum(&mut self, sum: String) {
        self.sum = sum;
    }

    /// Returns who is still waited for, and what is missing.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().map(|(name, (_, missing))| (name.as_str(), missing.as_str()))
    }

    /// Draws what moves as it is now; where nothing moves, a long silence is
    /// broken by what is waited for.
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        let Some(screen) = self.ui.screen() else { return self.break_silence() };
        let moving = self.frame(screen.columns, screen.rows);
        let Some(canvas) = &mut self.canvas else { return Ok(()) };
        // Not through a stream that strips escapes: a frame moves without colour too.
        canvas.show(&[], moving, &mut patient::stderr())
    }

    fn break_silence(&mut self) -> io::Result<()> {
        let now = self.clock.elapsed();
        if now.saturating_sub(self.said) < SILENCE {
            return Ok(());
        }
        let Some((name, (since, missing))) = self.rows.first_key_value() else { return Ok(()) };
        let since = span(now.saturating_sub(*since)).roughly();
        let more = self.rows.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let words = format!("{} (for {since}{more})", row_words(name, missing));
        self.say("Waiting", &words)
    }

    /// Takes what moves off the screen.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let Some(canvas) = &mut self.canvas else { return Ok(()) };
        canvas.clear(&mut patient::stderr())
    }

    /// Ends all that moves.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.clear()?;
        self.rows.clear();
        Ok(())
    }

    /// Tells a failure, above all that moves.
    pub(crate) fn mishap(&mut self, mishap: &Mishap) -> io::Result<()> {
        self.clear()?;
        let columns = self.ui.screen().map(|screen| screen.columns);
        mishap.print(self.palette, columns, &mut self.ui.stderr())?;
        self.tick()
    }

    fn frame(&self, columns: usize, rows: usize) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let now = self.clock.elapsed();
        let room = (rows / 2).max(2) - 1;
        let shown = if self.rows.len() <= room { room } else { room.saturating_sub(1) };
        let line = |(name, (since, missing)): (&String, &(Duration, String))| {
            let took = span(now.saturating_sub(*since)).roughly();
            let words = [name.as_str(), &took, missing].join("  ");
            let words = self.ui.hidden().line(words.trim_start());
            told(self.palette, "Waiting", &words, columns)
        };
        let mut lines: Vec<String> = self.rows.iter().take(shown).map(line).collect();
        if let Some(more) = self.rows.len().checked_sub(shown).filter(|more| *more > 0) {
            lines.push(told(self.palette, "…", &format!("{more} more"), columns));
        }
        let sum = format!("{}, {}", self.sum, span(now).roughly());
        lines.push(told(self.palette, "Elapsed", sum.trim_start_matches(", "), columns));
        lines
    }
}

fn row_words(name: &str, missing: &str) -> String {
    if name.is_empty() { missing.to_owned() } else { format!("{name}: {missing}") }
}

/// Returns a duration as people read it.
pub(crate) fn span(duration: Duration) -> Span {
    Span(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// Returns a count with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Output;

    #[test]
    fn a_frame_fits_the_screen() {
        let ui = Ui::new(Output::Text);
        let mut board = Board::new(&ui, Clock::real());
        assert_eq!(board.frame(40, 10), Vec::<String>::new());
        for number in 0..9 {
            let missing = "a reason that is longer than any screen is wide".to_owned();
            board.rows.insert(format!("pod/{number}"), (Duration::ZERO, missing));
        }
        board.sum("3 of 12 ready".to_owned());
        board.palette = Palette::Plain;
        assert_eq!(
            board.frame(40, 10),
            [
                "      Waiting pod/0  0s  a reason that …",
                "      Waiting pod/1  0s  a reason that …",
                "      Waiting pod/2  0s  a reason that …",
                "            … 6 more",
                "      Elapsed 3 of 12 ready, 0s",
            ]
        );
        assert_eq!(board.frame(80, 40).len(), 10);
    }
}
