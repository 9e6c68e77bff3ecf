//! The right that somebody lacks, in the form in which it is granted.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

/// `User "x" cannot list resource "pods/log" in API group "" in the namespace "n"`,
/// or `… at the cluster scope`. The API says it in no other way.
static RESOURCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"User "([^"]*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?"#,
    )
    .expect("a constant pattern")
});

/// `User "x" cannot get path "/metrics"`.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"User "([^"]*)" cannot (\S+) path "([^"]+)""#).expect("a constant pattern")
});

/// A right that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    /// Who lacks it.
    pub user: String,
    /// What they may not do, such as `list`.
    pub verb: String,
    /// To what.
    pub to: RightTo,
}

/// What a right is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RightTo {
    /// Objects.
    Resource {
        /// The resource, such as `pods` or `pods/log`.
        resource: String,
        /// Its group; empty for the core group.
        group: String,
        /// The namespace; none for the whole cluster.
        namespace: Option<String>,
    },
    /// A path that is no object, such as `/metrics`.
    Path(String),
}

impl Right {
    /// Reads it out of what the API says.
    pub fn told(message: &str) -> Option<Self> {
        let text = |found: Option<regex::Match<'_>>| found.map(|it| it.as_str().to_owned());
        if let Some(found) = RESOURCE.captures(message) {
            let to = RightTo::Resource {
                resource: text(found.get(3))?,
                group: text(found.get(4))?,
                namespace: text(found.get(5)),
            };
            return Some(Self { user: text(found.get(1))?, verb: text(found.get(2))?, to });
        }
        let found = PATH.captures(message)?;
        let to = RightTo::Path(text(found.get(3))?);
        Some(Self { user: text(found.get(1))?, verb: text(found.get(2))?, to })
    }
}

/// What would grant it.
impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, verb, to } = self;
        match to {
            RightTo::Resource { resource, group, namespace } => {
                let role = match namespace {
                    Some(namespace) => format!("Role in namespace {namespace}"),
                    None => "ClusterRole".to_owned(),
                };
                write!(
                    f,
                    "`{user}` needs a {role} with the rule {{apiGroups: [\"{group}\"], \
                     resources: [\"{resource}\"], verbs: [\"{verb}\"]}}"
                )
            }
            RightTo::Path(path) => write!(
                f,
                "`{user}` needs a ClusterRole with the rule {{nonResourceURLs: [\"{path}\"], \
                 verbs: [\"{verb}\"]}}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_that_is_missing_is_read_out_of_the_no() {
        let table = [
            (
                r#"deployments.apps "a" is forbidden: User "ann" cannot patch resource "deployments" in API group "apps" in the namespace "shop""#,
                "`ann` needs a Role in namespace shop with the rule {apiGroups: [\"apps\"], resources: [\"deployments\"], verbs: [\"patch\"]}",
            ),
            (
                r#"pods "a" is forbidden: User "ann" cannot get resource "pods/log" in API group "" at the cluster scope: RBAC: role.rbac.authorization.k8s.io "x" not found"#,
                "`ann` needs a ClusterRole with the rule {apiGroups: [\"\"], resources: [\"pods/log\"], verbs: [\"get\"]}",
            ),
            (
                r#"forbidden: User "ann" cannot get path "/metrics""#,
                "`ann` needs a ClusterRole with the rule {nonResourceURLs: [\"/metrics\"], verbs: [\"get\"]}",
            ),
        ];
        for (said, told) in table {
            assert_eq!(Right::told(said).unwrap().to_string(), told);
        }
        assert_eq!(Right::told("pods \"a\" is forbidden: error looking up service account"), None);
    }
}
