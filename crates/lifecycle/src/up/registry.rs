//! The probe of `etcd`: control planes get their images.
//!
//! The services that need them do not say that they get none: kubelet and etcd are
//! `Preparing: Running pre state` for as long as no registry answers. Whoever pulls
//! himself is told why not, at once.

use std::time::Duration;

use engine::{ActError, Ensured, Hands, SendError, Sight};
use events::{Because, Cause, Evidence, Failure, Heals, Made, NextStep, Verdict};
use futures::future::join_all;
use spec::Version;
use spec::plan::NodePlan;
use talos::client::{ClientError, Deadlines, Keeper, Node, Pull, Reason, Service};
use talos::config::Images;

use super::nodes::machine_of;
use crate::hetzner::explain;
use crate::machine_sight::complaint;
use crate::node_trouble::Asked;
use crate::{Site, codes, machine, node_trouble};

/// The first version whose nodes tell at once why they get no image. Those of 1.13 pull,
/// too, and try for twenty minutes before they say a word; older ones do not pull.
const FIRST: Version = Version::new(1, 14, 0);

/// How long a pull is waited for, before its services are looked at again. Nobody can
/// break it off, who wants to stop here.
const PATIENCE: Duration = Duration::from_mins(1);

/// What keeps containers of Kubernetes, and pulls their images.
const RUNTIME: &str = "cri";

/// The services that have got their images once they run.
const NEEDY: [&str; 2] = ["kubelet", "etcd"];

/// Lets control planes pull what they need first, unless they have it already.
pub(super) async fn probe(site: &Site, hands: &Hands) -> Result<Verdict, ActError> {
    if site.plan.talos < FIRST {
        let evidence = Evidence::new("nodes of this version do not tell why they get no image");
        return Ok(Verdict::ready(evidence.fact("is told since", FIRST.to_string())));
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
    // What it was given decides, whatever the file says by now.
    let seen = async {
        let client = at.authenticated(site.talos_admin()).await?;
        Ok::<_, ClientError>((client.service_list().await?, client.wanted_images().await?))
    };
    let (services, wanted) = match seen.await {
        Ok(seen) => seen,
        Err(error) => return Ok(node_trouble::verdict(site, node, &error)),
    };
    let service = |id: &str| services.iter().find(|it| it.id == id);
    if NEEDY.iter().all(|id| service(id).is_some_and(is_running)) {
        return Ok(Verdict::ready(Evidence::new("has them: its kubelet and its etcd run")));
    }
    if !service(RUNTIME).is_some_and(is_running) {
        return Ok(not_started(node, service(RUNTIME)));
    }
    let target = machine::target(&node.name, &machine_of(site, node).await?);
    let mut names = Vec::new();
    for (image, keeper) in first_of_each_registry(wanted) {
        let asked = Asked::new(site, &node.name);
        names.push(pulled(site, hands, at, asked, &target, (&image, keeper)).await?);
    }
    Ok(Verdict::ready(Evidence::new(names.join(", "))))
}

/// Returns the images to pull, and for whom: where the config leaves the choice to
/// Talos there is nothing to ask for by name.
fn first_of_each_registry(wanted: Images) -> impl Iterator<Item = (String, Keeper)> {
    let kubelet = wanted.kubelet.map(|image| (image, Keeper::Services));
    let api_server = wanted.api_server.map(|image| (image, Keeper::Kubernetes));
    kubelet.into_iter().chain(api_server)
}

/// Lets a node pull an image, and returns its name with its digest.
async fn pulled(
    site: &Site,
    hands: &Hands,
    at: Node,
    asked: Asked,
    target: &str,
    (image, keeper): (&str, Keeper),
) -> Result<String, ActError> {
    let target = format!("{target}: {image}");
    let call = Pull { target: &target, image, keeper }.call();
    // Which images a node has it does not tell; one that it has it does not pull again.
    let look = async |_| Ok(Sight::NotThere);
    let identity = site.talos_admin().clone();
    let at = Node { deadlines: Deadlines { long: PATIENCE, ..at.deadlines }, ..at };
    let wanted = image.to_owned();
    let send = move |permit| async move {
        let unsent = |error: ClientError| unsent(&asked, &wanted, keeper, &error);
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

/// Says which image a node does not get, where it is that: first, since whoever waits
/// sees little more than the beginning.
fn unsent(asked: &Asked, image: &str, keeper: Keeper, error: &ClientError) -> SendError {
    let end = asked.unsent(error.class(), error);
    let Reason::PullFailed(why) = &error.reason else { return end };
    let message = format!("{} does not get {image}", asked.name);
    let namespace = match keeper {
        Keeper::Kubernetes => "cri",
        Keeper::Services | Keeper::Talos => "system",
    };
    let again = format!("talosctl -n {} image pull {image} --namespace {namespace}", asked.at);
    let failure = Failure { message, sources: vec![why.clone()], ..end.failure.clone() };
    let mut cause = Cause { message: failure.message.clone(), ..asked.cause(error) };
    if addons::gate::is_refusal(why) {
        cause = cause.heals(Heals::AfterAction);
    }
    // What was answered last, so that it is told once.
    cause.because = vec![failure.to_string()];
    cause.next.insert(0, NextStep { command: again, tells: "tries again by hand".to_owned() });
    SendError { failure, ..end }.in_the_end(Some(cause))
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
