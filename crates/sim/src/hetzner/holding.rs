//! What a project holds.

use serde_json::Value;

use super::project::Project;
use super::resources::{Firewall, LoadBalancer, Network, PlacementGroup, Server, SshKey, Volume};
use super::shelf::Resource;

/// Something that a project holds and pays for.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// What it is: `server`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// All of it, as a client sees it.
    pub view: Value,
}

impl Project {
    /// Returns all that the project holds but images, which nobody makes here.
    pub(crate) fn holdings(&self) -> Vec<Holding> {
        let mut all = Vec::new();
        self.collect::<Firewall>(&mut all);
        self.collect::<LoadBalancer>(&mut all);
        self.collect::<Network>(&mut all);
        self.collect::<PlacementGroup>(&mut all);
        self.collect::<Server>(&mut all);
        self.collect::<SshKey>(&mut all);
        self.collect::<Volume>(&mut all);
        all
    }

    fn collect<T: Resource>(&self, into: &mut Vec<Holding>) {
        let holding =
            |it: &T| Holding { kind: T::KIND, name: it.card().name.clone(), view: it.view(self) };
        into.extend(T::shelf(self).iter().map(holding));
    }
}
