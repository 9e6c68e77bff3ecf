//! The query behind a path.

use std::fmt::{self, Write as _};

/// A query in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(String);

impl Query {
    /// Adds a parameter; the same one may stand several times.
    pub(super) fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(name);
        self.0.push('=');
        for byte in value.to_string().bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    self.0.push(char::from(byte));
                }
                _ => write!(self.0, "%{byte:02X}").expect("a string takes everything"),
            }
        }
        self
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        let query = Query::default().with("name", "a b&c").with("label_selector", "x/y=z,é");
        assert_eq!(query.to_string(), "?name=a%20b%26c&label_selector=x%2Fy%3Dz%2C%C3%A9");
        assert_eq!(Query::default().to_string(), "");
    }
}
