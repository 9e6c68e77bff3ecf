//! Label selectors in kubectl's form, checked before anybody is asked.

use std::sync::LazyLock;

use regex::Regex;

/// A text that is no label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{requirement}` is no requirement on labels; one is `app=web`, `app!=web`, `app in (a,b)`, `app` or `!app`"
)]
pub struct SelectorError {
    /// The part that cannot be read.
    pub requirement: String,
}

static REQUIREMENT: LazyLock<Regex> = LazyLock::new(|| {
    let name = "[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?";
    let key = format!("(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/)?{name}");
    let value = format!("(?:{name})?");
    let compared = format!(r"{key}\s*(?:==|=|!=|>|<)\s*{value}");
    let among = format!(r"{key}\s+(?:in|notin)\s*\(\s*{value}(?:\s*,\s*{value})*\s*\)");
    Regex::new(&format!(r"^\s*(?:!?\s*{key}|{compared}|{among})\s*$")).expect("a constant pattern")
});

/// Checks a label selector as the API would.
pub fn check_selector(text: &str) -> Result<(), SelectorError> {
    let wrong = requirements(text).into_iter().find(|one| !REQUIREMENT.is_match(one));
    match wrong {
        Some(one) => Err(SelectorError { requirement: one.trim().to_owned() }),
        None => Ok(()),
    }
}

/// Splits at commas that stand in no parentheses.
fn requirements(text: &str) -> Vec<&str> {
    let mut inside = false;
    let parts = text.split(move |symbol| {
        inside = (inside || symbol == '(') && symbol != ')';
        symbol == ',' && !inside
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_as_kubectl_reads_them() {
        for good in [
            "app=web",
            "app==web,tier!=db",
            "app in (a, b),!canary",
            "example.com/owner notin (x)",
            "app",
            "app=",
            "size>3",
        ] {
            assert_eq!(check_selector(good), Ok(()), "{good}");
        }
        for (bad, part) in [
            ("", ""),
            ("app=web,", ""),
            ("app = web = x", "app = web = x"),
            ("app in a,b", "app in a"),
            ("a=1,-b", "-b"),
            ("app in (a", "app in (a"),
            ("app=ü", "app=ü"),
        ] {
            assert_eq!(check_selector(bad).unwrap_err().requirement, part, "{bad}");
        }
    }
}
