//! Pure planning: what a cluster file means, before any cloud is asked.
//!
//! Everything here is a function of the file and the cluster's id. Growing a
//! pool or appending one never moves a name or an address that exists.

mod addon;
mod disk;
mod extra;
mod firewall;
mod label;
mod network;
mod node;
mod price;
mod san;
mod stage;
mod system;
mod timeout;
mod whole;

pub use addon::AddonPlan;
pub use disk::{DiskTraits, InstallDisk};
pub use events::{ClusterId, Role};
pub use extra::{ManifestPlan, ProofPlan};
pub use firewall::{FirewallPlan, FirewallRule};
pub use label::LabelSet;
pub use network::{NetworkPlan, PoolSubnet};
pub use node::{Hardware, NodePlan, Offer, PlacementGroup};
pub use price::{Bill, BillLine, PriceError, PriceTable};
pub use san::{AssignedLater, San};
pub use stage::Stage;
pub use system::{InlineManifestPlan, MirrorPlan, RegistryPlan, SystemPlan};
pub use timeout::{ProofTooShort, Timeouts};
pub use whole::{Endpoint, LoadBalancerPlan, Plan};

pub(crate) use firewall::{TALOS_PORT, rules as firewall_rules};
pub(crate) use network::{LARGEST_NETWORK, SMALLEST_NETWORK, SUBNETS_BEFORE_POOLS};
pub(crate) use node::{pool_node_name, vmid};
pub(crate) use whole::{has_public_balancer, wants_load_balancer};
