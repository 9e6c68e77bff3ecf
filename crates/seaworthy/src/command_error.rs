//! What goes wrong at the border to people: a message, its causes, hints, and
//! the exit code.

use std::error::Error;
use std::io;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use events::{Class, Failure, text};

use crate::exit::Exit;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) struct CommandError {
    exit: Exit,
    message: Message,
    hints: Vec<String>,
}

#[derive(Debug)]
enum Message {
    /// `error: …`, with the chain of causes.
    Error(Failure),
    /// The command has told the whole story already.
    Told,
}

// === impl CommandError ===

impl CommandError {
    /// An error with its chain of causes.
    pub(crate) fn new(exit: Exit, error: &(dyn Error + 'static)) -> Self {
        let failure = Failure::of(Class::Permanent, error);
        Self { exit, message: Message::Error(failure), hints: Vec::new() }
    }

    /// An error with a message of its own.
    pub(crate) fn say(exit: Exit, message: impl Into<String>) -> Self {
        let failure = Failure::permanent(message);
        Self { exit, message: Message::Error(failure), hints: Vec::new() }
    }

    /// A file that was asked for and cannot be written.
    pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Self {
        let said = Self::say(Exit::Usage, format!("could not write {}: {error}", path.display()));
        match path.parent() {
            Some(folder) if error.kind() == io::ErrorKind::NotFound => {
                said.hint(format!("there is no folder {}: make it first", folder.display()))
            }
            _ => said,
        }
    }

    /// An end that needs no more words.
    pub(crate) fn told(exit: Exit) -> Self {
        Self { exit, message: Message::Told, hints: Vec::new() }
    }

    /// The end of a command that has told all about it.
    pub(crate) fn unless_done(exit: Exit) -> Result<(), Self> {
        if exit == Exit::Done { Ok(()) } else { Err(Self::told(exit)) }
    }

    /// Says what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns how the process ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns what is the matter, in one line.
    pub(crate) fn message(&self) -> String {
        match &self.message {
            Message::Error(failure) => failure.to_string(),
            Message::Told => String::new(),
        }
    }

    /// Returns what to do about it.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Prints the error for people.
    pub(crate) fn print(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let Message::Error(failure) = &self.message else { return Ok(()) };
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        writeln!(out, "{red}error{red:#}: {}", text::line(&failure.message))?;
        for source in &failure.sources {
            writeln!(out, "  because {}", text::line(source))?;
        }
        for hint in &self.hints {
            writeln!(out, "{cyan}hint{cyan:#}: {}", text::line(hint))?;
        }
        Ok(())
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::Internal, &error)
    }
}
