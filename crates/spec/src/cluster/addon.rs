//! What is installed into the cluster.

use serde::Serialize;

use super::addon_options::{AddonOptions, CILIUM, FLUX, SEALED_SECRETS};
use super::proxmox::PROXMOX_FEATURE;
use crate::read::{Field, Fields, Kind, Node, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{FilePath, HttpsUrl, ResourceName, Scalar, Version, Word};

/// The addons that were asked for, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Addons {
    at: Option<Span>,
    entries: Vec<Addon>,
}

/// One addon.
#[derive(Clone, Debug)]
pub struct Addon {
    /// Which one, and where its settings start.
    pub name: Spanned<AddonName>,
    /// Its version, if not the one that fits by default.
    pub version: Option<Spanned<Version>>,
    /// Its namespace, if not its usual one.
    pub namespace: Option<Spanned<ResourceName>>,
    /// Helm values, written here.
    pub values: Option<Spanned<Node>>,
    /// Helm values in files; later ones win, and those written here win over all.
    pub values_files: Vec<Spanned<FilePath>>,
    /// Another chart than the catalogue's.
    pub chart: Option<Chart>,
    /// Manifests that were rendered already, instead of a chart.
    pub rendered: Option<Spanned<FilePath>>,
    /// How it gets into the cluster.
    pub delivery: Option<Spanned<Delivery>>,
    /// Who installs it.
    pub by: Option<Spanned<By>>,
    /// What only this addon has.
    pub options: AddonOptions,
}

/// The addons of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants are the projects' own names")]
pub enum AddonName {
    Cilium,
    HcloudCcm,
    HcloudCsi,
    ProxmoxCsi,
    MetricsServer,
    SealedSecrets,
    Flux,
}

/// A chart and where it is found.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Where the settings start.
    pub at: Span,
    /// The chart repository.
    pub repository: Spanned<HttpsUrl>,
    /// The chart's name.
    pub name: Spanned<ResourceName>,
}

/// How an addon gets into the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// By server-side apply, once the API answers.
    Apply,
    /// In the machine config, so that Talos applies it at first boot.
    Inline,
}

/// Who installs an addon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// This tool.
    Seaworthy,
    /// The repository that Flux follows; this tool only proves the result.
    Gitops,
}

/// What to do where an addon needs other settings than its own.
pub(super) const INSTEAD: &str = "render the chart yourself, and list it under `manifests`";

/// The settings that all addons share.
pub(super) const ADDON: &[Field] = &[
    optional(
        "version",
        Kind::Scalar(Version::FORMAT),
        "The version of the chart (of the release, for flux). Default: one that fits the Kubernetes version.",
    ),
    optional(
        "namespace",
        Kind::Scalar(ResourceName::FORMAT),
        "The namespace, if not the usual one.",
    ),
    optional("values", Kind::Free, "Helm values that win over ours. No secrets.").not_yet(INSTEAD),
    optional(
        "valuesFiles",
        Kind::Scalars(FilePath::FORMAT),
        "Files with helm values; later ones win, and `values` wins over all.",
    )
    .not_yet(INSTEAD),
    optional("chart", Kind::Map(&CHART), "Another chart than the catalogue's.").not_yet(INSTEAD),
    optional(
        "rendered",
        Kind::Scalar(FilePath::FORMAT),
        "A file or folder of manifests that were rendered already, instead of a chart.",
    )
    .not_yet("list the file under `manifests` instead"),
    optional(
        "delivery",
        Kind::Scalar(Delivery::FORMAT),
        "How it gets into the cluster: `apply` once the API answers, or `inline` in the machine config (no secrets). Default: apply.",
    )
    .not_yet("remove it: addons are applied once the API answers"),
    optional(
        "by",
        Kind::Scalar(By::FORMAT),
        "Who installs it: `seaworthy`, or `gitops` if the repository does; its gate runs either way. Default: seaworthy.",
    ),
];

static CHART: Shape = Shape {
    name: "Chart",
    doc: "A helm chart and where it is found.",
    groups: &[&[
        required("repository", Kind::Scalar(HttpsUrl::FORMAT), "The chart repository."),
        required("name", Kind::Scalar(ResourceName::FORMAT), "The chart's name."),
    ]],
    pick: Pick::Any,
};

