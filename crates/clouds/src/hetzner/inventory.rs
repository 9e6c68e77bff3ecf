//! What there is of a cluster, what others made for it, and what is in the way.

use std::collections::BTreeSet;

use super::query::Query;
use super::{
    AppliedTo, Firewall, Hetzner, HetznerError, Id, Kind, LoadBalancer, Network, Ours,
    PlacementGroup, Proof, Resource, Server, SshKey, Volume,
};
use crate::ownership::CLUSTER_NAME;
use crate::{Item, Labels, Ownership};

/// All that is provably a cluster's, and what stands in the way of taking it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Servers.
    pub servers: Vec<Ours<Server>>,
    /// Volumes, those included that the cluster's storage driver made.
    pub volumes: Vec<Ours<Volume>>,
    /// Load balancers, those included that the cluster's cloud controller made.
    pub load_balancers: Vec<Ours<LoadBalancer>>,
    /// Firewalls.
    pub firewalls: Vec<Ours<Firewall>>,
    /// Networks.
    pub networks: Vec<Ours<Network>>,
    /// Placement groups.
    pub placement_groups: Vec<Ours<PlacementGroup>>,
    /// SSH keys.
    pub ssh_keys: Vec<Ours<SshKey>>,
    /// What is not ours, but in our networks and behind our firewalls: these
    /// cannot be deleted while it is.
    pub strangers: Vec<Stranger>,
}

/// Something that holds what is ours, and is not provably ours itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: u64,
    /// What of ours it holds, such as `network demo`.
    pub holds: String,
}

/// Something that has a name, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: u64,
    /// The name.
    pub name: String,
    /// Whose it is.
    pub ownership: Ownership,
}

/// The label of load balancers that the cloud controller makes for services.
const MADE_FOR_SERVICE: &str = "hcloud-ccm/service-uid";

/// The label of volumes that the storage driver makes.
const MADE_BY_CSI: (&str, &str) = ("managed-by", "csi-driver");

impl Hetzner {
    /// Lists all that is ours, and what is in the way.
    ///
    /// What the cloud controller and the storage driver have made is known as
    /// ours only while our servers and networks are there: keep its ids
    /// before those go, and find it again with [`Hetzner::recall`].
    pub async fn take_inventory(&self) -> Result<Inventory, HetznerError> {
        let mut inventory = Inventory {
            servers: self.ours().await?,
            firewalls: self.ours().await?,
            networks: self.ours().await?,
            placement_groups: self.ours().await?,
            ssh_keys: self.ours().await?,
            ..Inventory::default()
        };
        let balancers = self.all::<LoadBalancer>().await?;
        let proof =
            |it: &LoadBalancer| self.proof(&it.labels).or_else(|| inventory.made_balancer(it));
        inventory.load_balancers = claim(balancers, proof);
        let volumes = self.all::<Volume>().await?;
        let proof = |it: &Volume| self.proof(&it.labels).or_else(|| inventory.made_volume(it));
        inventory.volumes = claim(volumes, proof);
        inventory.strangers = inventory.strangers();
        Ok(inventory)
    }

    /// Returns who has names of ours, so that they can be refused before
    /// anything is made.
    pub async fn holders(&self, names: &[(Kind, String)]) -> Result<Vec<Holder>, HetznerError> {
        let kinds: BTreeSet<_> = names.iter().map(|(kind, _)| *kind).collect();
        let mut holders = Vec::new();
        for kind in kinds {
            let all = match kind {
                Kind::Server => self.all_names::<Server>().await?,
                Kind::Volume => self.all_names::<Volume>().await?,
                Kind::LoadBalancer => self.all_names::<LoadBalancer>().await?,
                Kind::Firewall => self.all_names::<Firewall>().await?,
                Kind::Network => self.all_names::<Network>().await?,
                Kind::PlacementGroup => self.all_names::<PlacementGroup>().await?,
                Kind::SshKey => self.all_names::<SshKey>().await?,
            };
            holders.extend(all);
        }
        let wanted =
            |it: &Holder| names.iter().any(|(kind, name)| *kind == it.kind && *name == it.name);
        holders.retain(wanted);
        Ok(holders)
    }

    /// Returns what carries the name of a cluster on its label and is not ours:
    /// another cluster of that name, or this one, whose id is lost.
    pub async fn namesakes(&self, cluster: &str) -> Result<Vec<Holder>, HetznerError> {
        let mut found = self.labelled::<Server>(cluster).await?;
        found.extend(self.labelled::<LoadBalancer>(cluster).await?);
        found.extend(self.labelled::<Volume>(cluster).await?);
        found.extend(self.labelled::<Firewall>(cluster).await?);
        found.extend(self.labelled::<Network>(cluster).await?);
        found.extend(self.labelled::<PlacementGroup>(cluster).await?);
        found.extend(self.labelled::<SshKey>(cluster).await?);
        found.retain(|it| it.ownership != Ownership::Ours);
        Ok(found)
    }

    async fn labelled<R: Resource>(&self, cluster: &str) -> Result<Vec<Holder>, HetznerError> {
        let query = Query::default().with("label_selector", format!("{CLUSTER_NAME}={cluster}"));
        let attempt = format!("look for {}s of {cluster}", R::KIND);
        let mut found = self.list::<R>(&attempt, query).await?;
        found.retain(|it| it.labels().get(CLUSTER_NAME).is_some_and(|name| name == cluster));
        Ok(found.into_iter().map(|it| self.holder(&it)).collect())
    }

    async fn all_names<R: Resource>(&self) -> Result<Vec<Holder>, HetznerError> {
        Ok(self.all::<R>().await?.into_iter().map(|it| self.holder(&it)).collect())
    }

