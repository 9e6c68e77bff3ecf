//! Registries of images: their mirrors, and how nodes get in.

use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional};
use crate::scalar::{FilePath, HttpUrl, Scalar};

/// What nodes have to know about a registry.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Where it starts.
    pub at: Span,
    /// Where its images are pulled from instead, tried in this order.
    pub endpoints: Vec<Spanned<HttpUrl>>,
    /// Whether the registry itself is never asked.
    pub skip_fallback: Option<Spanned<bool>>,
    /// The file with the user and the password, or a token.
    pub credentials_file: Option<Spanned<FilePath>>,
    /// The file with the authorities that its certificate is signed by.
    pub ca_file: Option<Spanned<FilePath>>,
    /// The file with the certificate that nodes show.
    pub certificate_file: Option<Spanned<FilePath>>,
    /// The file with the key of that certificate.
    pub private_key_file: Option<Spanned<FilePath>>,
}

pub(super) static REGISTRY: Shape = Shape {
    name: "Registry",
    doc: "Mirrors of an image registry, and how nodes get into it. A mirror that asks for credentials is a registry of its own.",
    groups: &[&[
        optional(
            "endpoints",
            Kind::Scalars(HttpUrl::FORMAT),
            "Where images of the registry are pulled from instead, tried in this order.",
        ),
        optional(
            "skipFallback",
            Kind::Scalar(bool::FORMAT),
            "Whether the registry itself is never asked. Default: false.",
        ),
        optional(
            "credentialsFile",
            Kind::Scalar(FilePath::FORMAT),
            "A file with `username: …` and `password: …`, each on a line of its own, or with `token: …`, an identity token. Every node gets them.",
        ),
        optional(
            "caFile",
            Kind::Scalar(FilePath::FORMAT),
            "A file with the certificates, in PEM, of the authorities that the registry's own is signed by.",
        ),
        optional(
            "certificateFile",
            Kind::Scalar(FilePath::FORMAT),
            "A file with the certificate, in PEM, that nodes show to the registry.",
        ),
        optional(
            "privateKeyFile",
            Kind::Scalar(FilePath::FORMAT),
            "A file with its private key, in PEM. Every node gets it.",
        ),
    ]],
    pick: Pick::Any,
};

impl Registry {
    pub(super) fn decode(fields: Fields<'_>) -> Self {
        let registry = Self {
            at: fields.at(),
            endpoints: fields.list("endpoints"),
            skip_fallback: fields.optional("skipFallback"),
            credentials_file: fields.optional("credentialsFile"),
            ca_file: fields.optional("caFile"),
            certificate_file: fields.optional("certificateFile"),
            private_key_file: fields.optional("privateKeyFile"),
        };
        fields.finish();
        registry
    }
}
