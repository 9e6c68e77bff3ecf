//! Text that others wrote, made harmless before anything shows it.
//!
//! Messages come from APIs, clouds, kernels and logs. They can hold escape
//! sequences that repaint a terminal, newlines that forge a line of ours, marks
//! that reverse the order of letters, and lines of a megabyte. This is the one
//! place that decides what becomes of them: colours go, and everything else that
//! a terminal would obey is shown instead.

/// The longest line that is repeated, in characters.
const LINE_LIMIT: usize = 2_000;

/// What becomes of a line break.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Flatten,
    Keep,
}

/// Returns `foreign` as one line without control characters, cut to a sane length.
pub fn line(foreign: &str) -> String {
    clip(&clean(foreign, Breaks::Flatten), LINE_LIMIT)
}

/// Returns `foreign` without control characters but with its lines and tabs.
pub fn block(foreign: &str) -> String {
    clean(foreign, Breaks::Keep)
}

/// Returns `text` cut to `limit` characters, with a note of how many are missing.
pub fn clip(text: &str, limit: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let missing = text[cut..].chars().count();
    format!("{}… ({missing} more characters)", &text[..cut])
}

/// Returns whether a terminal obeys this character instead of showing it, or
/// changes the order of others by it. A tab and a line break are among them.
pub fn is_steering(symbol: char) -> bool {
    symbol.is_control() || visible(symbol) != symbol
}

/// Returns text of ours that may hold some of others: colours, tabs and line
/// breaks stay, and everything else that a terminal would obey is shown.
pub fn shown_with_colours(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(symbol) = rest.chars().next() {
        if let Some(after) = skip_colour(rest).filter(|after| is_our_style(rest, after)) {
            shown.push_str(&rest[..rest.len() - after.len()]);
            rest = after;
            continue;
        }
        rest = &rest[symbol.len_utf8()..];
        shown.push(if symbol == '\n' { symbol } else { visible(symbol) });
    }
    shown
}

/// Returns whether the sequence before `after` sets a style that we use: weight,
/// underline and the sixteen colours. Text that is concealed, blinks or is
/// reversed is not of ours, whatever stands beside it.
fn is_our_style(text: &str, after: &str) -> bool {
    let codes = &text[2..text.len() - after.len() - 1];
    let is_ours = |code: &str| matches!(code.parse(), Ok(0..=4 | 22..=24 | 30..=37 | 39 | 90..=97));
    codes.is_empty() || codes.split(';').all(is_ours)
}

fn clean(foreign: &str, breaks: Breaks) -> String {
    let mut clean = String::with_capacity(foreign.len());
    let mut rest = foreign;
    while let Some(symbol) = rest.chars().next() {
        if let Some(after) = skip_colour(rest) {
            rest = after;
            continue;
        }
        rest = &rest[symbol.len_utf8()..];
        match symbol {
            // The break itself is the `\n` that follows.
            '\r' if rest.starts_with('\n') => {}
            '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => clean.push(match breaks {
                Breaks::Flatten => ' ',
                Breaks::Keep => '\n',
            }),
            '\t' if breaks == Breaks::Flatten => clean.push(' '),
            other => clean.push(visible(other)),
        }
    }
    clean
}

/// Replaces what has no shape of its own, or changes the shape of others.
fn visible(symbol: char) -> char {
    match symbol {
        '\t' => symbol,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(symbol)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        // C1 controls, marks and overrides of direction, and characters that XML forbids.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fffe}'
        | '\u{ffff}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        other => other,
    }
}

/// Returns what follows a whole sequence that sets a colour: logs are full of
/// them, and they say nothing.
fn skip_colour(text: &str) -> Option<&str> {
    let body = text.strip_prefix("\x1b[")?;
    let end = body.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
    body[end..].strip_prefix('m')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn line_drops_colours_and_shows_every_other_sequence() {
        assert_eq!(line("\x1b[31mred\x1b[0m"), "red");
        assert_eq!(line("\x1b]0;title\x07text\x1b[2J"), "␛]0;title␇text␛[2J");
        assert_eq!(line("a\x1b[31"), "a␛[31");
    }

    #[test]
    fn only_styles_of_ours_reach_a_terminal() {
        for ours in ["\x1b[1m\x1b[91mred\x1b[0m", "\x1b[1;32mgreen\x1b[m"] {
            assert_eq!(shown_with_colours(ours), ours);
        }
        for foreign in ["\x1b[8mx", "\x1b[08mx", "\x1b[38;5;1;8mx", "\x1b[1;7mx", "\x1b[4:3mx"] {
            assert!(!shown_with_colours(foreign).contains('\x1b'), "{foreign:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_becomes_visible() {
        assert_eq!(line("a\0b\x07c\x7f"), "a␀b␇c␡");
        assert_eq!(line("abc\u{202e}cba\u{2066}"), "abc\u{fffd}cba\u{fffd}");
        assert_eq!(line("one\r\ntwo\nthree\u{2028}four"), "one two three four");
        assert_eq!(block("one\r\ntwo\n\tthree"), "one\ntwo\n\tthree");
    }

    #[test]
    fn a_megabyte_of_line_is_cut_and_says_so() {
        let told = line(&"x".repeat(1 << 20));
        assert!(told.ends_with("x… (1046576 more characters)"), "{}", &told[1990..]);
    }

    proptest! {
        #[test]
        fn no_control_character_survives(text in "\\PC*[\u{0}-\u{a0}\u{2020}-\u{2070}]*") {
            let told = line(&text);
            prop_assert!(!told.chars().any(is_steering));
            prop_assert_eq!(line(&told), told);
        }
    }
}
