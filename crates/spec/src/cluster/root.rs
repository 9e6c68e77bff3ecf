//! The file as a whole.

use super::addon::{ADDONS, Addons};
use super::cloud::{CLOUD, Cloud};
use super::firewall::{FIREWALL, Firewall};
use super::group::{CONTROL_PLANE, ControlPlane, POOL, Pool};
use super::kubernetes::{KUBERNETES, Kubernetes};
use super::manifest::{MANIFEST, ManifestSource};
use super::proof::{PROOF, Proof};
use super::talos::{TALOS, Talos};
use crate::plan::Stage;
use crate::read::{
    Content, Fields, Kind, Node, Pick, Problem, Shape, Span, Spanned, nearest, optional, required,
};
use crate::rules::Rule;
use crate::scalar::{
    ClusterName, Complaint, Duration, Euro, Format, Json, LabelKey, LabelValue, Scalar,
};

/// A cluster as it was asked for.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name: it starts the name of everything that is made for it.
    pub name: Spanned<ClusterName>,
    /// Labels that everything in the cloud gets besides ours.
    pub labels: Vec<(Spanned<LabelKey>, Spanned<LabelValue>)>,
    /// Where it runs.
    pub cloud: Cloud,
    /// The operating system.
    pub talos: Talos,
    /// Kubernetes itself.
    pub kubernetes: Kubernetes,
    /// The nodes that run etcd and the API.
    pub control_plane: ControlPlane,
    /// The nodes that run everything else.
    pub pools: Vec<Pool>,
    /// Who may reach the nodes from outside.
    pub firewall: Option<Firewall>,
    /// What is installed.
    pub addons: Addons,
    /// What else is applied.
    pub manifests: Vec<ManifestSource>,
    /// What it is proven with.
    pub proof: Option<Proof>,
    /// The most it may cost a month.
    pub max_monthly_eur: Option<Spanned<Euro>>,
    /// How long a gate may wait, where the default does not fit.
    pub timeouts: Vec<(Spanned<Stage>, Spanned<Duration>)>,
    /// How long everything has to stay healthy before the cluster counts as proven.
    pub stability_window: Option<Spanned<Duration>>,
}

/// The only version of the file so far.
struct ApiVersion;

/// The only kind of file so far.
struct ClusterKind;

pub(crate) static ROOT: Shape = Shape {
    name: "ClusterFile",
    doc: "A cluster that seaworthy takes from nothing to proven healthy.",
    groups: &[&[
        required(
            "apiVersion",
            Kind::Scalar(ApiVersion::FORMAT),
            "The version of this file's format.",
        ),
        required("kind", Kind::Scalar(ClusterKind::FORMAT), "What the file describes."),
        required("metadata", Kind::Map(&METADATA), "The cluster's name and labels."),
        required("spec", Kind::Map(&SPEC), "The cluster itself."),
    ]],
    pick: Pick::Any,
};

static METADATA: Shape = Shape {
    name: "Metadata",
    doc: "The cluster's name and labels.",
    groups: &[&[
        required(
            "name",
            Kind::Scalar(ClusterName::FORMAT),
            "The cluster's name, at most 32 characters. It starts the name of every server, network and firewall, so it cannot change later.",
        ),
        optional(
            "labels",
            Kind::Table { keys: LabelKey::FORMAT, values: LabelValue::FORMAT },
            "Labels for everything that is made in the cloud, besides seaworthy's own.",
        ),
    ]],
    pick: Pick::Any,
};

static SPEC: Shape = Shape {
    name: "Spec",
    doc: "The cluster itself.",
    groups: &[&[
        required("cloud", Kind::Map(&CLOUD), "Where the cluster runs: `hetzner` or `machines`."),
        required("talos", Kind::Map(&TALOS), "The operating system of the nodes."),
        required("kubernetes", Kind::Map(&KUBERNETES), "Kubernetes itself."),
        required(
            "controlPlane",
            Kind::Map(&CONTROL_PLANE),
            "The nodes that run etcd and the Kubernetes API.",
        ),
        optional(
            "pools",
            Kind::Maps(&POOL),
            "Groups of equal worker nodes. Append new pools at the end: a pool's place decides its subnet.",
        ),
        optional(
            "firewall",
            Kind::Map(&FIREWALL),
            "Who may reach the nodes from outside (Hetzner only).",
        ),
        optional(
            "addons",
            Kind::Map(&ADDONS),
            "What is installed into the cluster, each with a gate that proves it works.",
        ),
        optional(
            "manifests",
            Kind::Maps(&MANIFEST),
            "Other objects to apply, from files beside this one.",
        ),
        optional(
            "proof",
            Kind::Map(&PROOF),
            "What the network of pods is proven with, where the default does not fit.",
        ),
        optional(
            "maxMonthlyEur",
            Kind::Scalar(Euro::FORMAT),
            "Refuse to build anything that costs more than this a month.",
        ),
        optional(
            "timeouts",
            Kind::Table { keys: Stage::FORMAT, values: Duration::FORMAT },
            "How long a gate may wait, by stage, where the default does not fit.",
        ),
        optional(
            "stabilityWindow",
            Kind::Scalar(Duration::FORMAT),
            "How long everything has to stay healthy before the cluster counts as proven. Default: 2m.",
        ),
    ]],
    pick: Pick::Any,
};

