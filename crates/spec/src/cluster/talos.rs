//! The operating system of the nodes.

use serde::Serialize;

use super::install::{INSTALL, Install};
use super::registry::{REGISTRY, Registry};
use crate::read::{Fields, Kind, Node, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{
    Extension, FilePath, HttpsUrl, ImageName, PoolName, RegistryHost, ResourceName, Scalar, Text,
    Version, Word,
};

/// The operating system of the nodes.
#[derive(Clone, Debug)]
pub struct Talos {
    /// Its version.
    pub version: Spanned<Version>,
    /// System extensions in the image.
    pub extensions: Vec<Spanned<Extension>>,
    /// Arguments for the kernel.
    pub kernel_args: Vec<Spanned<Text>>,
    /// Changes to the machine config.
    pub patches: Vec<Patch>,
    /// Where Talos is installed.
    pub install: Option<Install>,
    /// The image that it is installed from.
    pub installer: Option<Spanned<ImageName>>,
    /// Which partitions are encrypted.
    pub disk_encryption: Option<DiskEncryption>,
    /// Registries of images.
    pub registries: Vec<(Spanned<RegistryHost>, Registry)>,
    /// Whether pods' DNS goes through the node's resolver.
    pub forward_kube_dns_to_host: Option<Spanned<bool>>,
    /// Objects that Talos itself applies.
    pub inline_manifests: Vec<InlineManifest>,
    /// Where Talos itself downloads more of them.
    pub extra_manifests: Vec<Spanned<HttpsUrl>>,
}

/// Objects that are in the machine configs of control planes.
#[derive(Clone, Debug)]
pub struct InlineManifest {
    /// What Talos calls them.
    pub name: Spanned<ResourceName>,
    /// The file that holds them.
    pub file: Spanned<FilePath>,
}

/// A change to the machine config of some nodes.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Where the patch starts.
    pub at: Span,
    /// What is changed.
    pub body: Option<PatchBody>,
    /// Which nodes get it.
    pub on: Option<Spanned<PatchTarget>>,
}

/// What a patch changes.
#[derive(Clone, Debug)]
pub enum PatchBody {
    /// Documents to merge or a JSON patch, in a file.
    File(Spanned<FilePath>),
    /// A document to merge or a JSON patch, written here.
    Inline(Spanned<Node>),
}

/// Which nodes get a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatchTarget {
    /// All nodes.
    All,
    /// The control planes.
    ControlPlane,
    /// The nodes of all pools.
    AllWorkers,
    /// The nodes of one pool.
    Pool(PoolName),
}

/// Which partitions are encrypted, and with which key.
#[derive(Clone, Debug)]
pub struct DiskEncryption {
    /// The machine config and its secrets.
    pub state: Option<Spanned<DiskKey>>,
    /// Images, logs, etcd and pods' data.
    pub ephemeral: Option<Spanned<DiskKey>>,
}

/// The key that a partition is encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskKey {
    /// Not encrypted.
    None,
    /// A key made from the node's identity: protects a disk that is taken out.
    NodeId,
    /// A key sealed in the machine's TPM.
    Tpm,
}

/// What to do while no image is built here.
const BUILD_IT: &str = "build an image that has it, and name it in `installer`";

pub(crate) static TALOS: Shape = Shape {
    name: "Talos",
    doc: "The operating system of the nodes.",
    groups: &[&[
        required("version", Kind::Scalar(Version::FORMAT), "The Talos version."),
        optional(
            "extensions",
            Kind::Scalars(Extension::FORMAT),
            "System extensions that are built into the image.",
        )
        .not_yet(BUILD_IT),
        optional(
            "kernelArgs",
            Kind::Scalars(Text::FORMAT),
            "Extra kernel arguments that are built into the image.",
        )
        .not_yet(BUILD_IT),
        optional("patches", Kind::Maps(&PATCH), "Changes to the machine config, in this order."),
        optional(
            "install",
            Kind::Map(&INSTALL),
            "Where Talos is installed. Clouds that boot from our image need nothing here.",
        ),
        optional(
            "installer",
            Kind::Scalar(ImageName::FORMAT),
            "The image that Talos is installed from, such as one with extensions, of the same version. Default: Talos' own.",
        ),
        optional("diskEncryption", Kind::Map(&DISK_ENCRYPTION), "Which partitions are encrypted."),
        optional(
            "registries",
            Kind::TableOfMaps { keys: RegistryHost::FORMAT, values: &REGISTRY },
            "Mirrors of image registries and how nodes get into them, by the registry's host.",
        ),
        optional(
            "forwardKubeDNSToHost",
            Kind::Scalar(bool::FORMAT),
            "Whether pods' DNS goes through the node's resolver. Breaks with Cilium's BPF masquerading unless host routing is legacy. Default: false.",
        ),
        optional(
            "inlineManifests",
            Kind::Maps(&INLINE_MANIFEST),
            "Objects in the machine configs of control planes, which Talos applies by itself, again and again. Nobody looks whether they work: prefer `spec.manifests`.",
        ),
        optional(
            "extraManifests",
            Kind::Scalars(HttpsUrl::FORMAT),
            "Where Talos downloads more of them, in this order.",
        ),
    ]],
    pick: Pick::Any,
};

