//! The simulated Hetzner project, as controllers inside a cluster reach it.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use super::{Cloud, CloudServer, CloudVolume, VolumeOrder};
use crate::hetzner::Insider;

impl Cloud for Insider {
    fn server(&self, name: &str) -> Option<CloudServer> {
        let machine = Self::server(self, name)?;
        Some(CloudServer {
            id: machine.id,
            zone: machine.metadata().availability_zone,
            server_type: machine.server_type,
            location: machine.location,
            public: machine.public_ipv4,
            private: machine.private.iter().map(|it| (it.network, it.ip)).collect(),
        })
    }

    fn network(&self, id_or_name: &str) -> Option<i64> {
        Self::network(self, id_or_name)
    }

    fn route(&self, network: i64, to: Ipv4Net, gateway: Ipv4Addr) -> Result<(), String> {
        Self::route(self, network, to, gateway)
    }

    fn volume(&self, id: i64) -> Option<CloudVolume> {
        Self::volume(self, id).map(|server| CloudVolume { id, server })
    }

    fn create_volume(&self, order: VolumeOrder) -> Result<i64, String> {
        Self::create_volume(self, &order.name, order.size, &order.location, order.labels)
    }

    fn attach_volume(&self, volume: i64, server: i64) -> Result<(), String> {
        Self::attach_volume(self, volume, server)
    }

    fn detach_volume(&self, volume: i64) {
        Self::detach_volume(self, volume);
    }

    fn delete_volume(&self, volume: i64) -> Result<(), String> {
        Self::delete_volume(self, volume)
    }
}
