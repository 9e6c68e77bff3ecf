//! Hetzner Cloud.
//!
//! ```text
//!  wish ── call ──► journal ── permit ──┐
//!    │                                  ▼
//!    └── look ──► Hetzner ◄──────────  send ──► one HTTPS request ──► Made, or an error
//!                    ▲                                                with class and arrival
//!  gate ── actions, servers, health ──┘
//! ```
//!
//! Every change is a [`Wish`]: the call for the journal, the look that tells
//! whether it is so already, and the one request. [`Hetzner`] itself only looks.
//! Errors go by Hetzner's own codes ([`Meaning`]); the HTTP status counts only
//! for a code that is not known here.

mod action;
mod answer;
mod as_cloud;
mod catalogue;
mod client;
mod creation;
mod error;
mod firewall;
mod firewall_wish;
mod http;
mod id;
mod image;
mod inventory;
mod kind;
mod load_balancer;
mod load_balancer_wish;
mod meaning;
mod network;
mod placement_group;
mod price;
mod query;
mod rate_limit;
mod refusal;
mod removal;
mod resource;
mod server;
mod server_wish;
mod settings;
mod ssh_key;
mod volume;
mod wish;

pub use action::{Action, ActionError, ActionStatus};
pub use catalogue::{Deprecation, LoadBalancerType, Location, Offer, Sale, ServerType};
pub use client::{Hetzner, Pass};
pub use error::HetznerError;
pub use firewall::{AppliedTo, Direction, Firewall, Rule, Selector, ServerRef};
pub use firewall_wish::{ApplyFirewall, CreateFirewall, SetRules};
pub use id::Id;
pub use image::{Architecture, Image, ImageStatus};
pub use inventory::{Holder, Inventory, Stranger};
pub use kind::Kind;
pub use load_balancer::{
    BalancerIpv4, BalancerPrivateNet, BalancerPublicNet, Health, HealthCheck, HealthStatus,
    HttpCheck, LoadBalancer, Service, Target,
};
pub use load_balancer_wish::{AddTarget, AttachLoadBalancer, CreateLoadBalancer, SetService};
pub use meaning::Meaning;
pub use network::{AddSubnet, CreateNetwork, Network, Protection, Route, Subnet};
pub use placement_group::{CreatePlacementGroup, PlacementGroup};
pub use price::{Amount, InvalidAmount, PriceList};
pub use rate_limit::RateLimit;
pub use refusal::Refusal;
pub use removal::Remove;
pub use resource::{Listed, Ours, Proof, Resource};
pub use server::{
    FirewallState, Grouped, Named, PrivateNet, PublicIpv4, PublicIpv6, PublicNet, Server,
    ServerStatus,
};
pub use server_wish::{AttachServer, CreateServer, PowerOn, PublicAddresses};
pub use settings::{Endpoint, Settings, SettingsError, Trust};
pub use ssh_key::{CreateSshKey, SshKey};
pub use volume::Volume;
pub use wish::Wish;
