//! The place on a terminal where lines stay, and lines below them move.

use std::io::{self, Write};

/// What moves at the bottom of a terminal.
#[derive(Debug, Default)]
pub struct Canvas {
    drawn: Vec<String>,
}

/// The terminal shows what lies between these two at once, so that nothing flickers.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

impl Canvas {
    /// Lets lines scroll up for good, and draws those that move below them. No
    /// line may be wider than the terminal.
    pub fn show(
        &mut self,
        staying: &[String],
        moving: Vec<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if staying.is_empty() && moving == self.drawn {
            return Ok(());
        }
        write!(out, "{BEGIN}")?;
        self.erase(out)?;
        for line in staying.iter().chain(&moving) {
            writeln!(out, "{line}")?;
        }
        write!(out, "{END}")?;
        self.drawn = moving;
        out.flush()
    }

    /// Takes what moves off the screen, for whoever has something else to say.
    pub fn clear(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.show(&[], Vec::new(), out)
    }

    /// Goes up to the first line that moves and clears all below.
    fn erase(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.drawn.len() {
            0 => Ok(()),
            rows => write!(out, "\x1b[{rows}A\r\x1b[J"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_above_those_that_move() {
        let (mut canvas, mut out) = (Canvas::default(), Vec::new());
        canvas.show(&["a".to_owned()], vec!["x".to_owned()], &mut out).unwrap();
        canvas.show(&[], vec!["x".to_owned()], &mut out).unwrap();
        canvas.show(&["b".to_owned()], vec!["y".to_owned()], &mut out).unwrap();
        canvas.clear(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap().replace(BEGIN, "").replace(END, "");
        assert_eq!(text, "a\nx\n\x1b[1A\r\x1b[Jb\ny\n\x1b[1A\r\x1b[J");
    }
}
