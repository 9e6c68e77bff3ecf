//! Files with a user and a password, or a token: a value a line, behind its name.

/// Returns the value behind a name such as `password`, where the text has one.
///
/// `password: …` and `password=…` mean the same, with quotes around the value or
/// without. A quote that has no other is part of the value.
pub(crate) fn value(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once([':', '='])?;
        let value = unquoted(value.trim());
        (key.trim() == name && !value.is_empty()).then(|| value.to_owned())
    })
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_all_that_stands_behind_its_name() {
        for (line, expected) in [
            ("password: hunter22", Some("hunter22")),
            ("  password =  hunter22  ", Some("hunter22")),
            ("password: 'hunter22: x'", Some("hunter22: x")),
            ("password=\"hunter=22\"", Some("hunter=22")),
            ("password: it's", Some("it's")),
            ("password: \"quoted", Some("\"quoted")),
            ("password: 'a''", Some("a'")),
            ("password: ''", None),
            ("password:", None),
            ("passwords: hunter22", None),
            ("hunter22", None),
        ] {
            assert_eq!(value(line, "password").as_deref(), expected, "{line}");
        }
    }
}
