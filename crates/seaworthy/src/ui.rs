//! The terminal, as far as commands see it.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use events::{Clock, text};
use report::terminal::Screen;

use crate::cli::Output;
use crate::harmless::{Harmless, Hidden};
use crate::patient::Patient;

/// Where a command prints, and whom it can ask.
#[derive(Debug)]
pub(crate) struct Ui {
    output: Output,
    stdout_colour: ColorChoice,
    stderr_colour: ColorChoice,
    can_ask: bool,
    moves: bool,
    clock: Clock,
    /// Whether machines have got what they asked for.
    told: Cell<bool>,
    hidden: Hidden,
}

impl Ui {
    /// The process's own terminal; colour goes where somebody looks.
    pub(crate) fn new(output: Output) -> Self {
        Self {
            output,
            stdout_colour: AutoStream::choice(&io::stdout()),
            stderr_colour: AutoStream::choice(&io::stderr()),
            can_ask: io::stdin().is_terminal() && io::stderr().is_terminal(),
            moves: io::stderr().is_terminal() && !is_dumb(),
            clock: Clock::real(),
            told: Cell::new(false),
            hidden: Hidden::new(),
        }
    }

    /// Returns how data is to be printed.
    pub(crate) fn output(&self) -> Output {
        self.output
    }

    /// Returns where data goes that people read.
    pub(crate) fn stdout(&self) -> impl Write + use<> {
        let out = Unread(AutoStream::new(io::stdout(), self.stdout_colour));
        Harmless::new(out, &self.hidden)
    }

    /// Returns where files go that were asked for on stdout: byte by byte as they
    /// are, secrets included.
    pub(crate) fn file_on_stdout() -> impl Write + use<> {
        Unread(io::stdout())
    }

    /// Returns where words for people go.
    pub(crate) fn stderr(&self) -> impl Write + use<> {
        let out = Unread(Patient::new(AutoStream::new(io::stderr(), self.stderr_colour)));
        Harmless::new(out, &self.hidden)
    }

    /// Returns what must not be printed, for whoever reads a credential.
    pub(crate) fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Returns whether words for people may be coloured.
    pub(crate) fn colour(&self) -> bool {
        self.stderr_colour != ColorChoice::Never
    }

    /// Returns whether words for people may move: somebody looks, and the
    /// terminal can.
    pub(crate) fn moves(&self) -> bool {
        self.moves
    }

    /// Returns the size of the terminal, where words for people may move.
    pub(crate) fn screen(&self) -> Option<Screen> {
        let (width, height) =
            terminal_size::terminal_size_of(io::stderr()).filter(|_| self.moves)?;
        Some(Screen { columns: width.0.into(), rows: height.0.into() })
    }

    /// Returns whether somebody can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.can_ask
    }

    /// Returns how long the command has been at work.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Returns whether JSON was asked for, and none was printed yet.
    pub(crate) fn owes_json(&self) -> bool {
        self.output == Output::Json && !self.told.get()
    }

    /// Prints a value as JSON to stdout.
    pub(crate) fn json(&self, value: &impl serde::Serialize) -> io::Result<()> {
        self.told.set(true);
        let json = serde_json::to_string_pretty(value)?;
        writeln!(self.stdout(), "{}", escaped(&json))
    }

    /// Asks for a line, and returns none where the input has ended.
    pub(crate) fn ask(&self, prompt: &str) -> io::Result<Option<String>> {
        let mut out = self.stderr();
        write!(out, "{prompt} ")?;
        out.flush()?;
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim().to_owned()))
    }
}

/// JSON escapes what a terminal obeys, as far as it is ASCII; the rest is escaped
/// here, so that a program reads what was meant and a terminal obeys nothing.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for symbol in json.chars() {
        if symbol.is_ascii() || !text::is_steering(symbol) {
            escaped.push(symbol);
            continue;
        }
        for unit in symbol.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// A stream that nobody may read any more, as after `| head -1`, or that is stuck. What is under
/// way goes on, and ends as it would have: half an apply is no success.
struct Unread<W>(W);

impl<W: Write> Write for Unread<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_unread(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_unread(self.0.flush(), ())
    }
}

fn unless_unread<T>(done: io::Result<T>, instead: T) -> io::Result<T> {
    match done {
        Err(error) if is_unread(&error) => Ok(instead),
        done => done,
    }
}

fn is_unread(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::TimedOut)
}

/// A terminal without cursor movement says so by its name.
#[expect(clippy::disallowed_methods, reason = "what the terminal can do enters here")]
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_and_steers_no_terminal() {
        let value = serde_json::json!({ "a": "x\u{202e}y\u{e0001}\u{1b}[2Jü" });
        let json = escaped(&value.to_string());
        assert!(!json.chars().any(text::is_steering), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }
}