pub(crate) static ADDONS: Shape = Shape {
    name: "Addons",
    doc: "What is installed into the cluster. `{}` takes the defaults.",
    groups: &[&[
        optional("cilium", Kind::Map(&CILIUM), "Cilium: the pod network, without kube-proxy."),
        optional(
            "hcloud-ccm",
            Kind::Map(&HCLOUD_CCM),
            "Hetzner's cloud controller: node addresses, routes, load balancers.",
        ),
        optional(
            "hcloud-csi",
            Kind::Map(&HCLOUD_CSI),
            "Hetzner's storage driver: volumes for pods.",
        ),
        optional(
            "proxmox-csi",
            Kind::Map(&PROXMOX_CSI),
            "Proxmox' storage driver: volumes for pods.",
        )
        .waits_for(PROXMOX_FEATURE, "remove it"),
        optional(
            "metrics-server",
            Kind::Map(&METRICS_SERVER),
            "Metrics for `kubectl top` and autoscaling.",
        ),
        optional(
            "sealed-secrets",
            Kind::Map(&SEALED_SECRETS),
            "Sealed Secrets: secrets that can lie in a repository.",
        ),
        optional("flux", Kind::Map(&FLUX), "Flux: the cluster follows a git repository."),
    ]],
    pick: Pick::Any,
};

static HCLOUD_CCM: Shape = plain("HcloudCcm", "Hetzner's cloud controller.");

static HCLOUD_CSI: Shape = plain("HcloudCsi", "Hetzner's storage driver.");

static PROXMOX_CSI: Shape = plain("ProxmoxCsi", "Proxmox' storage driver.");

static METRICS_SERVER: Shape = plain("MetricsServer", "Metrics for `kubectl top` and autoscaling.");

const fn plain(name: &'static str, doc: &'static str) -> Shape {
    Shape { name, doc, groups: &[ADDON], pick: Pick::Any }
}

impl Addons {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let mut entries: Vec<Addon> = AddonName::ALL
            .iter()
            .filter_map(|name| Some(Addon::decode(*name, fields.map(name.word())?)))
            .collect();
        entries.sort_by_key(|addon| addon.name.span);
        let at = Some(fields.at());
        fields.finish();
        Self { at, entries }
    }

    /// Where they are written, if they are.
    pub fn at(&self) -> Option<Span> {
        self.at
    }

    /// The addon of this name, if it was asked for.
    pub fn get(&self, name: AddonName) -> Option<&Addon> {
        self.entries.iter().find(|addon| addon.name.value == name)
    }

    /// All addons, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Addon> {
        self.entries.iter()
    }
}

impl Addon {
    fn decode(name: AddonName, fields: Fields<'_>) -> Self {
        let addon = Self {
            name: Spanned::new(name, fields.at()),
            version: fields.optional("version"),
            namespace: fields.optional("namespace"),
            values: fields.free("values"),
            values_files: fields.list("valuesFiles"),
            chart: fields.map("chart").map(Chart::decode),
            rendered: fields.optional("rendered"),
            delivery: fields.optional("delivery"),
            by: fields.optional("by"),
            options: AddonOptions::decode(name, &fields),
        };
        fields.finish();
        addon
    }

    /// Whether the repository installs it.
    pub fn is_by_gitops(&self) -> bool {
        self.by.as_ref().is_some_and(|by| by.value == By::Gitops)
    }

    /// A boolean among the helm values written here.
    pub(crate) fn value(&self, path: &[&str]) -> Option<bool> {
        let root = &self.values.as_ref()?.value;
        path.iter().try_fold(root, |node, key| node.get(key))?.as_bool()
    }
}

impl Chart {
    fn decode(fields: Fields<'_>) -> Self {
        let chart = Self {
            at: fields.at(),
            repository: fields.required("repository"),
            name: fields.required("name"),
        };
        fields.finish();
        chart
    }
}

impl AddonName {
    /// The key in the cluster file.
    pub fn as_str(self) -> &'static str {
        self.word()
    }
}

impl std::fmt::Display for AddonName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl Word for AddonName {
    const WHAT: &'static str = "addon";
    const ALL: &'static [Self] = &[
        Self::Cilium,
        Self::HcloudCcm,
        Self::HcloudCsi,
        Self::ProxmoxCsi,
        Self::MetricsServer,
        Self::SealedSecrets,
        Self::Flux,
    ];
    const WORDS: &'static [&'static str] = &[
        "cilium",
        "hcloud-ccm",
        "hcloud-csi",
        "proxmox-csi",
        "metrics-server",
        "sealed-secrets",
        "flux",
    ];
}

impl Word for Delivery {
    const WHAT: &'static str = "delivery";
    const ALL: &'static [Self] = &[Self::Apply, Self::Inline];
    const WORDS: &'static [&'static str] = &["apply", "inline"];
}

impl Word for By {
    const WHAT: &'static str = "installer";
    const ALL: &'static [Self] = &[Self::Seaworthy, Self::Gitops];
    const WORDS: &'static [&'static str] = &["seaworthy", "gitops"];
}
