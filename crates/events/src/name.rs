//! Names: stages, nodes, checks, and the unit of work that two of them make.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of a stage, such as `etcd`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct StageName(Arc<str>);

/// The name of a node, which is also its host name and its server's name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct NodeName(Arc<str>);

/// The name of a gate or a probe.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct CheckName(Arc<str>);

/// One piece of work: a stage as a whole, or a stage on one node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The stage.
    pub stage: StageName,
    /// The node, where the stage works node by node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
}

macro_rules! text_name {
    ($name:ident) => {
        impl $name {
            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

text_name!(StageName);
text_name!(NodeName);
text_name!(CheckName);

// === impl Unit ===

impl Unit {
    /// A stage that works on the cluster as a whole.
    pub fn whole(stage: impl Into<StageName>) -> Self {
        Self { stage: stage.into(), node: None }
    }

    /// A stage on one node.
    pub fn on(stage: impl Into<StageName>, node: impl Into<NodeName>) -> Self {
        Self { stage: stage.into(), node: Some(node.into()) }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Some(node) => write!(f, "{} on {node}", self.stage),
            None => write!(f, "{}", self.stage),
        }
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unit({self})")
    }
}
