//! `preflight`: nothing is made yet, and all that can be known is checked.

use clouds::Ownership;
use clouds::hetzner::{Holder, Kind, PriceList, Sale, ServerType};
use engine::Eyes;
use events::{Cause, Evidence, Verdict};
use jiff::Timestamp;
use spec::Euro;
use spec::plan::{Bill, NodePlan, Offer, PriceTable};

use super::machines;
use crate::hetzner::{blind, explain, offers};
use crate::{Ground, Site, codes};

/// Looks whether the cluster can be built at all. The first obstacle ends it:
/// no wait removes one.
pub(super) async fn look(site: &Site, eyes: &Eyes) -> Verdict {
    if matches!(site.ground, Ground::Machines(_)) {
        return machines::preflight(site, eyes).await;
    }
    match obstacles(site).await {
        Ok(evidence) => Verdict::ready(evidence),
        Err(verdict) => *verdict,
    }
}

async fn obstacles(site: &Site) -> Result<Evidence, Box<Verdict>> {
    let blind = |error| Box::new(blind(error));
    let failed = |cause: Box<Cause>| Box::new(Verdict::failed(*cause));
    let holders = site.hetzner().holders(&site.wanted().names()).await.map_err(blind)?;
    taken(&holders).map_err(failed)?;
    lost_bundle(site, &holders).map_err(failed)?;
    let (types, now) = (site.hetzner().server_types().await.map_err(blind)?, site.clock.now());
    let exists =
        |node: &NodePlan| holders.iter().any(|it| it.kind == Kind::Server && it.name == node.name);
    for node in site.plan.nodes.iter().filter(|node| !exists(node)) {
        sold(node, &types, now).map_err(failed)?;
    }
    let prices = site.hetzner().prices().await.map_err(blind)?;
    let bill = bill(site, &prices).map_err(failed)?;
    Ok(Evidence::new(summary(site))
        .fact("names of ours that exist", holders.len())
        .fact("price a month", bill.map_or_else(|| "unknown".to_owned(), |it| it.total.to_string()))
        .fact("currency", prices.currency()))
}

pub(super) fn taken(holders: &[Holder]) -> Result<(), Box<Cause>> {
    let foreign: Vec<_> = holders.iter().filter(|it| it.ownership != Ownership::Ours).collect();
    let Some(first) = foreign.first() else { return Ok(()) };
    let message = format!("{} {} exists and is not ours", first.kind, first.name);
    let line = |it: &&Holder| match &it.ownership {
        Ownership::Foreign { claimed_by: Some(other) } => {
            format!("{} {} (id {}) belongs to cluster {other}", it.kind, it.name, it.id)
        }
        _ => format!("{} {} (id {}) carries no cluster's id", it.kind, it.name, it.id),
    };
    let cause = Cause::new(codes::NOT_OURS, message)
        .because_of_each(foreign.iter().map(line))
        .so("nothing was made, and nothing of theirs was touched")
        .next(explain(codes::NOT_OURS), "tells more");
    Err(Box::new(cause))
}

/// With our id but without our secrets the nodes could never be spoken to. A
/// network without nodes is what a run leaves that ended before its bundle was
/// made.
pub(super) fn lost_bundle(site: &Site, holders: &[Holder]) -> Result<(), Box<Cause>> {
    let file = site.bundle_file();
    let is_node = |it: &&Holder| it.ownership == Ownership::Ours && it.kind == Kind::Server;
    let ours: Vec<_> = holders.iter().filter(is_node).collect();
    if ours.is_empty() || file.exists() {
        return Ok(());
    }
    let line = |it: &&Holder| format!("{} {} (id {}) is ours", it.kind, it.name, it.id);
    let message = format!("{} is missing, and the cluster exists", file.display());
    let cause = Cause::new(codes::BUNDLE_LOST, message)
        .because_of_each(ours.iter().map(line))
        .so("a new bundle would lock everybody out of these nodes")
        .next(explain(codes::BUNDLE_LOST), "tells more");
    Err(Box::new(cause))
}

/// Returns an obstacle where none of a node's offers can be had.
pub(super) fn sold(
    node: &NodePlan,
    types: &[ServerType],
    now: Timestamp,
) -> Result<(), Box<Cause>> {
    let why: Vec<_> = offers(node).iter().map(|offer| unavailable(offer, types, now)).collect();
    if why.iter().any(Option::is_none) {
        return Ok(());
    }
    let message = format!("no server type for {} is available", node.name);
    let cause = Cause::new(codes::SOLD_OUT, message)
        .because_of_each(why.into_iter().flatten())
        .next(explain(codes::SOLD_OUT), "tells how to allow more");
    Err(Box::new(cause))
}

