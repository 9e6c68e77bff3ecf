//! Ordering placement groups.

use serde::Deserialize;
use serde_json::Value;

use super::call::{Call, Changed};
use super::generic;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::resources::PlacementGroup;
use crate::hetzner::selector::Labels;

/// `POST /placement_groups`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        name: String,
        #[serde(rename = "type")]
        kind: String,
        labels: Option<Labels>,
    }
    let Order { name, kind, labels } = call.read()?;
    if kind != "spread" {
        return Err(Refusal::invalid("type", "must be spread"));
    }
    let card = project.new_card::<PlacementGroup>(&name, labels)?;
    let id = card.id;
    project.placement_groups.put(PlacementGroup { card });
    generic::created::<PlacementGroup>(project, id, Some(("action", Value::Null)))
}
