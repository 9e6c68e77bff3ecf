//! The end of a log, for messages.

/// Returns the last lines of a text, indented for a message.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let shown = &all[all.len().saturating_sub(lines)..];
    if shown.is_empty() {
        return "  | (nothing was printed)".into();
    }
    let shown: Vec<String> = shown.iter().map(|line| format!("  | {line}")).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_shown() {
        assert_eq!(tail("a\nb\nc\n", 2), "  | b\n  | c");
        assert_eq!(tail("", 2), "  | (nothing was printed)");
    }
}
