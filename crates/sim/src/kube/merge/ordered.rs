//! The order of a list that two sides have merged.

/// Merges the items of a wanted order with those that only the live list has:
/// wanted ones in the wanted order, the others where they stood among them.
/// Both are given with their place in the live list, if they have one.
pub(super) fn interleave<T>(wanted: Vec<(Option<usize>, T)>, others: Vec<(usize, T)>) -> Vec<T> {
    let mut others = others.into_iter().peekable();
    let mut merged = Vec::new();
    for (place, item) in wanted {
        if let Some(place) = place {
            while let Some((_, other)) = others.next_if(|(at, _)| *at < place) {
                merged.push(other);
            }
        }
        merged.push(item);
    }
    merged.extend(others.map(|(_, item)| item));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_keep_their_place() {
        let wanted = vec![(Some(2), 'c'), (None, 'n'), (Some(0), 'a')];
        assert_eq!(interleave(wanted, vec![(1, 'b'), (3, 'd')]), ['b', 'c', 'n', 'a', 'd']);
    }
}
