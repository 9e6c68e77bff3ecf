//! `network`: network, firewall, key, placement groups and load balancer, all
//! before a node exists.

use clouds::hetzner::{
    Firewall, HetznerError, LoadBalancer, Network, Ours, PlacementGroup, Rule, SetRules,
    SetService, SshKey,
};
use engine::{ActError, Hands};
use events::{Because, Cause, Evidence, Heals, Verdict};
use spec::plan::LabelSet;

use crate::hetzner::{API_PORT, blind, explain, offers};
use crate::ssh_key::SshKeyFile;
use crate::{Site, codes};

/// Makes what is missing, and mends what differs and can be changed in place.
pub(super) async fn act(site: &Site, hands: &Hands) -> Result<(), ActError> {
    let (clerk, wanted) = (site.clerk(hands), site.wanted());
    clerk.ensure(wanted.network()).await?;
    let network: Ours<Network> = clerk.there(&site.plan.cluster.to_string()).await?;
    same_range(site, &network).map_err(ActError::Hopeless)?;
    for subnet in wanted.subnets(&network, &zone(site)) {
        clerk.ensure(subnet).await?;
    }
    let key = SshKeyFile::of(site)?;
    clerk.ensure(wanted.ssh_key(&key.public)).await?;
    if let Some(wish) = wanted.firewall() {
        let (name, rules) = (wish.name.clone(), wish.rules.clone());
        clerk.ensure(wish).await?;
        let firewall: Ours<Firewall> = clerk.there(&name).await?;
        clerk.ensure(SetRules { firewall, rules }).await?;
    }
    for group in wanted.placement_groups() {
        clerk.ensure(group).await?;
    }
    if let Some(wish) = wanted.load_balancer() {
        let (name, service) = (wish.name.clone(), wish.service.clone());
        clerk.ensure(wish).await?;
        let load_balancer: Ours<LoadBalancer> = clerk.there(&name).await?;
        if let Some(attach) = wanted.attached(&load_balancer, network.id) {
            clerk.ensure(attach).await?;
        }
        clerk.ensure(SetService { load_balancer: load_balancer.clone(), service }).await?;
        clerk.ensure(wanted.target(&load_balancer)).await?;
    }
    Ok(())
}

/// Reads everything back, and compares it with what is wanted.
pub(super) async fn look(site: &Site) -> Verdict {
    match missing(site).await {
        Ok((missing, evidence)) => match missing.first() {
            None => Verdict::ready(evidence),
            Some(first) => Verdict::not_yet(Because::new(first).in_the_end(differs(&missing))),
        },
        Err(error) => blind(error),
    }
}

/// What was asked for is not what is read back, also after a while.
fn differs(missing: &[String]) -> Cause {
    let message = missing.first().cloned().unwrap_or_default();
    Cause::new(codes::DIFFERS, message)
        .heals(Heals::AfterAction)
        .also(missing.iter().skip(1).cloned())
        .so("what the cloud shows is not what was asked of it; no node was made")
        .next(explain(codes::DIFFERS), "tells more")
}

async fn missing(site: &Site) -> Result<(Vec<String>, Evidence), HetznerError> {
    let (cloud, wanted, plan) = (site.hetzner(), site.wanted(), &site.plan);
    let mut missing = Vec::new();
    let cluster = plan.cluster.to_string();
    let network = cloud.find::<Network>(&cluster).await?;
    let Some(network) = network else {
        return Ok((vec![format!("there is no network {cluster}")], Evidence::default()));
    };
    for wish in wanted.subnets(&network, &zone(site)) {
        let is_it = |range| range == Some(wish.ip_range);
        if !network.subnets.iter().any(|subnet| is_it(subnet.ip_range)) {
            missing.push(format!("network {cluster} has no subnet {}", wish.ip_range));
        }
    }
    if cloud.find::<SshKey>(&cluster).await?.is_none() {
        missing.push(format!("there is no SSH key {cluster}"));
    }
    let mut evidence = Evidence::new("").fact("network", network.id.to_string());
    if let Some(wish) = wanted.firewall() {
        match cloud.find::<Firewall>(&wish.name).await? {
            None => missing.push(format!("there is no firewall {}", wish.name)),
            Some(it) if !it.lets_through(&wish.rules) => {
                missing.extend(rules(&it, &wish.rules));
            }
            Some(it) => evidence = evidence.fact("firewall", it.id.to_string()),
        }
    }
    for wish in wanted.placement_groups() {
        if cloud.find::<PlacementGroup>(&wish.name).await?.is_none() {
            missing.push(format!("there is no placement group {}", wish.name));
        }
    }
    if let Some(wish) = wanted.load_balancer() {
        match cloud.find::<LoadBalancer>(&wish.name).await? {
            None => missing.push(format!("there is no load balancer {}", wish.name)),
            Some(it) => {
                missing.extend(balancer(site, &it, &network));
                evidence = evidence.fact("load balancer", it.id.to_string());
            }
        }
    }
    "firewall covers 50000, 6443".clone_into(&mut evidence.summary);
    Ok((missing, evidence))
}

/// Says in which rules a firewall differs from what is wanted.
fn rules(firewall: &Firewall, wanted: &[Rule]) -> Vec<String> {
    let name = &firewall.name;
    let (lacks, extra) = firewall.differences(wanted);
    let lacks = lacks.iter().map(|rule| format!("firewall {name} lacks the rule: {rule}"));
    let extra = extra.iter().map(|rule| format!("firewall {name} has a rule too many: {rule}"));
    lacks.chain(extra).collect()
}

/// Returns what a load balancer lacks, and learns its address.
fn balancer(site: &Site, it: &LoadBalancer, network: &Network) -> Option<String> {
    let plan = site.plan.load_balancer.as_ref()?;
    let wish = site.wanted().load_balancer()?;
    let selector = LabelSet::role_selector(site.plan.id, events::Role::ControlPlane);
    let name = &it.name;
    if it.address_in(network.id) != Some(plan.address) {
        return Some(format!("load balancer {name} is not in the network at {}", plan.address));
    }
    if !it.service(API_PORT).is_some_and(|service| service.does_as(&wish.service)) {
        return Some(format!("load balancer {name} has no service for {API_PORT} as wanted"));
    }
    if !it.targets_selector(&selector) {
        return Some(format!("load balancer {name} does not target the control planes"));
    }
    match it.public_address() {
        Some(address) => site.learn_endpoint(address),
        None if wish.public_interface => {
            return Some(format!("load balancer {name} has no public address yet"));
        }
        None => {}
    }
    None
}

/// The range of a network only grows, and we never change somebody's network
/// behind a cluster that runs in it.
fn same_range(site: &Site, network: &Network) -> Result<(), Box<Cause>> {
    let differences = site.wanted().network().differences(network);
    if differences.is_empty() {
        return Ok(());
    }
    let message =
        format!("network {} exists and cannot be changed to what is wanted", network.name);
    Err(Box::new(Cause::new(codes::DIFFERS, message).because(differences)))
}

/// All locations are in one zone: validation has seen to that.
pub(super) fn zone(site: &Site) -> String {
    let first = site.plan.nodes.iter().find_map(|node| offers(node).first());
    first.map_or_else(String::new, |offer| offer.location.zone().to_string())
}
