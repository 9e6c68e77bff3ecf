//! A text that must not be shown.

use std::fmt;

/// A secret text. It can be used, but neither printed nor serialised: both show
/// [`Secret::MASK`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// What stands in place of a secret where nobody asked for a token.
    pub const MASK: &'static str = "«secret»";

    /// Wraps a text that must not be shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself. Whoever calls this answers for where it goes.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Evidence;

    #[test]
    fn no_format_shows_it() {
        let secret = Secret::new("hunter22");
        let evidence = Evidence::new("token works").fact("token", secret.clone());
        let shown = format!("{secret} {secret:?} {evidence:?}");
        let stored = serde_json::to_string(&evidence).unwrap();
        assert!(!shown.contains("hunter22") && !stored.contains("hunter22"), "{shown} {stored}");
        assert!(stored.contains(Secret::MASK));
    }
}
