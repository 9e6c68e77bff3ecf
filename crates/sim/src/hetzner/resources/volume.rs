//! Volumes.

use serde_json::{Value, json};

use super::Server;
use crate::hetzner::catalog::Location;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A disk that outlives its server.
#[derive(Debug)]
pub(crate) struct Volume {
    pub(crate) card: Card,
    pub(crate) size: u32,
    pub(crate) location: &'static Location,
    pub(crate) server: Option<i64>,
    pub(crate) format: Option<String>,
    /// Whether its creation has ended.
    pub(crate) ready: bool,
}

impl Volume {
    /// Returns the volumes of a server.
    pub(crate) fn of(server: &Server, project: &Project) -> Vec<i64> {
        let ours = project.volumes.iter().filter(|it| it.server == Some(server.card.id));
        ours.map(|volume| volume.card.id).collect()
    }
}

impl Resource for Volume {
    const KIND: &'static str = "volume";
    const PLURAL: &'static str = "volumes";
    const FILTERS: &'static [&'static str] = &["status"];

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.volumes
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.volumes
    }

    fn view(&self, _: &Project) -> Value {
        json!({
            "id": self.card.id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "protection": { "delete": self.card.protected },
            "size": self.size,
            "location": self.location.view(),
            "server": self.server,
            "status": if self.ready { "available" } else { "creating" },
            "format": self.format,
            "linux_device": format!("/dev/disk/by-id/scsi-0HC_Volume_{}", self.card.id),
        })
    }

    fn check_unused(&self, _: &Project) -> Result<(), Refusal> {
        match self.server {
            None => Ok(()),
            Some(server) => {
                let message = format!("volume is still attached to server {server}");
                Err(Code::ResourceInUse.because(message))
            }
        }
    }
}
