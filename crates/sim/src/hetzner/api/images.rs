//! Changing images, and making snapshots.

use serde::Deserialize;
use serde_json::json;

use super::call::{Call, Changed, Reply};
use super::generic::{self, subject};
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::resources::{Image, ImageStatus, Server};
use crate::hetzner::selector::{Labels, check_labels};
use crate::hetzner::shelf::Card;

/// `PUT /images/{id}`
pub(super) fn update(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Update {
        description: Option<String>,
        labels: Option<Labels>,
    }
    let Update { description, labels } = call.read()?;
    check_labels(labels.as_ref().unwrap_or(&Labels::new()))?;
    let image = project.images.get_mut(call.id())?;
    image.description = description.unwrap_or_else(|| image.description.clone());
    image.card.labels = labels.unwrap_or_else(|| image.card.labels.clone());
    let view = project.view::<Image>(call.id())?;
    Ok(Reply::ok(json!({ "image": view })).about(subject::<Image>(project, call.id())))
}

/// `POST /servers/{id}/actions/create_image`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        #[serde(rename = "type")]
        kind: Option<String>,
        description: Option<String>,
        labels: Option<Labels>,
    }
    let Order { kind, description, labels } = call.read()?;
    let labels = labels.unwrap_or_default();
    check_labels(&labels)?;
    generic::check::<Server>(project, call.id())?;
    if kind.as_deref() == Some("backup") {
        return Err(Refusal::not_implemented("a backup"));
    }
    let (id, created) = (project.new_id(), project.clock.second());
    let server = project.servers.get(call.id())?;
    project.images.put(Image {
        card: Card { id, name: String::new(), labels, created, protected: false },
        description: description.unwrap_or_else(|| server.card.name.clone()),
        architecture: server.kind.architecture,
        status: ImageStatus::Creating,
        disk_size: server.kind.disk,
        created_from: Some((server.card.id, server.card.name.clone())),
    });
    let resources = [Reference::to::<Server>(call.id()), Reference::to::<Image>(id)];
    let step = Step::new("create_image", &resources, project.delays.create_image)
        .then(move |project| {
            let status = if project.knobs.stuck_snapshots {
                ImageStatus::Creating
            } else {
                ImageStatus::Available
            };
            if let Some(image) = project.images.find_mut(id) {
                image.status = status;
            }
        })
        .or_else(move |project| drop(project.images.remove(id)));
    let action = project.start_one(step);
    generic::created::<Image>(project, id, Some(("action", action)))
}
