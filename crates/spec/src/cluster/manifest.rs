//! Objects that are applied besides the addons.

use serde::Serialize;

use crate::read::{Fields, Kind, Pick, Shape, Spanned, optional, required};
use crate::scalar::{FilePath, ResourceName, Scalar, Word};

/// Objects that are applied besides the addons.
#[derive(Clone, Debug)]
pub struct ManifestSource {
    /// A name for the report.
    pub name: Spanned<ResourceName>,
    /// A file or a folder.
    pub path: Spanned<FilePath>,
    /// What has to be there before.
    pub after: Option<Spanned<After>>,
}

/// What has to be proven before manifests are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum After {
    /// The API: for what nodes need to become ready, such as a pod network.
    Api,
    /// The nodes, volumes and sealed secrets.
    #[default]
    Ready,
    /// What the repository holds.
    Gitops,
}

pub(crate) static MANIFEST: Shape = Shape {
    name: "Manifest",
    doc: "Objects that are applied besides the addons.",
    groups: &[&[
        required("name", Kind::Scalar(ResourceName::FORMAT), "A name for the report."),
        required("path", Kind::Scalar(FilePath::FORMAT), "A YAML file, or a folder of them."),
        optional(
            "after",
            Kind::Scalar(After::FORMAT),
            "The stage behind which the objects are applied. A pod network goes behind `api`: without one no node becomes ready. Behind `ready`, volumes and sealed secrets work too. Default: ready.",
        ),
    ]],
    pick: Pick::Any,
};

impl ManifestSource {
    pub(super) fn decode(fields: Fields<'_>) -> Self {
        let manifest = Self {
            name: fields.required("name"),
            path: fields.required("path"),
            after: fields.optional("after"),
        };
        fields.finish();
        manifest
    }

    /// What has to be there before.
    pub fn after(&self) -> After {
        self.after.as_ref().map(|after| after.value).unwrap_or_default()
    }
}

impl Word for After {
    const WHAT: &'static str = "stage that manifests can come behind";
    const ALL: &'static [Self] = &[Self::Api, Self::Ready, Self::Gitops];
    const WORDS: &'static [&'static str] = &["api", "ready", "gitops"];
}
