//! Lengths of time as people read them.

use std::fmt;

/// A length of time in milliseconds, shown as `0.2s`, `1m12s` or `1h4m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub u64);

impl Span {
    /// Shows whole seconds: for what is still moving, or only roughly known.
    pub fn roughly(self) -> String {
        match self.0 {
            0..60_000 => format!("{}s", self.0 / 1_000),
            _ => Self(self.0 / 1_000 * 1_000).to_string(),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0.saturating_add(50) / 100;
        let seconds = self.0.saturating_add(500) / 1_000;
        let text = match seconds {
            _ if tenths < 600 => format!("{}.{}s", tenths / 10, tenths % 10),
            0..3_600 => format!("{}m{}s", seconds / 60, seconds % 60),
            _ => format!("{}h{}m", seconds / 3_600, seconds % 3_600 / 60),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_like_a_watch() {
        let shown = |ms| Span(ms).to_string();
        assert_eq!(shown(0), "0.0s");
        assert_eq!(shown(249), "0.2s");
        assert_eq!(shown(11_800), "11.8s");
        assert_eq!(shown(59_949), "59.9s");
        assert_eq!(shown(59_951), "1m0s");
        assert_eq!(shown(72_000), "1m12s");
        assert_eq!(shown(600_000), "10m0s");
        assert_eq!(shown(3_840_000), "1h4m");
        assert_eq!(shown(u64::MAX), "5124095576030h25m");
        assert_eq!(Span(25_900).roughly(), "25s");
        assert_eq!(Span(72_900).roughly(), "1m12s");
        assert_eq!(format!("{:>7}", Span(200)), "   0.2s");
    }
}
