//! Machine configs: what a node is told once, in maintenance mode.
//!
//! ```text
//!  Bundle ─┐
//!  Cluster ┼─► MachineConfig (YAML, a secret; its digest is the evidence)
//!  Node ───┘
//! ```
//!
//! Talos decodes strictly and its defaults change with every release, so the
//! form is the oldest that every supported version accepts: one `v1alpha1`
//! document, and for 1.12 and later one more for the host name. Which of the
//! two, and what else changed with a version, is its [`Contract`].

mod contract;
mod host;
mod images;
mod input;
mod machine_config;
pub mod patch;
mod registry;
mod single_card;
mod v1alpha1;
mod whereabouts;

pub use contract::{Contract, UnsupportedVersion};
pub use host::{
    Addressing, DiskKey, DiskSelector, Encryption, Install, InstallDisk, Interface, Link, Node,
};
pub use images::Images;
pub use input::{
    CloudProvider, Cluster, Cni, ControlPlanes, HostDns, InlineManifest, InputError, KubeProxy,
    KubeletCertificates,
};
pub use machine_config::MachineConfig;
pub use registry::{Mirror, RegistryAccess, RegistryCredentials, RegistryIdentity};
pub use whereabouts::Whereabouts;
