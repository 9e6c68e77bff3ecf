//! A project of a cloud that keeps what it is told.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard};

use ipnet::Ipv4Net;
use sim::tenants::{Cloud, CloudServer, CloudVolume, VolumeOrder};

pub(crate) const NETWORK: i64 = 7;

/// A project with one network, `demo`.
#[derive(Default)]
pub(crate) struct Project(Mutex<Held>);

#[derive(Default)]
pub(crate) struct Held {
    pub(crate) servers: BTreeMap<String, CloudServer>,
    pub(crate) routes: BTreeMap<Ipv4Net, Ipv4Addr>,
    pub(crate) volumes: BTreeMap<i64, (VolumeOrder, Option<i64>)>,
    /// What was done with volumes, in order.
    pub(crate) diary: Vec<&'static str>,
    made: i64,
}

impl Project {
    pub(crate) fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap()
    }

    pub(crate) fn add_server(&self, name: &str, id: i64, private: Ipv4Addr) {
        let server = CloudServer {
            id,
            server_type: "cax11".to_owned(),
            location: "fsn1".to_owned(),
            zone: "fsn1-dc14".to_owned(),
            public: Some(Ipv4Addr::new(127, 0, 0, 9)),
            private: [(NETWORK, private)].into(),
        };
        self.held().servers.insert(name.to_owned(), server);
    }
}

impl Cloud for Project {
    fn server(&self, name: &str) -> Option<CloudServer> {
        self.held().servers.get(name).cloned()
    }

    fn network(&self, id_or_name: &str) -> Option<i64> {
        ["7", "demo"].contains(&id_or_name).then_some(NETWORK)
    }

    fn route(&self, network: i64, to: Ipv4Net, gateway: Ipv4Addr) -> Result<(), String> {
        assert_eq!(network, NETWORK);
        self.held().routes.insert(to, gateway);
        Ok(())
    }

    fn volume(&self, id: i64) -> Option<CloudVolume> {
        self.held().volumes.get(&id).map(|(_, server)| CloudVolume { id, server: *server })
    }

    fn create_volume(&self, order: VolumeOrder) -> Result<i64, String> {
        let mut held = self.held();
        if order.location != "fsn1" {
            return Err(format!("location {} not found (invalid_input)", order.location));
        }
        held.made += 1;
        let id = held.made;
        held.diary.push("create");
        held.volumes.insert(id, (order, None));
        Ok(id)
    }

    fn attach_volume(&self, volume: i64, server: i64) -> Result<(), String> {
        let mut held = self.held();
        held.diary.push("attach");
        held.volumes.get_mut(&volume).ok_or("volume not found")?.1 = Some(server);
        Ok(())
    }

    fn detach_volume(&self, volume: i64) {
        let mut held = self.held();
        held.diary.push("detach");
        if let Some(volume) = held.volumes.get_mut(&volume) {
            volume.1 = None;
        }
    }

    fn delete_volume(&self, volume: i64) -> Result<(), String> {
        let mut held = self.held();
        let attached = held.volumes.get(&volume).is_some_and(|(_, server)| server.is_some());
        assert!(!attached, "a volume is deleted only after it was detached");
        held.diary.push("delete");
        held.volumes.remove(&volume);
        Ok(())
    }
}
