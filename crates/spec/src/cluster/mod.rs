//! The cluster file as types.
//!
//! Each file holds one part: its type, the description of its keys, and its
//! decoder. Values that a rule may point at carry their place.

mod addon;
mod addon_options;
mod cloud;
mod firewall;
mod group;
mod hetzner;
mod install;
mod kubernetes;
mod machines;
mod manifest;
mod proof;
mod proxmox;
mod registry;
mod root;
mod talos;

pub use addon::{Addon, AddonName, Addons, By, Chart, Delivery};
pub use addon_options::{AddonOptions, Encryption, GitAccess, Routing, SealingKey};
pub use cloud::{Cloud, CloudKind};
pub use firewall::{Firewall, FirewallException, PortRange, Protocol, Sources};
pub use group::{
    ControlPlane, Fallback, HealthCheck, HealthProtocol, LoadBalancer, NodeGroup, Pool,
};
pub use hetzner::Hetzner;
pub use install::{DiskSelector, DiskType, Install};
pub use kubernetes::Kubernetes;
pub use machines::{Machine, Machines};
pub use manifest::{After, ManifestSource};
pub use proof::Proof;
pub use proxmox::{Proxmox, VmIds};
pub use registry::Registry;
pub use root::Cluster;
pub use talos::{DiskEncryption, DiskKey, InlineManifest, Patch, PatchBody, PatchTarget, Talos};

pub(crate) use machines::CONTROL_PLANE_POOL;
pub(crate) use root::{ROOT, other_kind};
