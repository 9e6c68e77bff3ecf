//! The cluster file as types.
//!
//! Each file holds one part: its type, the description of its keys, and its
//! decoder. Values that a rule may point at carry their place.

mod addon;
mod cloud;
mod firewall;
mod group;
mod kubernetes;
mod root;
mod talos;

pub use addon::{
    Addon, AddonName, AddonOptions, Addons, By, Chart, Delivery, Encryption, GitAccess, Routing,
    SealingKey,
};
pub use cloud::{Cloud, CloudKind, Hetzner, Machine, Machines, Proxmox, VmIds};
pub use firewall::{Firewall, FirewallException, PortRange, Protocol, Sources};
pub use group::{
    ControlPlane, Fallback, HealthCheck, HealthProtocol, LoadBalancer, NodeGroup, Pool,
};
pub use kubernetes::Kubernetes;
pub use root::{Cluster, ManifestSource};
pub use talos::{
    DiskEncryption, DiskKey, DiskSelector, DiskType, Install, Mirror, Patch, PatchBody,
    PatchTarget, Talos,
};

pub(crate) use cloud::CONTROL_PLANE_POOL;
pub(crate) use root::{ROOT, other_kind};
