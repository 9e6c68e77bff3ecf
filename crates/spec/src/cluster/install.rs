//! Where Talos is installed.

use serde::Serialize;

use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional};
use crate::scalar::{Bytes, FilePath, Scalar, Text, Word};

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

pub(crate) static INSTALL: Shape = Shape {
    name: "Install",
    doc: "Where Talos is installed: on a named disk, or on one that fits.",
    groups: &[&[
        optional("disk", Kind::Scalar(FilePath::FORMAT), "A device, such as `/dev/sda`."),
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
        optional("minSize", Kind::Scalar(Bytes::FORMAT), "At least this large."),
        optional("maxSize", Kind::Scalar(Bytes::FORMAT), "At most this large."),
        optional("type", Kind::Scalar(DiskType::FORMAT), "What it is made of."),
        optional("model", Kind::Scalar(Text::FORMAT), "Its model; `*` matches anything."),
        optional("serial", Kind::Scalar(Text::FORMAT), "Its serial number; `*` matches anything."),
        optional(
            "wwid",
            Kind::Scalar(Text::FORMAT),
            "Its world-wide identifier; `*` matches anything.",
        ),
    ]],
    pick: Pick::Any,
};

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

impl Word for DiskType {
    const WHAT: &'static str = "disk type";
    const ALL: &'static [Self] = &[Self::Ssd, Self::Nvme, Self::Hdd, Self::Sd];
    const WORDS: &'static [&'static str] = &["ssd", "nvme", "hdd", "sd"];
}
