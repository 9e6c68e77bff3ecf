//! Placement groups, which keep servers on different hosts.

use events::{Call, Made};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{One, made};
use super::client::Pass;
use super::wish::named;
use super::{Hetzner, HetznerError, Id, Kind, Listed, Resource, Server, Wish};
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

impl Listed for PlacementGroup {
    const SINGULAR: &'static str = "placement_group";
    const PLURAL: &'static str = "placement_groups";
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

impl CreatePlacementGroup {
    fn body(&self, labels: &Labels) -> Value {
        json!({ "name": self.name, "type": "spread", "labels": labels })
    }
}

impl Wish for CreatePlacementGroup {
    fn call(&self) -> Call {
        named("create placement group", &self.name, &self.body(&self.labels))
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        Ok(hetzner.find::<PlacementGroup>(&self.name).await?.map(|found| made(&*found)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let body = self.body(&hetzner.claim(&self.labels));
        let one: One<PlacementGroup> = hetzner.post(pass, "/placement_groups", &body).await?;
        Ok(one.made())
    }
}