static PATCH: Shape = Shape {
    name: "Patch",
    doc: "A patch for the machine config of some nodes, as `talosctl machineconfig patch` takes it: documents to merge, with `$patch: delete`, or a list of JSON patch operations.",
    groups: &[&[
        optional(
            "file",
            Kind::Scalar(FilePath::FORMAT),
            "A file with the patch, which may hold several documents and secrets.",
        ),
        optional(
            "inline",
            Kind::FreeOrList,
            "The patch itself. It is stored as it is: no secrets.",
        ),
        optional(
            "on",
            Kind::Scalar(PatchTarget::FORMAT),
            "Which nodes get it: `all`, `control-plane`, `all-workers`, or the name of a pool. Default: all.",
        ),
    ]],
    pick: Pick::Any,
};

static INLINE_MANIFEST: Shape = Shape {
    name: "InlineManifest",
    doc: "Objects in the machine configs of control planes.",
    groups: &[&[
        required("name", Kind::Scalar(ResourceName::FORMAT), "What Talos calls them."),
        required(
            "file",
            Kind::Scalar(FilePath::FORMAT),
            "The YAML file, which may hold secrets: workers do not get it.",
        ),
    ]],
    pick: Pick::Any,
};

static DISK_ENCRYPTION: Shape = Shape {
    name: "DiskEncryption",
    doc: "Which partitions are encrypted, and with which key.",
    groups: &[&[
        optional(
            "state",
            Kind::Scalar(DiskKey::FORMAT),
            "The machine config and its secrets. Default: none.",
        ),
        optional(
            "ephemeral",
            Kind::Scalar(DiskKey::FORMAT),
            "Images, logs, etcd and pods' data. Default: none.",
        ),
    ]],
    pick: Pick::Any,
};

impl Talos {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let talos = Self {
            version: fields.required("version"),
            extensions: fields.list("extensions"),
            kernel_args: fields.list("kernelArgs"),
            patches: fields.maps("patches").into_iter().map(Patch::decode).collect(),
            install: fields.map("install").map(Install::decode),
            installer: fields.optional("installer"),
            disk_encryption: fields.map("diskEncryption").map(DiskEncryption::decode),
            registries: fields
                .table_of_maps("registries")
                .into_iter()
                .map(|(host, fields)| (host, Registry::decode(fields)))
                .collect(),
            forward_kube_dns_to_host: fields.optional("forwardKubeDNSToHost"),
            inline_manifests: fields
                .maps("inlineManifests")
                .into_iter()
                .map(InlineManifest::decode)
                .collect(),
            extra_manifests: fields.list("extraManifests"),
        };
        fields.finish();
        talos
    }
}

impl Patch {
    fn decode(fields: Fields<'_>) -> Self {
        let file = fields.optional("file").map(PatchBody::File);
        let inline = fields.free_or_list("inline").map(PatchBody::Inline);
        let on = fields.optional("on");
        let at = fields.at();
        fields.exactly_one("file", "inline");
        fields.finish();
        Self { at, body: file.or(inline), on }
    }
}

impl InlineManifest {
    fn decode(fields: Fields<'_>) -> Self {
        let manifest = Self { name: fields.required("name"), file: fields.required("file") };
        fields.finish();
        manifest
    }
}

impl DiskEncryption {
    fn decode(fields: Fields<'_>) -> Self {
        let encryption =
            Self { state: fields.optional("state"), ephemeral: fields.optional("ephemeral") };
        fields.finish();
        encryption
    }
}

impl Word for DiskKey {
    const WHAT: &'static str = "disk key";
    const ALL: &'static [Self] = &[Self::None, Self::NodeId, Self::Tpm];
    const WORDS: &'static [&'static str] = &["none", "nodeid", "tpm"];
}

impl PatchTarget {
    /// Whether a node of a pool, or a control plane where there is none, gets the patch.
    pub fn fits(&self, pool: Option<&PoolName>) -> bool {
        match self {
            Self::All => true,
            Self::ControlPlane => pool.is_none(),
            Self::AllWorkers => pool.is_some(),
            Self::Pool(wanted) => pool == Some(wanted),
        }
    }
}

impl Scalar for PatchTarget {
    const FORMAT: crate::scalar::Format = crate::scalar::Format {
        name: "`all`, `control-plane`, `all-workers` or a pool's name",
        example: "",
        json: PoolName::FORMAT.json,
    };

    fn read(text: &str) -> Result<Self, crate::scalar::Complaint> {
        Ok(match text {
            "all" => Self::All,
            super::machines::CONTROL_PLANE_POOL => Self::ControlPlane,
            "all-workers" => Self::AllWorkers,
            _ => Self::Pool(PoolName::read(text)?),
        })
    }

    fn stand_in() -> Self {
        Self::All
    }
}
