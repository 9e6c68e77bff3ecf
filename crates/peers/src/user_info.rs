//! User and password in a URL.

/// Returns a URL, or what should be one, without user info.
pub fn without_user_info(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // What is no URL may have a password anywhere before its last `@`.
    let place = match rest[..end].rfind('@').or_else(|| rest.rfind('@')) {
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    if scheme.is_empty() { place.to_owned() } else { format!("{scheme}://{place}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_user_info_keeps_everything_else() {
        for (text, expected) in [
            ("https://bob:hunter22@host:1/a", "https://host:1/a"),
            ("https://host/a@b", "https://b"),
            ("https://bob:hun/ter22@host", "https://host"),
            ("bob:hunter22@host", "host"),
            ("https://host/a", "https://host/a"),
            ("", ""),
        ] {
            assert_eq!(without_user_info(text), expected);
        }
    }
}
