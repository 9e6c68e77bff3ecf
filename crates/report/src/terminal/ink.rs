//! The styles of the terminal, by meaning. No other file names a colour.

use anstyle::{AnsiColor, Style};

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Nothing special.
    Text,
    /// It went well.
    Good,
    /// It failed.
    Bad,
    /// People should look.
    Caution,
    /// It is under way.
    Busy,
    /// Less important than what is beside it.
    Faint,
    /// The headline.
    Strong,
}

/// Whether text carries colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// No styles at all: for files, logs and `NO_COLOR`.
    Plain,
    /// The sixteen colours that every terminal maps to its own theme.
    Colour,
}

impl Palette {
    pub(crate) fn style(self, ink: Ink) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match (self, ink) {
            (Self::Plain, _) | (_, Ink::Text) => Style::new(),
            (Self::Colour, Ink::Good) => colour(AnsiColor::Green).bold(),
            (Self::Colour, Ink::Bad) => colour(AnsiColor::Red).bold(),
            (Self::Colour, Ink::Caution) => colour(AnsiColor::Yellow).bold(),
            (Self::Colour, Ink::Busy) => colour(AnsiColor::Cyan).bold(),
            (Self::Colour, Ink::Faint) => Style::new().dimmed(),
            (Self::Colour, Ink::Strong) => Style::new().bold(),
        }
    }
}
