//! What is waited for.

use std::fmt;
use std::str::FromStr;

use super::{ValueTest, ValueTestError, nearest};
use crate::{JsonPath, Kind, PathError};

/// What an object has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// Ready, by its kind's rule.
    Ready,
    /// Rolled out: a Deployment, a `StatefulSet` or a `DaemonSet` runs what it says.
    Rollout,
    /// There.
    Created,
    /// Gone, or in another life.
    Deleted,
    /// A condition has a status.
    Condition {
        /// The condition's type; case does not count.
        name: String,
        /// The status, such as `True`; case does not count.
        status: String,
    },
    /// Every value at a path passes a test, and there is at least one.
    Field {
        /// Where the values are.
        path: JsonPath,
        /// What they have to be.
        test: ValueTest,
    },
}

/// Why a text is no goal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// It begins like no goal.
    #[error("`{text}` is nothing to wait for{}; it is one of {NAMES}", meant(*near))]
    Unknown {
        /// What was written.
        text: String,
        /// The name that is closest to it.
        near: Option<&'static str>,
    },
    /// The condition has no name.
    #[error("`{0}` names no condition, as `condition=Ready` or `condition=Ready=False` does")]
    NoCondition(String),
    /// There is no path.
    #[error(
        "`{0}` names no path, as `jsonpath={{.status.phase}}=Bound` or `field=spec.replicas` does"
    )]
    NoPath(String),
    /// The path cannot be read.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The test behind the path cannot be read.
    #[error(transparent)]
    Test(#[from] ValueTestError),
}

/// A kind that has no rollout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} has no rollout to wait for; only deployment.apps, statefulset.apps and daemonset.apps have"
)]
pub struct NoRollout(pub Kind);

const NAMES: &str = "ready, rollout, create, delete, condition=…, jsonpath=… and field=…";

fn meant(near: Option<&'static str>) -> String {
    near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default()
}

// === impl Goal ===

impl Goal {
    /// Returns whether objects of a kind can reach it at all.
    pub(crate) fn fits(&self, kind: &Kind) -> Result<(), NoRollout> {
        let rolls = ["Deployment", "StatefulSet", "DaemonSet"];
        let rolls = rolls.iter().any(|name| kind.is("apps", name));
        if *self == Self::Rollout && !rolls { Err(NoRollout(kind.clone())) } else { Ok(()) }
    }

    fn condition(text: &str) -> Result<Self, GoalError> {
        let (name, status) = text.split_once('=').unwrap_or((text, "True"));
        if name.is_empty() || status.is_empty() {
            return Err(GoalError::NoCondition(format!("condition={text}")));
        }
        Ok(Self::Condition { name: name.to_owned(), status: status.to_owned() })
    }

    fn field(text: &str) -> Result<Self, GoalError> {
        let (path, rest) = JsonPath::prefix(text)?;
        Ok(Self::Field { path, test: rest.parse()? })
    }
}

impl FromStr for Goal {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        match text.split_once('=') {
            None if text == "ready" => Ok(Self::Ready),
            None if text == "rollout" => Ok(Self::Rollout),
            None if text == "create" => Ok(Self::Created),
            None if text == "delete" => Ok(Self::Deleted),
            None if text == "condition" => Err(GoalError::NoCondition(text.to_owned())),
            None if ["jsonpath", "field"].contains(&text) => {
                Err(GoalError::NoPath(text.to_owned()))
            }
            Some(("condition", rest)) => Self::condition(rest),
            Some(("jsonpath" | "field", rest)) => Self::field(rest),
            _ => {
                let names =
                    ["ready", "rollout", "create", "delete", "condition", "jsonpath", "field"];
                let word = text.split_once('=').map_or(text, |(word, _)| word);
                Err(GoalError::Unknown { text: text.to_owned(), near: nearest(word, names) })
            }
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Rollout => f.write_str("rollout"),
            Self::Created => f.write_str("create"),
            Self::Deleted => f.write_str("delete"),
            Self::Condition { name, status } => write!(f, "condition={name}={status}"),
            Self::Field { path, test } => write!(f, "jsonpath={path}{test}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read_and_written() {
        for text in [
            "ready",
            "rollout",
            "create",
            "delete",
            "condition=Ready=True",
            "condition=Ready=False",
            "jsonpath={.status.phase}=Running",
            "jsonpath={.status.loadBalancer.ingress[0].ip}",
            "jsonpath={.status.readyReplicas}>2",
            "jsonpath={.status.readyReplicas}>=2",
            "jsonpath={.status.version}~^v1\\.",
            r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}=True"#,
        ] {
            assert_eq!(text.parse::<Goal>().unwrap().to_string(), text);
        }
        let condition = "condition=Ready".parse::<Goal>().unwrap();
        assert_eq!(condition.to_string(), "condition=Ready=True");
        let field = "field=status.phase=Bound".parse::<Goal>().unwrap();
        assert_eq!(field.to_string(), "jsonpath=status.phase=Bound");
    }

    #[test]
    fn mistakes_are_named() {
        let table = [
            ("redy", "`redy` is nothing to wait for, did you mean `ready`?; it is one of"),
            ("deleted", "`deleted` is nothing to wait for, did you mean `delete`?; it is one of"),
            ("condition", "`condition` names no condition, as `condition=Ready` or"),
            ("field", "`field` names no path, as `jsonpath={.status.phase}=Bound` or"),
            (
                "conditions=Ready",
                "`conditions=Ready` is nothing to wait for, did you mean `condition`?",
            ),
            ("xyzzy", "`xyzzy` is nothing to wait for; it is one of ready, rollout, create"),
            ("condition=", "`condition=` names no condition"),
            ("condition=Ready=", "`condition=Ready=` names no condition"),
            ("jsonpath={.a", "`{.a` is not a path: `{` is not closed at character 3"),
            ("jsonpath={.a}>many", "`>many` does not compare with a number"),
            ("jsonpath={.a}=", "`=` is followed by nothing"),
            ("jsonpath={.a}~(", "`(` is not a pattern"),
            ("jsonpath={.a}?", "`?` is no test"),
        ];
        for (text, wanted) in table {
            let error = text.parse::<Goal>().unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn only_some_kinds_roll_out() {
        let kind = |api_version, kind: &str| Kind::new(api_version, kind).unwrap();
        assert_eq!(Goal::Rollout.fits(&kind("apps/v1", "StatefulSet")), Ok(()));
        let error = Goal::Rollout.fits(&kind("batch/v1", "Job")).unwrap_err();
        assert!(error.to_string().starts_with("job.batch has no rollout to wait for"), "{error}");
        assert_eq!(Goal::Ready.fits(&kind("batch/v1", "Job")), Ok(()));
    }
}
