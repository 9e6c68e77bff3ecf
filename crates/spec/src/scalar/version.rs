//! Versions of Talos, Kubernetes and addons.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Complaint, Format, Json, Scalar};

/// A full version, written with or without a `v`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(semver::Version);

impl Version {
    /// Returns a release.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self(semver::Version::new(major, minor, patch))
    }

    /// The major and minor number.
    pub fn minor(&self) -> (u64, u64) {
        (self.0.major, self.0.minor)
    }

    /// Whether it is an alpha, a beta or a release candidate.
    pub fn is_prerelease(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// The version without the `v`, as charts have it.
    pub fn bare(&self) -> String {
        self.0.to_string()
    }

    /// Reads a version, for flags and questions.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl Scalar for Version {
    const FORMAT: Format = Format {
        name: "a version",
        example: "`v1.14.1`",
        json: Json::Text {
            pattern: r"^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$",
        },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        semver::Version::parse(bare).map(Self).map_err(|error| explain(bare, &error))
    }

    fn stand_in() -> Self {
        Self::new(0, 0, 0)
    }
}

fn explain(bare: &str, error: &semver::Error) -> Complaint {
    let numbers: Vec<&str> = bare.split('.').collect();
    let numeric = numbers.iter().all(|number| number.parse::<u32>().is_ok());
    match numbers.as_slice() {
        ["latest" | "stable"] => {
            Complaint::label("name a version: what `latest` means changes under a cluster")
        }
        [major] if numeric => {
            Complaint::label(format!("expected all three numbers, such as `v{major}.0.0`"))
        }
        [major, minor] if numeric => {
            Complaint::label(format!("the patch number is missing, such as `v{major}.{minor}.0`"))
        }
        [_, _, _] if numeric => Complaint::label(error.to_string()),
        _ => Complaint::label(Version::FORMAT.expected()),
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_with_and_without_v() {
        assert_eq!(Version::parse("v1.14.1"), Version::parse("1.14.1"));
        assert_eq!(Version::new(1, 14, 1).to_string(), "v1.14.1");
        assert!(Version::parse("1.14.0-rc.1").expect("a version").is_prerelease());
    }

    #[test]
    fn says_what_is_missing() {
        for (text, label) in [
            ("1.14", "the patch number is missing, such as `v1.14.0`"),
            ("v1", "expected all three numbers, such as `v1.0.0`"),
            ("latest", "name a version: what `latest` means changes under a cluster"),
            ("one", "expected a version, such as `v1.14.1`"),
            ("1.014.1", "invalid leading zero in minor version number"),
        ] {
            assert_eq!(Version::parse(text), Err(label.to_owned()));
        }
    }
}
