//! Images: the snapshots that servers are made from.

use serde::Deserialize;

use super::query::Query;
use super::{Hetzner, HetznerError, Id, Listed};
use crate::Labels;

/// An image.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Image {
    /// Its id.
    pub id: Id<Self>,
    /// Whether servers can be made from it.
    pub status: ImageStatus,
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// What it runs on.
    pub architecture: Architecture,
    /// The smallest disk that it fits on, in gigabytes.
    #[serde(default)]
    pub disk_size: f64,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// Whether servers can be made from an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageStatus {
    /// Not yet.
    Creating,
    /// They can.
    Available,
    /// They cannot any more.
    #[serde(other)]
    Unavailable,
}

/// The instruction set of a server or an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// x86-64.
    X86,
    /// 64-bit Arm.
    Arm,
}

impl Listed for Image {
    const SINGULAR: &'static str = "image";
    const PLURAL: &'static str = "images";
}

impl Hetzner {
    /// Lists the project's snapshots that carry all of these labels, newest first.
    ///
    /// Snapshots belong to no cluster: the next one uses them too.
    pub async fn snapshots(
        &self,
        labels: &Labels,
        architecture: Architecture,
    ) -> Result<Vec<Image>, HetznerError> {
        let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let query = Query::default()
            .with("type", "snapshot")
            .with("sort", "created:desc")
            .with("label_selector", pairs.join(","));
        let mut images: Vec<Image> = self.list("look for a snapshot", query).await?;
        images.retain(|image| {
            let carries = |(key, value)| image.labels.get(key) == Some(value);
            image.architecture == architecture && labels.iter().all(carries)
        });
        Ok(images)
    }
}
