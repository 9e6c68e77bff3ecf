//! The last place before the terminal: known secrets are hidden, and what a
//! terminal would obey is shown instead.
//!
//! Everything that a command prints goes through [`Harmless`], whoever wrote it.
//! Our own colours pass; a line break of somebody else does too, so foreign text
//! is put on one line where it enters a message ([`events::text::line`]).

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::Chance;
use events::{Redactor, Secret, text};

/// What must not be printed. Clones share it.
#[derive(Clone)]
pub(crate) struct Hidden(Arc<Mutex<Redactor>>);

/// A stream that shows every line without secrets and without orders to the
/// terminal. A line is held back until it is whole or flushed.
pub(crate) struct Harmless<W: Write> {
    out: W,
    line: Vec<u8>,
    hidden: Hidden,
}

// === impl Hidden ===

impl Hidden {
    pub(crate) fn new() -> Self {
        let bits = Chance::real().bits().to_ne_bytes();
        let mut key = [0; 32];
        key.iter_mut().zip(bits).for_each(|(to, from)| *to = from);
        Self(Arc::new(Mutex::new(Redactor::new(key))))
    }

    /// Hides these from now on. One that is too short to be told from other words
    /// cannot be.
    pub(crate) fn add(&self, secrets: &[Secret]) {
        let mut redactor = self.lock();
        for secret in secrets {
            let _ = redactor.add("credential", secret);
        }
    }

    fn hide(&self, line: Vec<u8>) -> Vec<u8> {
        let mut redactor = self.lock();
        if redactor.finds(&line) { redactor.hide_bytes(&line) } else { line }
    }

    /// Returns foreign text as one line that may be printed.
    pub(crate) fn line(&self, foreign: &str) -> String {
        let hidden = self.hide(foreign.as_bytes().to_vec());
        text::line(&String::from_utf8_lossy(&hidden))
    }

    fn lock(&self) -> MutexGuard<'_, Redactor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hidden")
    }
}

// === impl Harmless ===

impl<W: Write> Harmless<W> {
    pub(crate) fn new(out: W, hidden: &Hidden) -> Self {
        Self { out, line: Vec::new(), hidden: hidden.clone() }
    }

    fn pass(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            return Ok(());
        }
        let line = self.hidden.hide(std::mem::take(&mut self.line));
        let shown = text::shown_with_colours(&String::from_utf8_lossy(&line));
        self.out.write_all(shown.as_bytes())
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.pass()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass()?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Harmless<W> {
    fn drop(&mut self) {
        // Where the stream is gone there is nobody left to tell.
        let _ = self.pass();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(pieces: &[&str]) -> String {
        let hidden = Hidden::new();
        hidden.add(&[Secret::new("canary-hunter22"), Secret::new("short")]);
        let mut out = Vec::new();
        let mut stream = Harmless::new(&mut out, &hidden);
        for piece in pieces {
            stream.write_all(piece.as_bytes()).unwrap();
        }
        drop(stream);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_secret_is_hidden_in_whatever_pieces_it_comes() {
        let said = printed(&["token can", "ary-hunter22 and short\nnext"]);
        assert!(said.starts_with("token «secret") && said.ends_with(" and short\nnext"), "{said}");
    }

    #[test]
    fn orders_to_the_terminal_are_shown_and_our_colours_pass() {
        assert_eq!(
            printed(&["\u{1b}[1m\u{1b}[31mred\u{1b}[0m\tx\n"]),
            "\u{1b}[1m\u{1b}[31mred\u{1b}[0m\tx\n"
        );
        assert_eq!(
            printed(&["\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}\rx"]),
            "␛]0;title␇␛[2J\u{fffd}␍x"
        );
        // What hides or blinks is not ours.
        assert_eq!(printed(&["\u{1b}[8mhidden"]), "␛[8mhidden");
    }
}
