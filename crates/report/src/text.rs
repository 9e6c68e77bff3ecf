//! Words that others wrote, made harmless and short before anything shows them.
//!
//! Messages come from clouds, kernels and logs. They can hold escape sequences
//! that repaint a terminal, marks that turn the order of letters around, and
//! lines of a megabyte. [`Story`](crate::Story) passes every foreign word
//! through [`line`], so that no renderer can forget to.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The longest line that a report repeats, in characters. A line for people is
/// shorter by far, and the journal keeps the whole of it.
const LINE_LIMIT: usize = 2_000;

/// What becomes of a line break.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Flatten,
    Keep,
}

/// Returns `foreign` as one line without control characters, cut to a sane length.
pub(crate) fn line(foreign: &str) -> String {
    clip(&clean(foreign, Breaks::Flatten), LINE_LIMIT)
}

/// Returns `foreign` without control characters but with its lines and tabs.
pub(crate) fn block(foreign: &str) -> String {
    clean(foreign, Breaks::Keep)
}

/// Returns `text` cut to `limit` characters, with a note of how many are missing.
pub(crate) fn clip(text: &str, limit: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let missing = text[cut..].chars().count();
    format!("{}… ({missing} more characters)", &text[..cut])
}

/// Returns `text` cut to `width` columns, with `…` in the last one where it was cut.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else {
        return String::new();
    };
    let mut used = 0;
    let mut kept: String = text
        .chars()
        .take_while(|symbol| {
            used += symbol.width().unwrap_or(0);
            used <= room
        })
        .collect();
    kept.push('…');
    kept
}

/// Returns `text` broken between words into lines of at most `width` columns;
/// a word that is wider stands alone.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last].push_str(word);
        } else if lines[last].width() + 1 + word.width() <= width {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns a count with its noun, in the right number.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn clean(foreign: &str, breaks: Breaks) -> String {
    let mut clean = String::with_capacity(foreign.len());
    let mut rest = foreign;
    while let Some(symbol) = rest.chars().next() {
        if let Some(after) = skip_escape_sequence(rest) {
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
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fffe}'
        | '\u{ffff}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        other => other,
    }
}

/// Returns what follows a whole escape sequence at the start of `text`. One
/// that does not end is no sequence: it must not swallow what comes after it.
fn skip_escape_sequence(text: &str) -> Option<&str> {
    let after = text.strip_prefix('\x1b')?;
    if let Some(body) = after.strip_prefix('[') {
        let end = body.find(|c: char| !matches!(c, '\x20'..='\x3f'))?;
        return body[end..].strip_prefix(|c: char| matches!(c, '\x40'..='\x7e'));
    }
    let body = after.strip_prefix([']', 'P', 'X', '^', '_'])?;
    let end = body.find(|c: char| c.is_control())?;
    let tail = &body[end..];
    tail.strip_prefix('\x07').or_else(|| tail.strip_prefix("\x1b\\"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_go_and_the_words_stay() {
        assert_eq!(line("\x1b[31mred\x1b[0m"), "red");
        assert_eq!(line("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link"), "textlink");
        assert_eq!(line("a\x1b]0;never ends"), "a␛]0;never ends");
        assert_eq!(line("a\x1b[31"), "a␛[31");
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

    #[test]
    fn texts_fit_their_columns() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 0), "");
    }

    proptest! {
        #[test]
        fn no_control_character_survives(text in "\\PC*[\u{0}-\u{a0}\u{2020}-\u{2070}]*") {
            let told = line(&text);
            prop_assert!(!told.chars().any(char::is_control));
            prop_assert_eq!(line(&told), told);
        }

        #[test]
        fn fitted_text_is_never_wider(text in "\\PC*", width in 0_usize..60) {
            prop_assert!(fit(&text, width).width() <= width);
        }
    }
}
