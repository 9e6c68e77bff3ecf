//! Names of clusters, pools and things around them.

use serde::Serialize;

use super::{Complaint, Format, Json, Scalar};

/// The name of a cluster: a DNS label of at most 32 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ClusterName(String);

/// The name of a pool: a DNS label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PoolName(String);

/// The name of a host, a Proxmox node, a storage or a namespace: a DNS label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ResourceName(String);

/// A host name such as `api.example.com`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct DnsName(String);

const LABEL: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

super::format::text_of!(ClusterName, PoolName, ResourceName, DnsName);

impl Scalar for ClusterName {
    const FORMAT: Format = Format {
        name: "a cluster name",
        example: "`demo` or `prod-1`",
        json: Json::Text { pattern: "^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        check_label(text, 32)?;
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Complaint::label("expected a letter first: the name starts host names"));
        }
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("demo".to_owned())
    }
}

impl ClusterName {
    /// Reads a cluster name, for flags and questions.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl Scalar for PoolName {
    const FORMAT: Format =
        Format { name: "a pool name", example: "`workers`", json: Json::Text { pattern: LABEL } };

    fn read(text: &str) -> Result<Self, Complaint> {
        check_label(text, 54).map(|()| Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("pool".to_owned())
    }
}

impl Scalar for ResourceName {
    const FORMAT: Format = Format {
        name: "a name",
        example: "`pve1` or `kube-system`",
        json: Json::Text { pattern: LABEL },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        check_label(text, 63).map(|()| Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("name".to_owned())
    }
}

impl Scalar for DnsName {
    const FORMAT: Format = Format {
        name: "a host name",
        example: "`api.example.com`",
        json: Json::Text { pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text.contains("://") {
            return Err(Complaint::label("expected only the host name, without `https://`"));
        }
        if text.len() > 253 {
            return Err(Complaint::label("expected at most 253 characters"));
        }
        text.split('.').try_for_each(|label| check_label(label, 63))?;
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("localhost".to_owned())
    }
}

/// Checks an RFC 1123 label and says what exactly is wrong with it.
fn check_label(text: &str, longest: usize) -> Result<(), Complaint> {
    if text.is_empty() {
        return Err(Complaint::label("expected at least one character"));
    }
    if text.len() > longest {
        let length = text.chars().count();
        return Err(Complaint::label(format!(
            "expected at most {longest} characters, this has {length}"
        )));
    }
    if let Some(wrong) = text.chars().find(|character| !may_stand(*character)) {
        return Err(wrong_character(text, wrong));
    }
    if text.starts_with('-') || text.ends_with('-') {
        return Err(Complaint::label("expected a letter or digit at both ends"));
    }
    Ok(())
}

fn wrong_character(text: &str, wrong: char) -> Complaint {
    let fixed = text.to_lowercase().replace(['_', ' ', '.'], "-");
    let is_better = fixed.chars().all(may_stand) && check_label(&fixed, 63).is_ok();
    let hint = if is_better { format!("; `{fixed}` would do") } else { String::new() };
    Complaint::label(format!(
        "`{wrong}` cannot stand here: lower-case letters, digits and `-` can{hint}"
    ))
}

fn may_stand(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_names() {
        assert!(ClusterName::parse("demo").is_ok());
        assert!(ClusterName::parse(&"a".repeat(32)).is_ok());
        for (text, label) in [
            (
                "Demo_1",
                "`D` cannot stand here: lower-case letters, digits and `-` can; `demo-1` would do",
            ),
            ("-demo", "expected a letter or digit at both ends"),
            ("1demo", "expected a letter first: the name starts host names"),
            ("", "expected at least one character"),
            ("ü", "`ü` cannot stand here: lower-case letters, digits and `-` can"),
        ] {
            assert_eq!(ClusterName::parse(text), Err(label.to_owned()));
        }
        let long = "a".repeat(33);
        assert_eq!(
            ClusterName::parse(&long),
            Err("expected at most 32 characters, this has 33".to_owned())
        );
    }

    #[test]
    fn host_names() {
        assert!(DnsName::read("api.example.com").is_ok());
        assert!(DnsName::read("https://api.example.com").is_err());
        assert!(DnsName::read("api..example").is_err());
    }
}
