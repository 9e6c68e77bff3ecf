//! The resources of a project: what they hold, and how a client sees them.

mod firewall;
mod image;
mod load_balancer;
mod network;
mod placement_group;
mod private_net;
mod server;
mod service;
mod ssh_key;
mod volume;

pub(crate) use firewall::{Applied, Firewall, Rule};
pub use image::ImageStatus;
pub(crate) use image::{Image, system_images};
pub(crate) use load_balancer::{LoadBalancer, Target, To};
pub(crate) use network::{Network, Route, Subnet};
pub(crate) use placement_group::{PlacementGroup, SPREAD_LIMIT};
pub(crate) use private_net::{Attached, PrivateNet, Wish, assign, attached_to};
pub(crate) use server::{Behind, Server, Status};
pub(crate) use service::{HealthCheck, HttpCheck, Service, ServiceRequest};
pub(crate) use ssh_key::SshKey;
pub(crate) use volume::Volume;
