//! The known name that a mistyped one probably meant.

/// Returns the candidate nearest to `word`, if one is near enough to be meant.
///
/// Case, `-` and `_` do not count, so that `control-plane` finds
/// `controlPlane`; beyond that, a third of the letters may differ.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    // A word this long was never a slip of a known name, and the distance is quadratic.
    if folded.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed(word, candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn allowed(word: &str, candidate: &str) -> usize {
    word.len().max(candidate.len()).div_ceil(3).min(3)
}

fn fold(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Edits between two words, where swapping two neighbours is one edit.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &to) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(from != to);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from == b[j - 1] && a[i - 1] == to {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let keys = ["talos", "kubernetes", "controlPlane", "pools", "addons"];
        assert_eq!(nearest("talso", keys), Some("talos"));
        assert_eq!(nearest("kubernets", keys), Some("kubernetes"));
        assert_eq!(nearest("control-plane", keys), Some("controlPlane"));
        assert_eq!(nearest("ControlPlanes", keys), Some("controlPlane"));
        assert_eq!(nearest("pool", keys), Some("pools"));
    }

    #[test]
    fn stays_silent_when_nothing_is_near() {
        assert_eq!(nearest("banana", ["talos", "pools"]), None);
        assert_eq!(nearest("", ["talos"]), None);
        assert_eq!(nearest(&"a".repeat(1 << 20), ["talos"]), None);
    }
}
