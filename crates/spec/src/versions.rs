//! Which versions fit together.
//!
//! Facts, not opinions: Talos' own compatibility table, the versions that the
//! projects test with each Kubernetes release, and releases that are known to
//! break clusters.

use crate::cluster::AddonName;
use crate::scalar::Version;

/// The Kubernetes releases that a Talos release runs.
#[derive(Clone, Copy, Debug)]
pub struct TalosRelease {
    /// Major and minor number of Talos.
    pub talos: (u64, u64),
    /// The oldest Kubernetes release.
    pub oldest: (u64, u64),
    /// The newest Kubernetes release.
    pub newest: (u64, u64),
}

/// What a Kubernetes release needs of an addon.
#[derive(Clone, Debug)]
pub struct Need {
    /// Major and minor number of Kubernetes.
    pub kubernetes: (u64, u64),
    /// The addon.
    pub addon: AddonName,
    /// The oldest version that supports the release.
    pub at_least: Version,
    /// The version that is installed if the file names none.
    pub default: Version,
}

/// A release that is known to break clusters.
#[derive(Clone, Debug)]
pub struct BadRelease {
    /// The addon.
    pub addon: AddonName,
    /// The first bad version.
    pub from: Version,
    /// The last bad version.
    pub to: Version,
    /// How certain it is.
    pub verdict: Verdict,
    /// What happens.
    pub reason: &'static str,
}

/// What is done about a bad release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is refused.
    Denied,
    /// It is warned about.
    Doubtful,
}

/// Talos' own compatibility table.
pub const TALOS: [TalosRelease; 7] = [
    TalosRelease { talos: (1, 8), oldest: (1, 26), newest: (1, 31) },
    TalosRelease { talos: (1, 9), oldest: (1, 27), newest: (1, 32) },
    TalosRelease { talos: (1, 10), oldest: (1, 28), newest: (1, 33) },
    TalosRelease { talos: (1, 11), oldest: (1, 29), newest: (1, 34) },
    TalosRelease { talos: (1, 12), oldest: (1, 30), newest: (1, 35) },
    TalosRelease { talos: (1, 13), oldest: (1, 31), newest: (1, 36) },
    TalosRelease { talos: (1, 14), oldest: (1, 32), newest: (1, 37) },
];

/// The Talos version that new files get.
pub const DEFAULT_TALOS: Version = Version::new(1, 14, 1);

/// The Kubernetes version that new files get.
pub const DEFAULT_KUBERNETES: Version = Version::new(1, 36, 3);

/// Flux 2.9 dropped everything older.
const FLUX_NEEDS: (u64, u64) = (1, 33);

/// The addons whose versions depend on Kubernetes', by Kubernetes release.
pub static NEEDS: [Need; 9] = [
    need((1, 34), AddonName::Cilium, Version::new(1, 19, 0), Version::new(1, 19, 6)),
    need((1, 34), AddonName::HcloudCcm, Version::new(1, 27, 0), Version::new(1, 35, 0)),
    need((1, 34), AddonName::HcloudCsi, Version::new(2, 18, 0), Version::new(2, 22, 1)),
    need((1, 35), AddonName::Cilium, Version::new(1, 19, 2), Version::new(1, 19, 6)),
    need((1, 35), AddonName::HcloudCcm, Version::new(1, 30, 0), Version::new(1, 35, 0)),
    need((1, 35), AddonName::HcloudCsi, Version::new(2, 19, 0), Version::new(2, 22, 1)),
    need((1, 36), AddonName::Cilium, Version::new(1, 20, 0), Version::new(1, 20, 0)),
    need((1, 36), AddonName::HcloudCcm, Version::new(1, 31, 0), Version::new(1, 35, 0)),
    need((1, 36), AddonName::HcloudCsi, Version::new(2, 21, 0), Version::new(2, 22, 1)),
];

/// Releases that are known to break clusters.
pub static BAD: [BadRelease; 2] = [
    BadRelease {
        addon: AddonName::Cilium,
        from: Version::new(1, 19, 0),
        to: Version::new(1, 19, 1),
        verdict: Verdict::Denied,
        reason: "its agents hang until every node is rebooted (cilium#44216)",
    },
    BadRelease {
        addon: AddonName::Cilium,
        from: Version::new(1, 19, 2),
        to: Version::new(1, 19, 4),
        verdict: Verdict::Doubtful,
        reason: "it was reported to cut Talos hosts off the network when it replaces kube-proxy (cilium#46010)",
    },
];

