//! `nodes`: a server for every node, in the network and behind the firewall.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clouds::Host;
use clouds::hetzner::{
    ApplyFirewall, AttachServer, Firewall, Id, Network, Ours, PlacementGroup, PowerOn, Server,
    ServerStatus, SshKey,
};
use engine::{ActError, Hands};
use events::{Because, Cause, Evidence, Failure, Verdict, io_reason};
use spec::plan::{Hardware, NodePlan};
use tokio::net::TcpStream;

use crate::hetzner::{Clerk, Parts, act_error, blind, explain};
use crate::{Ground, Site, codes, machine};

/// The Talos API.
pub(crate) const TALOS_PORT: u16 = 50000;

/// How long a port may take to say that it is open.
const KNOCK: Duration = Duration::from_secs(5);

/// Returns the machine of a node that was made, or that exists already.
pub(super) async fn machine_of(site: &Site, node: &NodePlan) -> Result<Host, ActError> {
    let found = machine::find(site, node).await.map_err(act_error)?;
    let missing = || Failure::transient(format!("server {} is not to be seen yet", node.name));
    Ok(found.ok_or_else(missing)?)
}

/// Makes the server, puts it at its address and turns it on: in this order, so
/// that it never boots outside its network or without its firewall.
pub(super) async fn act(site: &Site, hands: &Hands, node: &NodePlan) -> Result<(), ActError> {
    if matches!(site.ground, Ground::Machines(_)) {
        return Ok(());
    }
    let clerk = site.clerk(hands);
    let network: Ours<Network> = clerk.there(&site.plan.cluster.to_string()).await?;
    let parts = parts(site, clerk, node).await?;
    create(site, hands, node, &parts).await?;
    let server: Ours<Server> = clerk.there(&node.name).await?;
    if !server.has_firewall(parts.firewall.id) {
        let firewall = parts.firewall;
        clerk.ensure(ApplyFirewall { firewall, server: server.clone() }).await?;
    }
    let attach = AttachServer { server: server.clone(), network: network.id, ip: node.address };
    clerk.ensure(attach).await?;
    clerk.ensure(PowerOn { server }).await
}

/// Takes the first offer that is available.
async fn create(
    site: &Site,
    hands: &Hands,
    node: &NodePlan,
    parts: &Parts,
) -> Result<(), ActError> {
    let clerk = site.clerk(hands);
    let (mut sold_out, mut said) = (Vec::new(), None);
    for wish in site.wanted().servers(node, parts) {
        let offer = (wish.location.clone(), wish.server_type.clone());
        match clerk.ensure(wish).await {
            Ok(()) => return Ok(()),
            Err(ActError::Hopeless(cause)) if cause.code == codes::SOLD_OUT => {
                // Nodes of a pool want the same types: one of them says so.
                if site.learn_sold_out(&offer) {
                    hands.warn(format!("{} is not available in {}", offer.1, offer.0))?;
                }
                sold_out.push(offer);
                said = said.or(cause.because.into_iter().next());
            }
            Err(error) => return Err(error),
        }
    }
    Err(Cause::new(codes::SOLD_OUT, sold_out_words(&sold_out))
        .because(said)
        .next(explain(codes::SOLD_OUT), "tells how to allow more")
        .into())
}

/// Says which types are not available where, each place once. Whether they are sold
/// out or have ended is in what Hetzner said.
fn sold_out_words(offers: &[(String, String)]) -> String {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (place, server_type) in offers {
        let types = places.entry(place).or_default();
        if !types.contains(&server_type.as_str()) {
            types.push(server_type);
        }
    }
    let words = places.iter().map(|(place, types)| match types.split_last() {
        Some((last, [])) => format!("{last} is not available in {place}"),
        Some((last, others)) => {
            format!("{} and {last} are not available in {place}", others.join(", "))
        }
        None => String::new(),
    });
    words.collect::<Vec<_>>().join("; ")
}

async fn parts(site: &Site, clerk: Clerk<'_>, node: &NodePlan) -> Result<Parts, ActError> {
    let Hardware::Server { placement_group, offers } = &node.hardware else {
        return Err(Failure::permanent(format!("{} is not a server", node.name)).into());
    };
    let architecture = offers.first().map(|offer| offer.server_type.architecture());
    let image = architecture.and_then(|architecture| site.image(architecture));
    let key: Ours<SshKey> = clerk.there(&site.plan.cluster.to_string()).await?;
    let firewall = site.plan.firewall.as_ref().map(|it| it.name.clone()).unwrap_or_default();
    let firewall: Ours<Firewall> = clerk.there(&firewall).await?;
    let group = site.hetzner().find::<PlacementGroup>(placement_group).await.map_err(act_error)?;
    Ok(Parts {
        image: image.ok_or_else(|| Failure::permanent("the image was not looked for"))?,
        ssh_key: key.id,
        firewall,
        placement_group: group.map(|group| group.id),
    })
}

