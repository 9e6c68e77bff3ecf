//! Images: the system's, and the project's snapshots.

use serde_json::{Value, json};

use crate::hetzner::machines::MachineImage;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::selector::Labels;
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// What a server's disk is made from.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// A snapshot's card has the name "", which clients see as null.
    pub(crate) card: Card,
    pub(crate) description: String,
    /// `x86` or `arm`.
    pub(crate) architecture: &'static str,
    pub(crate) status: ImageStatus,
    pub(crate) disk_size: u32,
    /// The server that a snapshot was made from.
    pub(crate) created_from: Option<(i64, String)>,
}

/// Whether an image can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageStatus {
    /// It is being made.
    Creating,
    /// It can be used.
    Available,
}

impl Image {
    pub(crate) fn is_snapshot(&self) -> bool {
        self.card.name.is_empty()
    }

    pub(crate) fn facts(&self) -> MachineImage {
        MachineImage {
            id: self.card.id,
            description: self.description.clone(),
            architecture: self.architecture.to_owned(),
            labels: self.card.labels.clone(),
        }
    }

    /// Returns it as a client sees it, which needs nothing else.
    pub(crate) fn shown(&self) -> Value {
        let snapshot = self.is_snapshot();
        let from = self.created_from.as_ref();
        json!({
            "id": self.card.id,
            "type": if snapshot { "snapshot" } else { "system" },
            "status": match self.status {
                ImageStatus::Creating => "creating",
                ImageStatus::Available => "available",
            },
            "name": (!snapshot).then_some(&self.card.name),
            "description": self.description,
            "image_size": (snapshot && self.status == ImageStatus::Available).then_some(0.4),
            "disk_size": self.disk_size,
            "created": self.card.created,
            "created_from": from.map(|(id, name)| json!({ "id": id, "name": name })),
            "bound_to": null,
            "os_flavor": if snapshot { "unknown" } else { flavor(&self.card.name) },
            "os_version": null,
            "architecture": self.architecture,
            "rapid_deploy": !snapshot,
            "protection": { "delete": self.card.protected },
            "deprecated": null,
            "deprecation": null,
            "deleted": null,
            "labels": self.card.labels,
        })
    }
}

impl Resource for Image {
    const KIND: &'static str = "image";
    const PLURAL: &'static str = "images";
    const FILTERS: &'static [&'static str] = &["type", "status", "architecture", "bound_to"];

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.images
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.images
    }

    fn view(&self, _: &Project) -> Value {
        self.shown()
    }

    fn check_unused(&self, _: &Project) -> Result<(), Refusal> {
        if self.is_snapshot() {
            return Ok(());
        }
        Err(Code::Protected.because("system images cannot be deleted"))
    }
}

/// Makes the images that every project sees.
pub(crate) fn system_images(project: &mut Project) -> Vec<Image> {
    let names = ["debian-13", "ubuntu-24.04"];
    let kinds = names.into_iter().flat_map(|name| [(name, "x86"), (name, "arm")]);
    kinds
        .map(|(name, architecture)| Image {
            card: Card {
                id: project.new_id(),
                name: name.to_owned(),
                labels: Labels::new(),
                created: project.clock.second(),
                protected: false,
            },
            description: name.replace('-', " "),
            architecture,
            status: ImageStatus::Available,
            disk_size: 5,
            created_from: None,
        })
        .collect()
}

fn flavor(name: &str) -> &str {
    name.split('-').next().unwrap_or("unknown")
}
