//! The known name that a mistyped one probably meant.

/// Returns the candidate nearest to `word`, if at most a third of the letters differ.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A word this long was never a slip of a known name, and the distance is quadratic.
    if word.len() > 64 {
        return None;
    }
    let near = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    let near = near.filter(|(edits, known)| *edits <= word.len().max(known.len()).div_ceil(3));
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Letters to add, to drop or to change; case does not count.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["ready", "rollout", "create", "delete"];
        assert_eq!(nearest("redy", names), Some("ready"));
        assert_eq!(nearest("Rolout", names), Some("rollout"));
        assert_eq!(nearest("deleted", names), Some("delete"));
        assert_eq!(nearest("condition", names), None);
    }
}