fn unavailable(offer: &Offer, types: &[ServerType], now: Timestamp) -> Option<String> {
    let Offer { server_type, location } = offer;
    let name = server_type.to_string();
    let Some(found) = types.iter().find(|it| it.name == name) else {
        return Some(format!("there is no server type {name}"));
    };
    match found.sale(&location.to_string(), now) {
        Sale::Available { .. } => None,
        Sale::SoldOut => Some(format!("{name} is sold out in {location}")),
        Sale::Ended { since } => {
            let day = since.strftime("%Y-%m-%d");
            Some(format!("{name} cannot be ordered in {location} any more since {day}"))
        }
        Sale::NotSold { sold_in } => {
            Some(format!("{name} is not sold in {location}, but in {}", sold_in.join(", ")))
        }
    }
}

/// Returns the bill of a month; none where the account pays in another currency
/// than the limit of the cluster file has.
pub(super) fn bill(site: &Site, prices: &PriceList) -> Result<Option<Bill>, Box<Cause>> {
    let limit = site.plan.max_monthly_eur;
    let Some(table) = table(site, prices) else {
        return limit.map_or(Ok(None), |limit| Err(Box::new(incomparable(limit, prices))));
    };
    let unknown = |error: spec::plan::PriceError| {
        Box::new(
            Cause::new(codes::SOLD_OUT, "the cluster has no price").because([error.to_string()]),
        )
    };
    let bill = Bill::of(&site.plan, &table).map_err(unknown)?;
    match limit.filter(|limit| bill.exceeds(Some(*limit))) {
        None => Ok(Some(bill)),
        Some(limit) => {
            let message = format!("{} a month is more than {limit}", bill.total);
            let line = |line: &spec::plan::BillLine| {
                format!("{} {} costs {}", line.what, line.name, line.price)
            };
            let cause =
                Cause::new(codes::TOO_EXPENSIVE, message).because(bill.lines.iter().map(line));
            Err(Box::new(cause))
        }
    }
}

fn incomparable(limit: Euro, prices: &PriceList) -> Cause {
    let currency = prices.currency();
    let message = format!("the limit of {limit} cannot be compared with prices in {currency}");
    Cause::new(codes::TOO_EXPENSIVE, message)
        .because([format!("Hetzner bills this account in {currency}")])
        .so("remove the limit from the cluster file to go on without one")
}

/// Asks the cloud what the cluster costs in a month, in cents; none where it
/// does not say, or not in euros. Whether that is too much, the stage says.
pub async fn monthly_cents(site: &Site) -> Option<u64> {
    let Ground::Hetzner(hetzner) = &site.ground else { return None };
    let prices = hetzner.prices().await.ok()?;
    let bill = Bill::of(&site.plan, &table(site, &prices)?).ok()?;
    Some(bill.total.cents())
}

/// The currency that everything here is reckoned in.
const CURRENCY: &str = "EUR";

/// Returns the prices of all that the plan may order, where they are in euros.
pub(super) fn table(site: &Site, prices: &PriceList) -> Option<PriceTable> {
    if prices.currency() != CURRENCY {
        return None;
    }
    let euro = |amount: clouds::hetzner::Amount| Euro::from_millionths(amount.millionths());
    let mut table = PriceTable::default();
    for offer in site.plan.nodes.iter().flat_map(offers) {
        let location = offer.location.to_string();
        let server = prices.server(&offer.server_type.to_string(), &location);
        table.servers.extend(server.map(|price| (offer.clone(), euro(price))));
        table.ipv4.extend(prices.ipv4(&location).map(|price| (offer.location, euro(price))));
    }
    if let Some(balancer) = &site.plan.load_balancer {
        let (kind, location) = (balancer.balancer_type, balancer.location);
        let price = prices.load_balancer(&kind.to_string(), &location.to_string());
        table.load_balancers.extend(price.map(|price| ((kind, location), euro(price))));
    }
    Some(table)
}

/// `types cax11, cax21 available in fsn1`
fn summary(site: &Site) -> String {
    let first = || site.plan.nodes.iter().filter_map(|node| offers(node).first());
    let mut types: Vec<_> = first().map(|offer| offer.server_type.to_string()).collect();
    let mut places: Vec<_> = first().map(|offer| offer.location.to_string()).collect();
    for list in [&mut types, &mut places] {
        list.sort();
        list.dedup();
    }
    let word = if types.len() == 1 { "type" } else { "types" };
    format!("{word} {} available in {}", types.join(", "), places.join(", "))
}
