//! Text for people: fitted, wrapped and counted.
//!
//! [`Story`](crate::Story) passes every foreign word through [`line`], so that
//! no renderer can forget to.

pub(crate) use events::text::{block, clip, line};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_fit_their_columns() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 0), "");
    }

    proptest! {
        #[test]
        fn fitted_text_is_never_wider(text in "\\PC*", width in 0_usize..60) {
            prop_assert!(fit(&text, width).width() <= width);
        }
    }
}
