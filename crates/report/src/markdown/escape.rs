//! Foreign words in Markdown: they must neither format, link, nor call anybody.

/// Returns `text` so that it is shown as it is, in a paragraph or a table's cell.
pub(super) fn inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    let mut symbols = text.chars().peekable();
    while let Some(symbol) = symbols.next() {
        match symbol {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => escaped.extend(['\\', symbol]),
            // GitHub would call a person or link an issue; the empty comment ends the name.
            '@' if !before.is_alphanumeric() => escaped.push_str("@<!-- -->"),
            '#' if symbols.peek().is_some_and(char::is_ascii_digit) => {
                escaped.push_str("#<!-- -->");
            }
            other => escaped.push(other),
        }
        before = symbol;
    }
    escaped
}

/// Returns `text` as a block of code whose fence nothing inside can end.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|symbol| symbol != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_formats_links_or_calls() {
        assert_eq!(inline("<b> *a* `b` [c](d) | e"), r"&lt;b&gt; \*a\* \`b\` \[c\](d) \| e");
        assert_eq!(inline("@team main@sha1 #1 #a"), "@<!-- -->team main@sha1 #<!-- -->1 #a");
    }

    #[test]
    fn a_fence_outgrows_what_is_inside() {
        assert_eq!(fenced("a ```` b"), "`````text\na ```` b\n`````");
        assert_eq!(fenced("a"), "```text\na\n```");
    }
}
