//! The addons that there are.

use std::fmt;

/// An addon of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the projects' own names")]
pub enum Addon {
    Cilium,
    HcloudCcm,
    HcloudCsi,
    MetricsServer,
    SealedSecrets,
    Flux,
}

impl Addon {
    /// All addons, in the order in which a cluster needs them.
    pub const ALL: [Self; 6] = [
        Self::Cilium,
        Self::HcloudCcm,
        Self::HcloudCsi,
        Self::MetricsServer,
        Self::SealedSecrets,
        Self::Flux,
    ];

    /// Returns its key in the cluster file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cilium => "cilium",
            Self::HcloudCcm => "hcloud-ccm",
            Self::HcloudCsi => "hcloud-csi",
            Self::MetricsServer => "metrics-server",
            Self::SealedSecrets => "sealed-secrets",
            Self::Flux => "flux",
        }
    }

    /// Returns the addon of a key in the cluster file.
    pub fn named(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|addon| addon.as_str() == key)
    }
}

impl fmt::Display for Addon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