impl Cluster {
    pub(crate) fn decode(root: Fields<'_>) -> Self {
        root.required::<ApiVersion>("apiVersion");
        root.required::<ClusterKind>("kind");
        let metadata = root.required_map("metadata");
        let spec = root.required_map("spec");
        let cluster = Self {
            name: metadata.required("name"),
            labels: metadata.table("labels"),
            cloud: Cloud::decode(spec.required_map("cloud")),
            talos: Talos::decode(spec.required_map("talos")),
            kubernetes: Kubernetes::decode(spec.required_map("kubernetes")),
            control_plane: ControlPlane::decode(spec.required_map("controlPlane")),
            pools: spec.maps("pools").into_iter().map(Pool::decode).collect(),
            firewall: spec.map("firewall").map(Firewall::decode),
            addons: spec.map("addons").map(Addons::decode).unwrap_or_default(),
            manifests: spec.maps("manifests").into_iter().map(ManifestSource::decode).collect(),
            proof: spec.map("proof").map(Proof::decode),
            max_monthly_eur: spec.optional("maxMonthlyEur"),
            timeouts: spec.table("timeouts"),
            stability_window: spec.optional("stabilityWindow"),
        };
        metadata.finish();
        spec.finish();
        root.finish();
        cluster
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> u32 {
        self.control_plane_count()
            + self.pools.iter().map(|pool| self.pool_count(pool)).sum::<u32>()
    }

    /// Whether everything that decides how many nodes there are could be read.
    pub(crate) fn counts_were_read(&self) -> bool {
        let counts =
            self.pools.iter().filter_map(|pool| pool.count.as_ref()).map(|count| count.span);
        let names = self.pools.iter().map(|pool| pool.name.span);
        let machines = match &self.cloud {
            Cloud::Machines(machines) => machines.nodes.as_slice(),
            Cloud::Hetzner(_) | Cloud::Proxmox(_) => &[],
        };
        let members = machines.iter().map(|machine| machine.pool.span);
        !counts.chain(names).chain(members).chain([self.cloud.at()]).any(Span::is_nowhere)
    }

    /// How many control planes there are.
    pub fn control_plane_count(&self) -> u32 {
        match (&self.cloud, &self.control_plane.count) {
            (_, Some(count)) => count.get(),
            (Cloud::Machines(machines), None) => machines.control_planes(),
            (_, None) => 1,
        }
    }

    /// How many nodes a pool has.
    pub fn pool_count(&self, pool: &Pool) -> u32 {
        match (&self.cloud, &pool.count) {
            (_, Some(count)) => count.get(),
            (Cloud::Machines(machines), None) => machines.in_pool(&pool.name),
            (_, None) => 0,
        }
    }
}

/// Says that a document describes something else, which is worth one message and not one per key.
pub(crate) fn other_kind(root: &Node) -> Option<Problem> {
    let not_ours = |at, label: &str| {
        Problem::error(Rule::OtherKind, at, "this is not a cluster file").label(label)
    };
    if let Some(at) = talos_config(root) {
        let problem = not_ours(at, "this is a Talos machine config");
        return Some(
            problem.help("parts of it can go into `spec.talos.patches` of a cluster file"),
        );
    }
    if let Some((_, at)) = text_of(root, "apiVersion").filter(|(text, _)| is_foreign_group(text)) {
        return Some(not_ours(at, "expected `seaworthy.dev/v1`"));
    }
    let (kind, at) = text_of(root, "kind")?;
    if nearest(kind, ["Cluster"]).is_some() {
        return None;
    }
    let problem = not_ours(at, "expected `Cluster`");
    Some(if kind == "List" {
        problem.note("one cluster file describes one cluster")
    } else {
        problem
    })
}

fn text_of<'a>(root: &'a Node, key: &str) -> Option<(&'a str, Span)> {
    let node = root.get(key).filter(|node| !node.is_null())?;
    match &node.content {
        Content::Scalar(scalar) => Some((&scalar.text, node.caret())),
        _ => None,
    }
}

/// A machine config has neither `kind` nor `spec`, but these.
fn talos_config(root: &Node) -> Option<Span> {
    let (_, at) = text_of(root, "version").filter(|(version, _)| *version == "v1alpha1")?;
    let has = |key| root.get(key).is_some();
    ((has("machine") || has("cluster")) && !has("spec")).then_some(at)
}

/// Whether an API version belongs to somebody else, such as `cluster.x-k8s.io/v1beta1`.
fn is_foreign_group(api_version: &str) -> bool {
    let group = api_version.split_once('/').map(|(group, _)| group);
    group.is_some_and(|group| nearest(group, ["seaworthy.dev"]).is_none())
}

impl Scalar for ApiVersion {
    const FORMAT: Format =
        Format { name: "an API version", example: "", json: Json::Words(&["seaworthy.dev/v1"]) };

    fn read(text: &str) -> Result<Self, Complaint> {
        match text {
            "seaworthy.dev/v1" => Ok(Self),
            _ if text.starts_with("seaworthy.dev/") => Err(Complaint::new(
                format!(
                    "this version of seaworthy cannot read `{}`",
                    crate::scalar::shortened(text)
                ),
                "it reads `seaworthy.dev/v1`",
            )),
            _ => Err(Complaint::new("this is not a cluster file", "expected `seaworthy.dev/v1`")),
        }
    }

    fn stand_in() -> Self {
        Self
    }
}

impl Scalar for ClusterKind {
    const FORMAT: Format = Format { name: "a kind", example: "", json: Json::Words(&["Cluster"]) };

    fn read(text: &str) -> Result<Self, Complaint> {
        match text {
            "Cluster" => Ok(Self),
            _ => Err(Complaint::new(
                format!("unknown kind `{}`", crate::scalar::shortened(text)),
                "expected `Cluster`",
            )),
        }
    }

    fn stand_in() -> Self {
        Self
    }
}
