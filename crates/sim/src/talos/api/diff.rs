//! What a dry run says would change.

/// Compares two configurations, as one hunk without context around it.
pub(super) fn diff(old: &str, new: &str) -> String {
    if old == new {
        return "Config diff:\n\nNo changes.".to_owned();
    }
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let header = format!("@@ -{} +{} @@", range(head, gone.len()), range(head, come.len()));
    let (gone, come) = (marked('-', gone), marked('+', come));
    format!("Config diff:\n\n--- a\n+++ b\n{header}\n{gone}{come}")
}

fn marked(mark: char, lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [mark.to_string(), (*line).to_owned(), "\n".to_owned()]).collect()
}

/// Writes a range of lines; an empty one is named after the line before it.
fn range(head: usize, length: usize) -> String {
    let first = if length == 0 { head } else { head + 1 };
    format!("{first},{length}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_changed_middle_is_shown() {
        assert_eq!(diff("a\nb\n", "a\nb\n"), "Config diff:\n\nNo changes.");
        assert_eq!(diff("", "a\nb\n"), "Config diff:\n\n--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(
            diff("a\nb\nc\n", "a\nx\ny\nc\n"),
            "Config diff:\n\n--- a\n+++ b\n@@ -2,1 +2,2 @@\n-b\n+x\n+y\n"
        );
    }
}
