//! Volumes. The cluster's storage driver makes them; we only clear up.

use serde::Deserialize;

use super::{Id, Kind, Protection, Resource, Server};
use crate::Labels;

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Volume {
    /// Its id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// The server that it is attached to.
    #[serde(default)]
    pub server: Option<Id<Server>>,
    /// Its size, in gigabytes.
    #[serde(default)]
    pub size: u32,
    /// What it is protected from.
    #[serde(default)]
    pub protection: Protection,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

impl Resource for Volume {
    const KIND: Kind = Kind::Volume;

    fn id(&self) -> Id<Self> {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn is_protected(&self) -> bool {
        self.protection.delete
    }
}