/// Looks whether the server runs where it should, and its Talos can be reached.
pub(super) async fn look(site: &Site, node: &NodePlan) -> Verdict {
    let cloud = match &site.ground {
        Ground::Hetzner(hetzner) => hetzner,
        Ground::Machines(_) => {
            let evidence = Evidence::new("answers").fact("address", node.address.to_string());
            return knock(site, node, evidence, node.address.into()).await;
        }
    };
    let server = match cloud.find::<Server>(&node.name).await {
        Ok(Some(server)) => server,
        Ok(None) => return vanished(site, node),
        Err(error) => return blind(error),
    };
    let network = match cloud.find::<Network>(&site.plan.cluster.to_string()).await {
        Ok(network) => network.map(|network| network.id),
        Err(error) => return blind(error),
    };
    let firewall = match &site.plan.firewall {
        Some(wanted) => match cloud.find::<Firewall>(&wanted.name).await {
            Ok(firewall) => firewall.map(|firewall| firewall.id),
            Err(error) => return blind(error),
        },
        None => None,
    };
    if let Some(lacking) = lacking(&server, node, network, firewall) {
        let message = format!("{} is not as wanted: {lacking}", node.name);
        let cause = Cause::new(codes::DIFFERS, message).next(explain(codes::DIFFERS), "tells more");
        return Verdict::not_yet(Because::new(lacking).in_the_end(cause));
    }
    let Some(address) = server.public_address() else {
        return Verdict::not_yet("it has no public address yet");
    };
    let evidence = Evidence::new("running")
        .fact("server", server.id.to_string())
        .fact("type", server.server_type.name.as_str())
        .fact("location", server.location.name.as_str())
        .fact("address", address.to_string())
        .fact("private address", node.address.to_string());
    knock(site, node, evidence, address).await
}

/// Returns what a server lacks to be the one that is wanted.
fn lacking(
    server: &Server,
    node: &NodePlan,
    network: Option<Id<Network>>,
    firewall: Option<Id<Firewall>>,
) -> Option<String> {
    if server.status != ServerStatus::Running {
        return Some(format!("the server is {}", server.status));
    }
    let private = network.and_then(|network| server.address_in(network));
    if private != Some(node.address) {
        let is = private.map_or_else(|| "none".to_owned(), |address| address.to_string());
        return Some(format!("its private address is {is}, not {}", node.address));
    }
    if !firewall.is_none_or(|firewall| server.is_behind(firewall)) {
        return Some("the firewall does not guard it yet".to_owned());
    }
    None
}

async fn knock(site: &Site, node: &NodePlan, evidence: Evidence, address: IpAddr) -> Verdict {
    let talos = SocketAddr::new(address, TALOS_PORT);
    match tokio::time::timeout(KNOCK, TcpStream::connect(talos)).await {
        Ok(Ok(_)) => {
            site.learn_address(&node.name, address);
            Verdict::ready(evidence)
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            closed(node, talos, &io_reason(&error), codes::NODE_REFUSES)
        }
        // No route there, or none from here at all: no machine has answered.
        Ok(Err(error)) => closed(node, talos, &io_reason(&error), codes::NODE_UNREACHABLE),
        Err(_) => closed(node, talos, "no answer", codes::NODE_UNREACHABLE),
    }
}

fn closed(node: &NodePlan, talos: SocketAddr, why: &str, code: events::Code) -> Verdict {
    let what = format!("{talos} is not open: {why}");
    let message = format!("{} cannot be reached on port {TALOS_PORT}", node.name);
    let cause = Cause::new(code, message)
        .because([what.clone()])
        .next(format!("seaworthy talos probe {}", talos.ip()), "shows what answers there")
        .next(explain(code), "tells what to look at");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// The act has made it or seen it: somebody else has taken it away since.
pub(super) fn vanished(site: &Site, node: &NodePlan) -> Verdict {
    let cause = Cause::new(codes::SERVER_GONE, format!("the server {} has vanished", node.name))
        .because(["it was there, and the cloud knows it no more".to_owned()])
        .so("somebody deleted it; the next run makes it anew")
        .next(site.invocation.on_cluster("up"), "goes on, and creates it again");
    Verdict::failed(cause)
}
