//! What a dry run says would change.

use std::{fmt::Write, ops::Range};

/// How many lines are shown around a change.
const CONTEXT: usize = 3;

/// A line of the old text, of the new one, or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    Come(&'a str),
}

/// Compares two configurations as a unified diff.
pub(super) fn diff(old: &str, new: &str) -> String {
    if old == new {
        return "Config diff:\n\nNo changes.".to_owned();
    }
    let lines = lines(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>());
    let mut text = "Config diff:\n\n--- a\n+++ b\n".to_owned();
    for hunk in hunks(&lines) {
        let (before, within) = (&lines[..hunk.start], &lines[hunk]);
        let old = range(before, within, |line| !matches!(line, Line::Come(_)));
        let new = range(before, within, |line| !matches!(line, Line::Gone(_)));
        let _ = writeln!(text, "@@ -{old} +{new} @@");
        for line in within {
            let _ = match line {
                Line::Same(line) => writeln!(text, " {line}"),
                Line::Gone(line) => writeln!(text, "-{line}"),
                Line::Come(line) => writeln!(text, "+{line}"),
            };
        }
    }
    text
}

/// Puts two texts beside each other: as many lines as can be are in both, and
/// what goes is before what comes.
fn lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let common = common(old, new);
    let (mut lines, mut o, mut n) = (Vec::new(), 0, 0);
    while o < old.len() || n < new.len() {
        if o < old.len() && n < new.len() && old[o] == new[n] {
            lines.push(Line::Same(old[o]));
            (o, n) = (o + 1, n + 1);
        } else if n == new.len() || (o < old.len() && common[o + 1][n] >= common[o][n + 1]) {
            lines.push(Line::Gone(old[o]));
            o += 1;
        } else {
            lines.push(Line::Come(new[n]));
            n += 1;
        }
    }
    lines
}

/// Returns how many lines two texts have in common at most, from every pair of
/// places on.
fn common(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for o in (0..old.len()).rev() {
        for n in (0..new.len()).rev() {
            common[o][n] = if old[o] == new[n] {
                common[o + 1][n + 1] + 1
            } else {
                common[o + 1][n].max(common[o][n + 1])
            };
        }
    }
    common
}

/// Returns the changes with the lines around them; those that share some are
/// one.
fn hunks(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    let changes = lines.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Same(_)));
    for (place, _) in changes {
        let around = place.saturating_sub(CONTEXT)..(place + 1 + CONTEXT).min(lines.len());
        match hunks.last_mut() {
            Some(last) if around.start < last.end => last.end = around.end,
            _ => hunks.push(around),
        }
    }
    hunks
}

/// Writes where a hunk is on one side; an empty one is named after the line
/// before it.
fn range(before: &[Line<'_>], within: &[Line<'_>], side: impl Fn(&Line<'_>) -> bool) -> String {
    let count = |lines: &[Line<'_>]| lines.iter().filter(|line| side(line)).count();
    let (head, length) = (count(before), count(within));
    let first = if length == 0 { head } else { head + 1 };
    format!("{first},{length}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_shown_with_a_few_lines_around_it() {
        assert_eq!(diff("a\nb\n", "a\nb\n"), "Config diff:\n\nNo changes.");
        assert_eq!(diff("", "a\nb\n"), "Config diff:\n\n--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n10.5\n11\n12\n";
        let head = "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n";
        let tail = "@@ -8,5 +8,6 @@\n 8\n 9\n 10\n+10.5\n 11\n 12\n";
        assert_eq!(diff(old, new), format!("Config diff:\n\n--- a\n+++ b\n{head}{tail}"));
    }

    #[test]
    fn changes_that_are_near_each_other_are_one() {
        let (old, new) = ("a\n1\n2\n3\n4\n5\nb\n", "A\n1\n2\n3\n4\n5\nB\n");
        assert_eq!(diff(old, new).matches("@@ -").count(), 1);
        let (old, new) = ("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n");
        assert_eq!(diff(old, new).matches("@@ -").count(), 2);
    }
}
