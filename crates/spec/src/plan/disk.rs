//! The disk that Talos is installed on.

use std::fmt;

use serde::Serialize;

use crate::cluster::{Cluster, DiskSelector, DiskType, Install, Machine, NodeGroup};
use crate::read::Spanned;
use crate::scalar::{Bytes, FilePath, Text, Word as _};

/// The disk that Talos is installed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InstallDisk {
    /// A device.
    Disk(FilePath),
    /// The device that fits.
    DiskSelector(DiskTraits),
}

/// What a disk must be like; all that is set must fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskTraits {
    /// At least this large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_size: Option<Bytes>,
    /// At most this large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<Bytes>,
    /// What it is made of.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub disk_type: Option<DiskType>,
    /// Its model; `*` matches anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// Its serial number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<Text>,
    /// Its world-wide identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wwid: Option<Text>,
}

impl InstallDisk {
    /// What the machine says, or else its group, or else the file for all nodes.
    pub(super) fn of(cluster: &Cluster, group: &NodeGroup, machine: &Machine) -> Option<Self> {
        let said = [&machine.install, &group.install, &cluster.talos.install];
        said.into_iter().flatten().next().and_then(Self::asked)
    }

    fn asked(install: &Install) -> Option<Self> {
        let disk = install.disk.as_ref().map(|disk| Self::Disk(disk.value.clone()));
        disk.or_else(|| Some(Self::DiskSelector(DiskTraits::of(install.disk_selector.as_ref()?))))
    }
}

impl DiskTraits {
    fn of(selector: &DiskSelector) -> Self {
        let text = |text: &Option<Spanned<Text>>| text.as_ref().map(|text| text.value.clone());
        Self {
            min_size: selector.min_size.as_ref().map(|size| size.value),
            max_size: selector.max_size.as_ref().map(|size| size.value),
            disk_type: selector.disk_type.as_ref().map(|disk_type| disk_type.value),
            model: text(&selector.model),
            serial: text(&selector.serial),
            wwid: text(&selector.wwid),
        }
    }
}

impl fmt::Display for InstallDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(disk) => write!(f, "disk {}", disk.as_str()),
            Self::DiskSelector(traits) => traits.fmt(f),
        }
    }
}

impl fmt::Display for DiskTraits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.disk_type.map_or("any", |disk_type| disk_type.word()))?;
        f.write_str(" disk")?;
        match (self.min_size, self.max_size) {
            (Some(min), Some(max)) => write!(f, " of {min} to {max}")?,
            (Some(min), None) => write!(f, " of at least {min}")?,
            (None, Some(max)) => write!(f, " of at most {max}")?,
            (None, None) => {}
        }
        let names = [(&self.model, "model"), (&self.serial, "serial"), (&self.wwid, "wwid")];
        for (name, what) in names.into_iter().filter_map(|(it, what)| Some((it.as_ref()?, what))) {
            write!(f, " with {what} {}", name.as_str())?;
        }
        Ok(())
    }
}
