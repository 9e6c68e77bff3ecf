//! The network card that a node's address goes to. Where nothing names it, Talos
//! gives the address to every card, which is right for machines with one.

use events::Cause;
use spec::plan::NodePlan;
use talos::client::Link;

use crate::hetzner::explain;
use crate::{Site, codes, machine_config};

/// Says what is wrong where several cards would get the address of one.
pub(super) fn several(site: &Site, node: &NodePlan, links: &[Link]) -> Option<Cause> {
    let cards: Vec<_> = links.iter().filter(|link| link.is_physical()).collect();
    (cards.len() > 1 && machine_config::names_no_card(site, node)).then(|| unnamed(node, &cards))
}

fn unnamed(node: &NodePlan, cards: &[&Link]) -> Cause {
    let card = |card: &&Link| {
        let cable = if card.up { "connected" } else { "not connected" };
        format!("{} has the MAC address {}, and is {cable}", card.name, card.hardware_address)
    };
    let message = format!(
        "{} has {} network cards, and the cluster file does not say which one is meant",
        node.name,
        cards.len()
    );
    Cause::new(codes::CARD_NOT_NAMED, message)
        .because(cards.iter().map(card))
        .so("put `mac` of the right one into the cluster file: Talos would give the address to \
             each of them, so it was sent nothing")
        .next(explain(codes::CARD_NOT_NAMED), "tells more")
}
