//! Placement groups, which keep servers on different hosts.

use serde::Deserialize;
use serde_json::{Value, json};

use super::creation::Creation;
use super::{Id, Kind, Resource, Server};
use crate::Labels;

/// A group of servers that are kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PlacementGroup {
    /// Its id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// Its servers, at most ten.
    #[serde(default)]
    pub servers: Vec<Id<Server>>,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// The wish for a placement group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatePlacementGroup {
    /// Its name.
    pub name: String,
    /// Its labels; the cluster's id is added.
    pub labels: Labels,
}

impl Resource for PlacementGroup {
    const KIND: Kind = Kind::PlacementGroup;

    fn id(&self) -> Id<Self> {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl Creation for CreatePlacementGroup {
    type Resource = PlacementGroup;

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn body(&self, labels: &Labels) -> Value {
        json!({ "name": self.name, "type": "spread", "labels": labels })
    }
}