    fn holder<R: Resource>(&self, it: &R) -> Holder {
        Holder {
            kind: R::KIND,
            id: it.id().number(),
            name: it.name().to_owned(),
            ownership: Ownership::of(it.labels(), self.cluster()),
        }
    }

    fn proof(&self, labels: &Labels) -> Option<Proof> {
        (Ownership::of(labels, self.cluster()) == Ownership::Ours).then_some(Proof::Label)
    }
}

fn claim<R: Resource>(all: Vec<R>, proof: impl Fn(&R) -> Option<Proof>) -> Vec<Ours<R>> {
    let ours = |one: R| proof(&one).map(|proof| Ours::new(one, proof));
    all.into_iter().filter_map(ours).collect()
}

// === impl Inventory ===

impl Inventory {
    /// Returns everything, in an order in which it can be deleted.
    pub fn items(&self) -> Vec<Item> {
        let firewalls = self.firewalls.iter().map(|firewall| {
            let off = self.to_take_off(firewall);
            let release = (!off.is_empty()).then(|| serde_json::json!({ "remove_from": off }));
            Item { release, ..item(firewall) }
        });
        let mut items: Vec<_> = self.servers.iter().map(item).collect();
        items.extend(self.load_balancers.iter().map(item));
        items.extend(self.volumes.iter().map(item));
        items.extend(firewalls);
        items.extend(self.networks.iter().map(item));
        items.extend(self.placement_groups.iter().map(item));
        items.extend(self.ssh_keys.iter().map(item));
        items
    }

    /// Returns what the cloud controller and the storage driver have made, of
    /// which the label alone does not tell that it is ours.
    pub fn orphans(&self) -> Vec<Item> {
        let balancers = self.load_balancers.iter().filter(|it| it.proof() != Proof::Label);
        let volumes = self.volumes.iter().filter(|it| it.proof() != Proof::Label);
        balancers.map(item).chain(volumes.map(item)).collect()
    }

    fn made_balancer(&self, balancer: &LoadBalancer) -> Option<Proof> {
        let is_inside = self.networks.iter().any(|net| balancer.address_in(net.id).is_some());
        let is_made = balancer.labels.contains_key(MADE_FOR_SERVICE);
        (is_inside && is_made).then_some(Proof::MadeInOurNetwork)
    }

    fn made_volume(&self, volume: &Volume) -> Option<Proof> {
        let (key, value) = MADE_BY_CSI;
        let is_made = volume.labels.get(key).is_some_and(|label| label == value);
        (is_made && volume.server.is_some_and(|id| self.owns(id)))
            .then_some(Proof::MadeForOurServer)
    }

    /// What a firewall is to be taken off next: not somebody else's server, which
    /// would stand open. Label selectors come first and alone, because Hetzner
    /// refuses to take it off a server that a selector means.
    fn to_take_off(&self, firewall: &Firewall) -> Vec<AppliedTo> {
        let applied = || firewall.applied_to.iter();
        let selectors: Vec<_> =
            applied().filter(|to| matches!(to, AppliedTo::LabelSelector { .. })).cloned().collect();
        if !selectors.is_empty() {
            return selectors;
        }
        let is_ours = |to: &&AppliedTo| match to {
            AppliedTo::LabelSelector { .. } => false,
            AppliedTo::Server { server } => self.owns(server.id),
        };
        applied().filter(is_ours).cloned().collect()
    }

    fn owns(&self, id: Id<Server>) -> bool {
        self.servers.iter().any(|server| server.id == id)
    }

    fn strangers(&self) -> Vec<Stranger> {
        let in_networks = self.networks.iter().flat_map(|network| self.strangers_in(network));
        let behind = self.firewalls.iter().flat_map(|firewall| self.strangers_behind(firewall));
        in_networks.chain(behind).collect()
    }

    fn strangers_in(&self, network: &Network) -> Vec<Stranger> {
        let stranger = |kind, id| Stranger { kind, id, holds: format!("network {}", network.name) };
        let servers = network.servers.iter().filter(|id| !self.owns(**id));
        let servers = servers.map(|id| stranger(Kind::Server, id.number()));
        let is_ours = |id: &Id<LoadBalancer>| self.load_balancers.iter().any(|it| it.id == *id);
        let balancers = network.load_balancers.iter().filter(|id| !is_ours(id));
        servers.chain(balancers.map(|id| stranger(Kind::LoadBalancer, id.number()))).collect()
    }

    fn strangers_behind(&self, firewall: &Firewall) -> Vec<Stranger> {
        let holds = format!("firewall {}", firewall.name);
        let stranger = |to: &AppliedTo| match to {
            AppliedTo::Server { server } if !self.owns(server.id) => {
                let (kind, id) = (Kind::Server, server.id.number());
                Some(Stranger { kind, id, holds: holds.clone() })
            }
            AppliedTo::Server { .. } | AppliedTo::LabelSelector { .. } => None,
        };
        firewall.applied_to.iter().filter_map(stranger).collect()
    }
}

impl<R: Resource> From<&Ours<R>> for Item {
    fn from(ours: &Ours<R>) -> Self {
        item(ours)
    }
}

fn item<R: Resource>(ours: &Ours<R>) -> Item {
    Item {
        kind: R::KIND.word(),
        id: ours.id().to_string(),
        name: ours.name().to_owned(),
        proof: ours.proof().words(),
        rank: usize::from(!R::KIND.waits_for().is_empty()),
        is_protected: ours.is_protected(),
        release: None,
    }
}
