//! Placement groups.

use serde_json::{Value, json};

use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A group whose servers stand on different hosts.
#[derive(Debug)]
pub(crate) struct PlacementGroup {
    pub(crate) card: Card,
}

/// How many servers a group that spreads them can have.
pub(crate) const SPREAD_LIMIT: usize = 10;

impl PlacementGroup {
    pub(crate) fn servers(&self, project: &Project) -> Vec<i64> {
        let ours = project.servers.iter().filter(|it| it.placement_group == Some(self.card.id));
        ours.map(|server| server.card.id).collect()
    }
}

impl Resource for PlacementGroup {
    const KIND: &'static str = "placement_group";
    const PLURAL: &'static str = "placement_groups";
    const FILTERS: &'static [&'static str] = &["type"];

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.placement_groups
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.placement_groups
    }

    fn view(&self, project: &Project) -> Value {
        json!({
            "id": self.card.id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "type": "spread",
            "servers": self.servers(project),
        })
    }

    fn check_unused(&self, project: &Project) -> Result<(), Refusal> {
        if self.servers(project).is_empty() {
            return Ok(());
        }
        Err(Code::ResourceInUse.because("placement group still has servers"))
    }
}