const fn need(
    kubernetes: (u64, u64),
    addon: AddonName,
    at_least: Version,
    default: Version,
) -> Need {
    Need { kubernetes, addon, at_least, default }
}

/// What a Kubernetes version needs of an addon, if that is known.
pub fn need_of(addon: AddonName, kubernetes: &Version) -> Option<Need> {
    NEEDS.iter().find(|need| need.addon == addon && need.kubernetes == kubernetes.minor()).cloned()
}

/// The entry of a release among the bad ones.
pub fn bad_release(addon: AddonName, version: &Version) -> Option<BadRelease> {
    let bad = |bad: &&BadRelease| bad.addon == addon && bad.from <= *version && *version <= bad.to;
    BAD.iter().find(bad).cloned()
}

/// The version of an addon that fits a Kubernetes version.
///
/// For a Kubernetes release that the table does not have, the nearest one
/// decides: the oldest for older, the newest for newer.
pub fn default_version(addon: AddonName, kubernetes: &Version) -> Version {
    let rows = || NEEDS.iter().filter(|need| need.addon == addon);
    let fitting =
        rows().find(|need| need.kubernetes >= kubernetes.minor()).or_else(|| rows().next_back());
    match (fitting, addon) {
        (Some(need), _) => need.default.clone(),
        (None, AddonName::Flux) => Version::new(2, 9, 4),
        (None, AddonName::SealedSecrets) => Version::new(2, 18, 5),
        (None, AddonName::MetricsServer) => Version::new(3, 13, 1),
        (None, AddonName::ProxmoxCsi) => Version::new(0, 19, 1),
        (None, AddonName::Cilium | AddonName::HcloudCcm | AddonName::HcloudCsi) => {
            unreachable!("{addon} has rows in the table")
        }
    }
}

/// The row of a Talos release.
pub fn talos_release(talos: &Version) -> Option<TalosRelease> {
    TALOS.into_iter().find(|release| release.talos == talos.minor())
}

/// How a release is written in messages.
pub(crate) fn release((major, minor): (u64, u64)) -> String {
    format!("v{major}.{minor}")
}

/// The newest Kubernetes release that the addon table has.
pub fn newest_kubernetes() -> (u64, u64) {
    NEEDS.iter().map(|need| need.kubernetes).max().unwrap_or_default()
}

/// The oldest Kubernetes release that an addon takes, whatever its version.
pub fn oldest_kubernetes(addon: AddonName) -> Option<(u64, u64)> {
    (addon == AddonName::Flux).then_some(FLUX_NEEDS)
}

impl TalosRelease {
    /// Whether it runs a Kubernetes version.
    pub fn runs(&self, kubernetes: &Version) -> bool {
        (self.oldest..=self.newest).contains(&kubernetes.minor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_fits_its_row_and_is_not_bad() {
        for need in &NEEDS {
            assert!(need.default >= need.at_least, "{need:?}");
            assert!(bad_release(need.addon, &need.default).is_none(), "{need:?}");
        }
    }

    #[test]
    fn bad_releases_end_where_they_say() {
        for (patch, verdict) in [
            (0, Some(Verdict::Denied)),
            (1, Some(Verdict::Denied)),
            (2, Some(Verdict::Doubtful)),
            (4, Some(Verdict::Doubtful)),
            (5, None),
        ] {
            let found = bad_release(AddonName::Cilium, &Version::new(1, 19, patch));
            assert_eq!(found.map(|bad| bad.verdict), verdict, "1.19.{patch}");
        }
        assert!(bad_release(AddonName::Cilium, &Version::new(1, 18, 10)).is_none());
        assert!(bad_release(AddonName::HcloudCcm, &Version::new(1, 19, 0)).is_none());
    }

    #[test]
    fn the_defaults_of_new_files_fit_together() {
        let release = talos_release(&DEFAULT_TALOS).expect("the default is in the table");
        assert!(release.runs(&DEFAULT_KUBERNETES));
        assert_eq!(default_version(AddonName::Cilium, &DEFAULT_KUBERNETES), Version::new(1, 20, 0));
    }

    #[test]
    fn kubernetes_releases_outside_the_table_take_the_nearest_row() {
        assert_eq!(
            default_version(AddonName::Cilium, &Version::new(1, 33, 0)),
            Version::new(1, 19, 6)
        );
        assert_eq!(
            default_version(AddonName::Cilium, &Version::new(1, 37, 0)),
            Version::new(1, 20, 0)
        );
    }
}
