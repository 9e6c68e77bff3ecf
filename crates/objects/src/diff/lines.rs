//! The lines that differ between two texts.

/// How many equal lines are shown around a change.
const AROUND: usize = 3;

/// A table of more cells than this is not worth its time: the texts have next
/// to nothing in common.
const MAX_CELLS: usize = 4_000_000;

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Lines from here on, counted from 1 in the new text.
    From(usize),
    Same(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// Returns what changed, with a few lines around it.
pub(super) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = olds.iter().zip(&news).take_while(|(one, other)| one == other).count();
    let tail = olds[head..].iter().rev().zip(news[head..].iter().rev());
    let tail = tail.take_while(|(one, other)| one == other).count();
    let (old_end, new_end) = (olds.len() - tail, news.len() - tail);
    let mut all: Vec<Line<'a>> = olds[..head].iter().map(|line| Line::Same(line)).collect();
    all.extend(middle(&olds[head..old_end], &news[head..new_end]));
    all.extend(olds[old_end..].iter().map(|line| Line::Same(line)));
    around_changes(&all)
}

/// The longest common subsequence, from its table.
fn middle<'a>(olds: &[&'a str], news: &[&'a str]) -> Vec<Line<'a>> {
    let width = news.len() + 1;
    if (olds.len() + 1).saturating_mul(width) > MAX_CELLS {
        let removed = olds.iter().map(|line| Line::Old(line));
        return removed.chain(news.iter().map(|line| Line::New(line))).collect();
    }
    let table = common(olds, news);
    let (mut old, mut new) = (0, 0);
    let mut lines = Vec::new();
    while old < olds.len() || new < news.len() {
        let below = |old: usize, new: usize| table[old * width + new];
        if old < olds.len() && new < news.len() && olds[old] == news[new] {
            lines.push(Line::Same(olds[old]));
            (old, new) = (old + 1, new + 1);
        } else if new == news.len()
            || (old < olds.len() && below(old + 1, new) >= below(old, new + 1))
        {
            lines.push(Line::Old(olds[old]));
            old += 1;
        } else {
            lines.push(Line::New(news[new]));
            new += 1;
        }
    }
    lines
}

/// How many lines the ends of both texts have in common, from each place on.
fn common(olds: &[&str], news: &[&str]) -> Vec<u32> {
    let width = news.len() + 1;
    let mut table = vec![0; (olds.len() + 1) * width];
    for old in (0..olds.len()).rev() {
        for new in (0..news.len()).rev() {
            table[old * width + new] = if olds[old] == news[new] {
                table[(old + 1) * width + new + 1] + 1
            } else {
                table[(old + 1) * width + new].max(table[old * width + new + 1])
            };
        }
    }
    table
}

fn around_changes<'a>(all: &[Line<'a>]) -> Vec<Line<'a>> {
    let changed = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let is_near = |index: usize| {
        let window = index.saturating_sub(AROUND)..(index + AROUND + 1).min(all.len());
        all[window].iter().any(changed)
    };
    let mut shown = Vec::new();
    let (mut number, mut gap) = (1, true);
    for (index, line) in all.iter().enumerate() {
        if is_near(index) {
            if gap {
                shown.push(Line::From(number));
            }
            shown.push(*line);
        }
        gap = !is_near(index);
        number += usize::from(!matches!(line, Line::Old(_)));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(word: &str, count: usize) -> String {
        (1..=count).map(|number| format!("{word} {number}\n")).collect::<Vec<_>>().concat()
    }

    #[test]
    fn changes_are_shown_with_lines_around() {
        let old = numbered("line", 20);
        let new = old.replace("line 10\n", "line ten\nand more\n").replace("line 20\n", "");
        let expected = [
            Line::From(7),
            Line::Same("line 7"),
            Line::Same("line 8"),
            Line::Same("line 9"),
            Line::Old("line 10"),
            Line::New("line ten"),
            Line::New("and more"),
            Line::Same("line 11"),
            Line::Same("line 12"),
            Line::Same("line 13"),
            Line::From(18),
            Line::Same("line 17"),
            Line::Same("line 18"),
            Line::Same("line 19"),
            Line::Old("line 20"),
        ];
        assert_eq!(lines(&old, &new), expected);
        assert_eq!(lines(&old, &old), []);
        assert_eq!(lines("", "a\n"), [Line::From(1), Line::New("a")]);
    }

    #[test]
    fn texts_without_anything_in_common_stay_cheap() {
        assert_eq!(lines(&numbered("a", 5000), &numbered("b", 5000)).len(), 10_001);
    }
}
