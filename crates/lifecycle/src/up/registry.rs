//! The probe of `etcd`: control planes get their images.
//!
//! The services that need them do not say that they get none: kubelet and etcd are
//! `Preparing: Running pre state` for as long as no registry answers. Whoever pulls
//! himself is told why not, at once.

use engine::{ActError, Ensured, Hands, Sight};
use events::{Because, Cause, Evidence, Failure, Made, Verdict};
use futures::future::join_all;
use spec::Version;
use spec::plan::NodePlan;
use talos::client::{ClientError, Keeper, Node, Pull, Service};
use talos::config::Images;

use super::nodes::machine_of;
use crate::hetzner::explain;
use crate::machine_sight::complaint;
use crate::node_trouble::Asked;
use crate::{Site, codes, machine, machine_config, node_trouble};

/// The first version whose nodes can be told to pull an image.
const FIRST: Version = Version::new(1, 13, 0);

/// What keeps containers of Kubernetes, and pulls their images.
const RUNTIME: &str = "cri";

/// The services that have got their images once they run.
const NEEDY: [&str; 2] = ["kubelet", "etcd"];

/// Lets control planes pull what they need first, unless they have it already.
pub(super) async fn probe(site: &Site, hands: &Hands) -> Result<Verdict, ActError> {
    if site.plan.talos < FIRST {
        let evidence = Evidence::new("nodes of this version cannot be asked for their images");
        return Ok(Verdict::ready(evidence.fact("can be asked since", FIRST.to_string())));
    }
    // All come to their end, so that no pull is left in doubt by another's failure.
    let probes = site.control_planes().map(async |node| (node, of(site, hands, node).await));
    let mut evidence = Evidence::new("control planes get their images");
    for (node, probed) in join_all(probes).await {
        match probed? {
            Verdict::Ready { evidence: seen } => {
                evidence = evidence.fact(node.name.clone(), seen.summary);
            }
            verdict => return Ok(node_trouble::of(node, verdict)),
        }
    }
    Ok(Verdict::ready(evidence))
}

/// The same, of one of them.
async fn of(site: &Site, hands: &Hands, node: &NodePlan) -> Result<Verdict, ActError> {
    let at = site.talos(node).ok_or_else(|| Failure::transient("its address is not known yet"))?;
    let services = async { at.authenticated(site.talos_admin()).await?.service_list().await };
    let services = match services.await {
        Ok(services) => services,
        Err(error) => return Ok(node_trouble::verdict(site, node, &error)),
    };
    let service = |id: &str| services.iter().find(|it| it.id == id);
    if NEEDY.iter().all(|id| service(id).is_some_and(is_running)) {
        return Ok(Verdict::ready(Evidence::new("has them: its kubelet and its etcd run")));
    }
    if !service(RUNTIME).is_some_and(is_running) {
        return Ok(not_started(node, service(RUNTIME)));
    }
    let mut names = Vec::new();
    for (image, keeper) in images(site, node)? {
        names.push(pulled(site, hands, node, at, &image, keeper).await?);
    }
    Ok(Verdict::ready(Evidence::new(names.join(", "))))
}

/// Returns the first image of each registry that a control plane needs.
fn images(site: &Site, node: &NodePlan) -> Result<Vec<(String, Keeper)>, ActError> {
    let permanent = |error: &dyn std::error::Error| Failure::permanent(error.to_string());
    let config = machine_config::render(site, node).map_err(|error| permanent(&error))?;
    let images = Images::of(config.yaml().reveal()).map_err(|error| permanent(&error))?;
    let kubelet = images.kubelet.map(|image| (image, Keeper::Services));
    let api_server = images.api_server.map(|image| (image, Keeper::Kubernetes));
    Ok(kubelet.into_iter().chain(api_server).collect())
}

/// Lets a node pull an image, and returns its name with its digest.
async fn pulled(
    site: &Site,
    hands: &Hands,
    node: &NodePlan,
    at: Node,
    image: &str,
    keeper: Keeper,
) -> Result<String, ActError> {
    let machine = machine_of(site, node).await?;
    let target = format!("{}: {image}", machine::target(&node.name, &machine));
    let call = Pull { target: &target, image, keeper }.call();
    // Which images a node has it does not tell; one that it has it does not pull again.
    let look = async |_| Ok(Sight::NotThere);
    let (identity, asked) = (site.talos_admin().clone(), Asked::new(site, &node.name));
    let wanted = image.to_owned();
    let send = move |permit| async move {
        let unsent = |error: ClientError| asked.unsent(error.class(), &error);
        let client = at.authenticated(&identity).await.map_err(unsent)?;
        let pull = Pull { target: &target, image: &wanted, keeper };
        let name = client.pull_image(permit, &pull).await.map_err(unsent)?;
        Ok(Made::id("image", name))
    };
    match hands.ensure(call, look, send).await? {
        Ensured::Sent(made) | Ensured::Found(made) => {
            Ok(made.ids.into_values().next().unwrap_or_default())
        }
        Ensured::Pending(_) => Err(Failure::transient(format!("{image} is being pulled")).into()),
    }
}

fn is_running(service: &Service) -> bool {
    service.state == "Running"
}

fn not_started(node: &NodePlan, runtime: Option<&Service>) -> Verdict {
    let why = runtime.map_or_else(|| "it has no such service yet".to_owned(), complaint);
    let what = format!("its container runtime does not run: {why}");
    let message = format!("the container runtime of {} does not start", node.name);
    let cause = Cause::new(codes::IMAGE_UNAVAILABLE, message)
        .because([why])
        .next(format!("talosctl -n {} service {RUNTIME}", node.address), "shows what it waits for")
        .next(explain(codes::IMAGE_UNAVAILABLE), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}
