//! `identity`: the node in maintenance mode is the machine that was made, so
//! that no secret goes to another, it has the disk that Talos goes to, and it is
//! clear which of its network cards is meant.

use clouds::Host;
use engine::Eyes;
use events::{Cause, Evidence, Role, Verdict};
use spec::plan::NodePlan;
use talos::client::{Client, ClientError, Reason};

use super::install_disk::{self, Disks};
use super::{cards, nodes};
use crate::berth::Berth;
use crate::hetzner::{blind, explain};
use crate::{Site, berth, codes, machine, node_trouble};

/// Looks who answers at the node's address.
pub(super) async fn look(site: &Site, node: &NodePlan, eyes: &Eyes) -> Verdict {
    let machine = match machine::find(site, node).await {
        Ok(Some(machine)) => machine,
        Ok(None) => return nodes::vanished(site, node),
        Err(error) => return blind(error),
    };
    let Some(at) = site.talos(node) else {
        return Verdict::not_yet("its address is not known yet");
    };
    if let Some(verdict) = berth::moved(site, node, &machine, eyes).await {
        return verdict;
    }
    match at.prove_admin(site.talos_admin()).await {
        Ok(_) if let Some(cause) = berth::of_another(site, node, eyes) => Verdict::failed(cause),
        Ok(proof) => Verdict::ready(
            Evidence::new("configured by us earlier")
                .fact("certificate.spki", proof.certificate.spki().to_string()),
        ),
        Err(ClientError { reason: Reason::StillInMaintenance { .. }, .. }) => {
            match at.maintenance(None).await {
                Ok(client) => identify(site, node, &machine, &client).await,
                Err(error) => node_trouble::verdict(site, node, &error),
            }
        }
        Err(error) if is_waiting_worker(node, &machine, eyes, &error) => Verdict::ready(
            Evidence::new("configured by us earlier; a worker answers once a control plane does"),
        ),
        Err(error) => node_trouble::verdict(site, node, &error),
    }
}

/// A worker that has its config is closed until a control plane has signed its
/// certificate. Who it is was proven before the config went there.
fn is_waiting_worker(node: &NodePlan, machine: &Host, eyes: &Eyes, error: &ClientError) -> bool {
    node.role == Role::Worker
        && error.reason == Reason::Refused
        && Berth::of(node).was_taken(machine, eyes)
}

/// Lists the disks. That a version does not tell of them is no reason to stop.
async fn disks(client: &Client) -> Result<Disks, ClientError> {
    match client.disks().await {
        Err(error) if Disks::are_not_told(&error.reason) => Ok(Disks::Untold(error.reason)),
        told => Ok(Disks::Told(told?)),
    }
}

async fn identify(site: &Site, node: &NodePlan, machine: &Host, client: &Client) -> Verdict {
    let asked = install_disk::asked(site, node);
    let seen = async {
        let disks = match asked {
            Some(asked) => Some((asked, disks(client).await?)),
            None => None,
        };
        Ok::<_, ClientError>((client.platform_metadata().await?, client.links().await?, disks))
    };
    let (platform, links, disks) = match seen.await {
        Ok(seen) => seen,
        Err(error) => return node_trouble::verdict(site, node, &error),
    };
    let spki = client.certificate().spki();
    let macs: Vec<_> = links.iter().map(|link| link.hardware_address.as_str()).collect();
    // Without an id or a card there is nothing to compare with.
    let known = machine.instance.is_some() || !machine.cards.is_empty();
    let what = if known { "the machine that is meant" } else { "waits at its address" };
    let evidence = Evidence::new(what)
        .fact("instance id", platform.instance_id.as_str())
        .fact("platform", platform.platform.as_str())
        .fact("hardware addresses", macs.join(", "))
        .fact("maintenance.spki", spki.to_string());
    let mut wrong = Vec::new();
    if let Some(wanted) = machine.instance.as_ref().filter(|it| **it != platform.instance_id) {
        wrong.push(format!("its instance id is {}, not {wanted}", platform.instance_id));
    }
    // Some write hardware addresses in capitals, and some do not.
    let has = |card: &&String| macs.iter().any(|mac| mac.eq_ignore_ascii_case(card));
    for mac in machine.cards.iter().filter(|card| !has(card)) {
        wrong.push(format!("it has no network card {mac}"));
    }
    wrong.extend(disks.as_ref().and_then(|(asked, disks)| disks.lacking(asked)));
    let evidence = match &disks {
        Some((_, disks)) => evidence.fact("disks", disks.to_string()),
        None => evidence,
    };
    if wrong.is_empty() {
        if let Some(cause) = cards::several(site, node, &links) {
            return Verdict::failed(cause.seen(evidence));
        }
        site.learn_fingerprint(&node.name, spki);
        return Verdict::ready(evidence);
    }
    let meant = match &machine.instance {
        Some(_) => format!("the {machine}"),
        None => format!("the machine of {}", node.name),
    };
    let message = format!("what answers at {} is not {meant}", client.address().ip());
    Verdict::failed(
        Cause::new(codes::WRONG_MACHINE, message)
            .because(wrong)
            .so("no configuration, and no secret, was sent to it")
            .seen(evidence)
            .next(explain(codes::WRONG_MACHINE), "tells more"),
    )
}
