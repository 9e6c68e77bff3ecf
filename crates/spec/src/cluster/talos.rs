//! The operating system of the nodes.

use serde::Serialize;

use crate::read::{Fields, Kind, Node, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{
    Bytes, DnsName, Extension, FilePath, HttpUrl, PoolName, Scalar, Text, Version, Word,
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
    /// Which partitions are encrypted.
    pub disk_encryption: Option<DiskEncryption>,
    /// Mirrors of image registries.
    pub registries: Vec<(Spanned<DnsName>, Mirror)>,
    /// Whether pods' DNS goes through the node's resolver.
    pub forward_kube_dns_to_host: Option<Spanned<bool>>,
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
    /// A strategic merge patch in a file.
    File(Spanned<FilePath>),
    /// A strategic merge patch written here.
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

/// Where Talos is installed on a disk.
#[derive(Clone, Debug)]
pub struct Install {
    /// Where the settings start.
    pub at: Span,
    /// A device.
    pub disk: Option<Spanned<FilePath>>,
    /// Or what the device is like.
    pub disk_selector: Option<DiskSelector>,
}

/// What the disk to install on is like.
#[derive(Clone, Debug)]
pub struct DiskSelector {
    /// Where the settings start.
    pub at: Span,
    /// At least this large.
    pub min_size: Option<Spanned<Bytes>>,
    /// At most this large.
    pub max_size: Option<Spanned<Bytes>>,
    /// What it is made of.
    pub disk_type: Option<Spanned<DiskType>>,
    /// Its model; `*` matches anything.
    pub model: Option<Spanned<Text>>,
    /// Its serial number.
    pub serial: Option<Spanned<Text>>,
    /// Its world-wide identifier.
    pub wwid: Option<Spanned<Text>>,
}

/// What a disk is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are Talos' own words")]
pub enum DiskType {
    Ssd,
    Nvme,
    Hdd,
    Sd,
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

/// Where images of a registry are pulled from instead.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// The mirrors, tried in this order.
    pub endpoints: Vec<Spanned<HttpUrl>>,
    /// Whether the registry itself is never asked.
    pub skip_fallback: Option<Spanned<bool>>,
}

pub(crate) static TALOS: Shape = Shape {
    name: "Talos",
    doc: "The operating system of the nodes.",
    groups: &[&[
        required(
            "version",
            Kind::Scalar(Version::FORMAT),
            "The Talos version.",
        ),
        optional(
            "extensions",
            Kind::Scalars(Extension::FORMAT),
            "System extensions that are built into the image.",
        ),
        optional(
            "kernelArgs",
            Kind::Scalars(Text::FORMAT),
            "Extra kernel arguments that are built into the image.",
        ),
        optional(
            "patches",
            Kind::Maps(&PATCH),
            "Changes to the machine config, in this order.",
        ),
        optional(
            "install",
            Kind::Map(&INSTALL),
            "Where Talos is installed. Clouds that boot from our image need nothing here.",
        ),
        optional(
            "diskEncryption",
            Kind::Map(&DISK_ENCRYPTION),
            "Which partitions are encrypted.",
        ),
        optional(
            "registries",
            Kind::TableOfMaps {
                keys: DnsName::FORMAT,
                values: &MIRROR,
            },
            "Mirrors of image registries, by the registry's name. Credentials belong in a patch file.",
        ),
        optional(
            "forwardKubeDNSToHost",
            Kind::Scalar(bool::FORMAT),
            "Whether pods' DNS goes through the node's resolver. Breaks with Cilium's BPF masquerading unless host routing is legacy. Default: false.",
        ),
    ]],
    pick: Pick::Any,
};

static PATCH: Shape = Shape {
    name: "Patch",
    doc: "A strategic merge patch for the machine config of some nodes.",
    groups: &[&[
        optional(
            "file",
            Kind::Scalar(FilePath::FORMAT),
            "A file with the patch.",
        ),
        optional(
            "inline",
            Kind::Free,
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

pub(crate) static INSTALL: Shape = Shape {
    name: "Install",
    doc: "Where Talos is installed: on a named disk, or on one that fits.",
    groups: &[&[
        optional(
            "disk",
            Kind::Scalar(FilePath::FORMAT),
            "A device, such as `/dev/sda`.",
        ),
        optional(
            "diskSelector",
            Kind::Map(&DISK_SELECTOR),
            "What the device is like, where its name may differ.",
        ),
    ]],
    pick: Pick::One,
};

static DISK_SELECTOR: Shape = Shape {
    name: "DiskSelector",
    doc: "What the disk to install on is like; all that is set must fit.",
    groups: &[&[
        optional(
            "minSize",
            Kind::Scalar(Bytes::FORMAT),
            "At least this large.",
        ),
        optional(
            "maxSize",
            Kind::Scalar(Bytes::FORMAT),
            "At most this large.",
        ),
        optional(
            "type",
            Kind::Scalar(DiskType::FORMAT),
            "What it is made of.",
        ),
        optional(
            "model",
            Kind::Scalar(Text::FORMAT),
            "Its model; `*` matches anything.",
        ),
        optional("serial", Kind::Scalar(Text::FORMAT), "Its serial number."),
        optional(
            "wwid",
            Kind::Scalar(Text::FORMAT),
            "Its world-wide identifier.",
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

static MIRROR: Shape = Shape {
    name: "Mirror",
    doc: "Where images of a registry are pulled from instead.",
    groups: &[&[
        required(
            "endpoints",
            Kind::Scalars(HttpUrl::FORMAT),
            "The mirrors, tried in this order.",
        ),
        optional(
            "skipFallback",
            Kind::Scalar(bool::FORMAT),
            "Whether the registry itself is never asked. Default: false.",
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
            patches: fields
                .maps("patches")
                .into_iter()
                .map(Patch::decode)
                .collect(),
            install: fields.map("install").map(Install::decode),
            disk_encryption: fields.map("diskEncryption").map(DiskEncryption::decode),
            registries: fields
                .table_of_maps("registries")
                .into_iter()
                .map(|(registry, mirror)| (registry, Mirror::decode(mirror)))
                .collect(),
            forward_kube_dns_to_host: fields.optional("forwardKubeDNSToHost"),
        };
        fields.finish();
        talos
    }
}

impl Patch {
    fn decode(fields: Fields<'_>) -> Self {
        let file = fields.optional("file").map(PatchBody::File);
        let inline = fields.free("inline").map(PatchBody::Inline);
        let on = fields.optional("on");
        let at = fields.at();
        fields.exactly_one("file", "inline");
        fields.finish();
        Self {
            at,
            body: file.or(inline),
            on,
        }
    }
}

impl Install {
    pub(crate) fn decode(fields: Fields<'_>) -> Self {
        let install = Self {
            at: fields.at(),
            disk: fields.optional("disk"),
            disk_selector: fields.map("diskSelector").map(DiskSelector::decode),
        };
        fields.finish();
        install
    }
}

impl DiskSelector {
    fn decode(fields: Fields<'_>) -> Self {
        let selector = Self {
            at: fields.at(),
            min_size: fields.optional("minSize"),
            max_size: fields.optional("maxSize"),
            disk_type: fields.optional("type"),
            model: fields.optional("model"),
            serial: fields.optional("serial"),
            wwid: fields.optional("wwid"),
        };
        fields.finish();
        selector
    }

    /// Whether it asks for nothing, so that any disk would do.
    pub(crate) fn is_empty(&self) -> bool {
        self.min_size.is_none()
            && self.max_size.is_none()
            && self.disk_type.is_none()
            && self.model.is_none()
            && self.serial.is_none()
            && self.wwid.is_none()
    }
}

impl DiskEncryption {
    fn decode(fields: Fields<'_>) -> Self {
        let encryption = Self {
            state: fields.optional("state"),
            ephemeral: fields.optional("ephemeral"),
        };
        fields.finish();
        encryption
    }
}

impl Mirror {
    fn decode(fields: Fields<'_>) -> Self {
        let mirror = Self {
            endpoints: fields.list("endpoints"),
            skip_fallback: fields.optional("skipFallback"),
        };
        fields.finish();
        mirror
    }
}

impl Word for DiskType {
    const WHAT: &'static str = "disk type";
    const ALL: &'static [Self] = &[Self::Ssd, Self::Nvme, Self::Hdd, Self::Sd];
    const WORDS: &'static [&'static str] = &["ssd", "nvme", "hdd", "sd"];
}

impl Word for DiskKey {
    const WHAT: &'static str = "disk key";
    const ALL: &'static [Self] = &[Self::None, Self::NodeId, Self::Tpm];
    const WORDS: &'static [&'static str] = &["none", "nodeid", "tpm"];
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
            super::cloud::CONTROL_PLANE_POOL => Self::ControlPlane,
            "all-workers" => Self::AllWorkers,
            _ => Self::Pool(PoolName::read(text)?),
        })
    }

    fn stand_in() -> Self {
        Self::All
    }
}
