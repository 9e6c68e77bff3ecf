//! What only some addons have.

use serde::Serialize;

use super::addon::{ADDON, AddonName, INSTEAD};
use crate::read::{Fields, Kind, Pick, Shape, Span, Spanned, optional, required};
use crate::scalar::{Duration, FilePath, GitUrl, Scalar, Text, Word};

/// What only some addons have.
#[derive(Clone, Debug)]
pub enum AddonOptions {
    /// Nothing of its own.
    Plain,
    /// Cilium.
    Cilium {
        /// Whether traffic between nodes is encrypted.
        encryption: Option<Spanned<Encryption>>,
        /// How packets find other nodes.
        routing: Option<Spanned<Routing>>,
    },
    /// Sealed Secrets.
    SealedSecrets {
        /// Where the sealing key comes from.
        key: Option<SealingKey>,
    },
    /// Flux.
    Flux(Box<GitAccess>),
}

/// Whether traffic between nodes is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are Cilium's own words")]
pub enum Encryption {
    None,
    Wireguard,
    Ipsec,
}

/// How packets find pods on other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Routing {
    /// The network knows the way: its routes are kept by the cloud controller.
    Native,
    /// Packets travel inside packets.
    Tunnel,
}

/// Where the key that opens sealed secrets comes from.
#[derive(Clone, Debug)]
pub struct SealingKey {
    /// Where the settings start.
    pub at: Span,
    /// It is made once and kept with the state.
    pub generate: Option<Spanned<bool>>,
    /// A certificate that exists already.
    pub certificate_file: Option<Spanned<FilePath>>,
    /// The private key that belongs to it.
    pub private_key_file: Option<Spanned<FilePath>>,
}

/// What Flux follows, and how it gets there.
#[derive(Clone, Debug)]
pub struct GitAccess {
    /// The repository.
    pub repository: Spanned<GitUrl>,
    /// The branch.
    pub branch: Option<Spanned<Text>>,
    /// The folder in it.
    pub path: Spanned<FilePath>,
    /// How often Flux looks.
    pub interval: Option<Spanned<Duration>>,
    /// The SSH key, for `ssh://`.
    pub private_key_file: Option<Spanned<FilePath>>,
    /// The host keys to trust, for `ssh://`.
    pub known_hosts_file: Option<Spanned<FilePath>>,
    /// A file with `username` and `password`, for `https://`.
    pub credentials_file: Option<Spanned<FilePath>>,
}

pub(super) static CILIUM: Shape = Shape {
    name: "Cilium",
    doc: "Cilium: the pod network, without kube-proxy.",
    groups: &[
        &[
            optional(
                "encryption",
                Kind::Scalar(Encryption::FORMAT),
                "Whether traffic between nodes is encrypted. Default: none.",
            )
            .not_yet(INSTEAD),
            optional(
                "routing",
                Kind::Scalar(Routing::FORMAT),
                "How packets find other nodes. Default: `native` on Hetzner, else `tunnel`.",
            )
            .not_yet(INSTEAD),
        ],
        ADDON,
    ],
    pick: Pick::Any,
};

pub(super) static SEALED_SECRETS: Shape = Shape {
    name: "SealedSecrets",
    doc: "Sealed Secrets: secrets that can lie in a repository.",
    groups: &[
        &[optional(
            "key",
            Kind::Map(&SEALING_KEY),
            "Where the sealing key comes from. It is in the cluster before the controller starts. Default: { generate: true }.",
        )],
        ADDON,
    ],
    pick: Pick::Any,
};

static SEALING_KEY: Shape = Shape {
    name: "SealingKey",
    doc: "Where the key that opens sealed secrets comes from.",
    groups: &[&[
        optional(
            "generate",
            Kind::Scalar(bool::FORMAT),
            "It is made once and kept with the state.",
        ),
        optional(
            "certificateFile",
            Kind::Scalar(FilePath::FORMAT),
            "A certificate that exists already, so that a rebuilt cluster opens old secrets.",
        ),
        optional(
            "privateKeyFile",
            Kind::Scalar(FilePath::FORMAT),
            "The RSA key that belongs to it.",
        ),
    ]],
    pick: Pick::Any,
};

pub(super) static FLUX: Shape = Shape {
    name: "Flux",
    doc: "Flux: the cluster follows a git repository.",
    groups: &[
        &[
            required(
                "repository",
                Kind::Scalar(GitUrl::FORMAT),
                "The repository, as `ssh://` or `https://`.",
            ),
            optional("branch", Kind::Scalar(Text::FORMAT), "The branch. Default: main."),
            required("path", Kind::Scalar(FilePath::FORMAT), "The folder in the repository."),
            optional(
                "interval",
                Kind::Scalar(Duration::FORMAT),
                "How often Flux looks for changes. Default: 1m.",
            ),
            optional(
                "privateKeyFile",
                Kind::Scalar(FilePath::FORMAT),
                "The SSH key, for `ssh://`. Default: one is made, and its public half printed.",
            ),
            optional(
                "knownHostsFile",
                Kind::Scalar(FilePath::FORMAT),
                "The host keys to trust, for `ssh://`. Default: those in your own known_hosts.",
            ),
            optional(
                "credentialsFile",
                Kind::Scalar(FilePath::FORMAT),
                "A file with the lines `username: …` and `password: …`, for `https://`.",
            ),
        ],
        ADDON,
    ],
    pick: Pick::Any,
};

impl AddonOptions {
    pub(super) fn decode(name: AddonName, fields: &Fields<'_>) -> Self {
        match name {
            AddonName::Cilium => Self::Cilium {
                encryption: fields.optional("encryption"),
                routing: fields.optional("routing"),
            },
            AddonName::SealedSecrets => {
                Self::SealedSecrets { key: fields.map("key").map(SealingKey::decode) }
            }
            AddonName::Flux => Self::Flux(Box::new(GitAccess::decode(fields))),
            _ => Self::Plain,
        }
    }
}

impl SealingKey {
    fn decode(fields: Fields<'_>) -> Self {
        let key = Self {
            at: fields.at(),
            generate: fields.optional("generate"),
            certificate_file: fields.optional("certificateFile"),
            private_key_file: fields.optional("privateKeyFile"),
        };
        fields.finish();
        key
    }
}

impl GitAccess {
    fn decode(fields: &Fields<'_>) -> Self {
        Self {
            repository: fields.required("repository"),
            branch: fields.optional("branch"),
            path: fields.required("path"),
            interval: fields.optional("interval"),
            private_key_file: fields.optional("privateKeyFile"),
            known_hosts_file: fields.optional("knownHostsFile"),
            credentials_file: fields.optional("credentialsFile"),
        }
    }
}

impl Word for Encryption {
    const WHAT: &'static str = "encryption";
    const ALL: &'static [Self] = &[Self::None, Self::Wireguard, Self::Ipsec];
    const WORDS: &'static [&'static str] = &["none", "wireguard", "ipsec"];
}

impl Word for Routing {
    const WHAT: &'static str = "routing";
    const ALL: &'static [Self] = &[Self::Native, Self::Tunnel];
    const WORDS: &'static [&'static str] = &["native", "tunnel"];
}
