//! The project as those reach it who are part of the simulated world.
//!
//! Controllers inside a cluster act on their own: what they change no client
//! asked for, so it is no effect and no action, and it happens at once.

use std::net::Ipv4Addr;
use std::sync::Arc;

use ipnet::Ipv4Net;

use super::catalog;
use super::desk::Desk;
use super::machines::Machine;
use super::project::Project;
use super::refusal::{Code, Refusal};
use super::resources::{Route, Volume};
use super::selector::Labels;
use super::shelf::Resource;

/// A way into the project beside its API; clones share it.
#[derive(Clone)]
pub struct Insider {
    desk: Arc<Desk>,
}

impl Insider {
    pub(super) fn new(desk: &Arc<Desk>) -> Self {
        Self { desk: Arc::clone(desk) }
    }

    /// Returns the server of a name.
    pub fn server(&self, name: &str) -> Option<Machine> {
        self.desk.look(|project| {
            let found = project.servers.iter().find(|server| server.card().name == name);
            found.map(super::resources::Server::machine)
        })
    }

    /// Returns the id of a network, by its id or its name.
    pub fn network(&self, id_or_name: &str) -> Option<i64> {
        self.desk.look(|project| {
            let is = |id: i64, name: &str| id.to_string() == id_or_name || name == id_or_name;
            let mut cards = project.networks.iter().map(Resource::card);
            cards.find(|card| is(card.id, &card.name)).map(|card| card.id)
        })
    }

    /// Has packets to a destination go to an address of a network, instead of
    /// wherever they went before.
    pub fn route(&self, network: i64, to: Ipv4Net, gateway: Ipv4Addr) -> Result<(), String> {
        let route = Route { destination: to.trunc(), gateway };
        let known = |project: &Project| {
            project.networks.find(network).is_some_and(|it| it.routes.contains(&route))
        };
        if self.desk.look(known) {
            return Ok(());
        }
        let change = |network: &mut super::resources::Network| {
            network.routes.retain(|it| it.destination != route.destination);
            network.check_route(&route)?;
            network.routes.push(route);
            Ok(())
        };
        self.desk.change(|project| project.networks.get_mut(network).and_then(change)).map_err(said)
    }

    /// Returns the server that a volume is attached to, if there is such a volume.
    pub fn volume(&self, id: i64) -> Option<Option<i64>> {
        self.desk.look(|project| project.volumes.find(id).map(|volume| volume.server))
    }

    /// Makes a volume and returns its id; one of that name is taken as it is.
    pub fn create_volume(
        &self,
        name: &str,
        size: u32,
        location: &str,
        labels: Labels,
    ) -> Result<i64, String> {
        let made = self.desk.change(|project| {
            let known = project.volumes.iter().find(|volume| volume.card.name == name);
            if let Some(known) = known {
                return Ok(known.card.id);
            }
            if project.knobs.no_volumes {
                return Err(Code::ResourceLimitExceeded.because("volume limit exceeded"));
            }
            let location = catalog::order(location)?;
            let card = project.new_card::<Volume>(name, Some(labels))?;
            let id = card.id;
            let (server, format) = (None, None);
            project.volumes.put(Volume { card, size, location, server, format, ready: true });
            Ok(id)
        });
        made.map_err(said)
    }

    /// Attaches a volume to a server.
    pub fn attach_volume(&self, volume: i64, server: i64) -> Result<(), String> {
        let attached = self.desk.change(|project| {
            project.servers.get(server)?;
            project.volumes.get_mut(volume)?.server = Some(server);
            Ok(())
        });
        attached.map_err(said)
    }

    /// Detaches a volume from whatever server it is attached to.
    pub fn detach_volume(&self, volume: i64) {
        self.desk.change(|project| {
            if let Some(volume) = project.volumes.find_mut(volume) {
                volume.server = None;
            }
        });
    }

    /// Deletes a volume that is attached to nothing.
    pub fn delete_volume(&self, volume: i64) -> Result<(), String> {
        let deleted = self.desk.change(|project| {
            let Some(found) = project.volumes.find(volume) else { return Ok(()) };
            found.check_unused(project)?;
            project.volumes.deletable(volume)?;
            project.volumes.remove(volume);
            Ok(())
        });
        deleted.map_err(said)
    }
}

/// A refusal in the cloud's words.
#[expect(clippy::needless_pass_by_value, reason = "it ends here")]
fn said(refusal: Refusal) -> String {
    refusal.to_string()
}
