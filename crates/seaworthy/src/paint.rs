//! Differences in colour, for those who can see it; the signs say the same.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

/// Writes lines, coloured by the sign that they begin with. The writer takes
/// colour out again where nobody looks.
pub(crate) fn paint(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in text.lines() {
        let style = style(line.trim_start());
        writeln!(out, "{style}{line}{style:#}")?;
    }
    Ok(())
}

fn style(line: &str) -> Style {
    let colour = match line.as_bytes() {
        [b'+', b' ', ..] => AnsiColor::Green,
        [b'-', b' ', ..] => AnsiColor::Red,
        [b'~', b' ', ..] => AnsiColor::Yellow,
        _ => return Style::new(),
    };
    Style::new().fg_color(Some(colour.into()))
}
