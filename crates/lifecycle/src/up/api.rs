//! `api`: every control plane answers directly, then by the way that people go:
//! through the load balancer, or at the endpoint that is in every kubeconfig.
//! Which hop is broken is said.

use std::time::Duration;

use clouds::hetzner::{Health, HetznerError, Id, LoadBalancer, Server};
use events::{Because, Cause, Evidence, Verdict};
use spec::plan::{Endpoint, NodePlan};
use talos::client::ClientError;

use super::health_check;
use crate::hetzner::{API_PORT, blind, explain};
use crate::kube;
use crate::{Site, codes, endpoint};

/// How long a node is asked for what only adds to a reason.
const ASIDE: Duration = Duration::from_secs(3);

/// Looks at each control plane, then at the way that people go.
pub(super) async fn look(site: &Site) -> Verdict {
    let mut evidence = Evidence::default();
    for node in site.control_planes() {
        match direct(site, node).await {
            Ok(()) => evidence = evidence.fact(format!("{}/readyz", node.name), "ok"),
            Err(because) => return not_ready(site, node, &because).await,
        }
    }
    let ready = site.control_planes().count();
    let Some(balancer) = &site.plan.load_balancer else {
        return at_the_endpoint(site, ready, evidence).await;
    };
    let found = match site.hetzner().find::<LoadBalancer>(&balancer.name).await {
        Ok(Some(found)) => found,
        Ok(None) => {
            return Verdict::not_yet(format!("there is no load balancer {}", balancer.name));
        }
        Err(error) => return blind(error),
    };
    let health = found.health(API_PORT);
    let healthy = health.iter().filter(|(_, health)| *health == Health::Healthy).count();
    let through = through(site).await;
    // A control plane that it has not found by its labels yet is a target, too.
    let all = health.len().max(ready);
    evidence = evidence.fact("load balancer healthy", healthy).fact("load balancer targets", all);
    match through {
        Ok(()) if healthy == all => {
            evidence.summary =
                format!("{ready}/{ready} direct, load balancer {healthy}/{all} healthy");
            Verdict::ready(evidence)
        }
        Ok(()) => match unhealthy(site, &health).await {
            Ok(names) => partly_healthy(site, &found, &names, (healthy, all), evidence).await,
            Err(error) => blind(error),
        },
        Err(answer) if healthy > 0 && matches!(site.plan.endpoint, Endpoint::Hostname(_)) => {
            astray(site, &answer, evidence)
        }
        Err(answer) => no_way_through(site, &found, (healthy, all), &answer, evidence).await,
    }
}

/// Asks one control plane itself, and keeps it as one to talk to.
async fn direct(site: &Site, node: &NodePlan) -> Result<(), String> {
    let address = site.address(&node.name).ok_or("its address is not known yet")?;
    let server = format!("https://{address}:{API_PORT}");
    kube::is_ready(site, &server).await?;
    site.learn_api(&server);
    Ok(())
}

/// Asks at the endpoint, unless it is a control plane that has answered already.
async fn at_the_endpoint(site: &Site, ready: usize, mut evidence: Evidence) -> Verdict {
    evidence.summary = format!("{ready}/{ready} direct");
    let server = endpoint::learned(site);
    let direct = site.control_planes().filter_map(|node| site.address(&node.name));
    let mut direct = direct.map(|address| format!("https://{address}:{API_PORT}"));
    if direct.any(|it| server.as_ref() == Some(&it)) {
        return Verdict::ready(evidence);
    }
    match through(site).await {
        Ok(()) => {
            evidence.summary = format!("{}, {}", evidence.summary, called(&site.plan.endpoint));
            Verdict::ready(evidence.fact("endpoint/readyz", "ok"))
        }
        Err(answer) => astray(site, &answer, evidence),
    }
}

async fn through(site: &Site) -> Result<(), String> {
    let server = endpoint::learned(site).ok_or("its address is not known yet")?;
    kube::is_ready(site, &server).await
}

async fn not_ready(site: &Site, node: &NodePlan, why: &str) -> Verdict {
    let what = format!("{}: {why}", node.name);
    let cause = Cause::new(
        codes::API_NOT_READY,
        format!("the Kubernetes API on {} is not ready", node.name),
    )
    .because([why.to_owned()])
    .because_of_each(unready_pods(site, node).await)
    .next(format!("talosctl -n {} service kubelet", node.address), "shows what runs there")
    .next(explain(codes::API_NOT_READY), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// Returns which parts of its control plane a node says are not ready. Who cannot be
/// asked for them adds nothing.
async fn unready_pods(site: &Site, node: &NodePlan) -> Vec<String> {
    let Some(at) = site.talos(node) else { return Vec::new() };
    let told = async { at.authenticated(site.talos_admin()).await?.static_pods().await };
    let told = tokio::time::timeout(ASIDE, told).await;
    let Ok(Ok::<_, ClientError>(pods)) = told else { return Vec::new() };
    if pods.is_empty() {
        return vec![format!("the kubelet of {} has not started the API yet", node.name)];
    }
    let unready = pods.iter().filter(|pod| !pod.ready);
    unready.map(|pod| format!("{} is {}, not ready", pod.name, pod.phase)).collect()
}

/// Every control plane has answered: the endpoint does not lead to them.
fn astray(site: &Site, answer: &str, evidence: Evidence) -> Verdict {
    let endpoint = called(&site.plan.endpoint);
    let what = format!("{endpoint} does not answer: {answer}");
    let message = format!("{endpoint} does not lead to the Kubernetes API");
    let first = site.control_planes().next().map(|node| node.address.to_string());
    let first = first.unwrap_or_default();
    let (so, command, tells) = match &site.plan.endpoint {
        Endpoint::Hostname(name) => (
            "the name leads elsewhere, or nowhere, from here",
            format!("getent hosts {name}"),
            "shows which addresses the name has here",
        ),
        _ => (
            "no control plane holds the address, or it cannot be reached from here",
            format!("talosctl -n {first} get addresses"),
            "shows which addresses a control plane holds",
        ),
    };
    let cause = Cause::new(codes::ENDPOINT_ASTRAY, message)
        .because([answer.to_owned()])
        .so(format!("{}; {so}", answers_directly(site)))
        .seen(evidence.fact("answer", answer))
        .next(command, tells)
        .next(explain(codes::ENDPOINT_ASTRAY), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// What people call an endpoint.
fn called(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Hostname(name) => format!("the name {name}"),
        Endpoint::Vip(address) => format!("the VIP {address}"),
        Endpoint::LoadBalancer(name) => format!("the load balancer {name}"),
        Endpoint::PrivateLoadBalancer(address) => format!("the load balancer {address}"),
        Endpoint::Node(address) => format!("the address {address}"),
    }
}

fn answers_directly(site: &Site) -> String {
    let names: Vec<_> = site.control_planes().map(|node| node.name.as_str()).collect();
    format!("kube-apiserver on {} answers /readyz directly", names.join(", "))
}

/// Every control plane has answered: what is broken is the way through.
async fn no_way_through(
    site: &Site,
    balancer: &LoadBalancer,
    (healthy, all): (usize, usize),
    answer: &str,
    evidence: Evidence,
) -> Verdict {
    let name = &balancer.name;
    let targets = format!("load balancer {name}: {healthy} of {all} targets healthy");
    let message = match healthy {
        0 => format!("the load balancer has no healthy target for port {API_PORT}"),
        _ => format!("the load balancer does not pass port {API_PORT} on"),
    };
    let cause = Cause::new(codes::LB_NO_HEALTHY_TARGET, message)
        .because([targets.clone()])
        .because(health_check::told(site, balancer, site.control_planes().next()).await)
        .so(format!(
            "{}; only the path through the load balancer is broken",
            answers_directly(site)
        ))
        .seen(evidence.fact("answer", answer))
        .next("kubectl get --raw '/readyz?verbose'", "asks a control plane directly")
        .next(site.invocation.on_cluster("status"), "shows which targets are healthy")
        .next(explain(codes::LB_NO_HEALTHY_TARGET), "tells more");
    let because = Because::new(targets).caused_by(answer);
    Verdict::not_yet(because.in_the_end(cause).sure_after(health_check::settles(balancer)))
}

/// Returns the control planes that the load balancer does not call healthy.
async fn unhealthy(
    site: &Site,
    health: &[(Id<Server>, Health)],
) -> Result<Vec<String>, HetznerError> {
    let mut names = Vec::new();
    for node in site.control_planes() {
        let server = site.hetzner().find::<Server>(&node.name).await?;
        let is_healthy = |(id, health): &(Id<Server>, Health)| {
            *health == Health::Healthy && server.as_ref().is_some_and(|server| server.id == *id)
        };
        if !health.iter().any(is_healthy) {
            names.push(node.name.clone());
        }
    }
    Ok(names)
}

/// The API answers through the load balancer, but not from every control plane.
async fn partly_healthy(
    site: &Site,
    balancer: &LoadBalancer,
    names: &[String],
    (healthy, all): (usize, usize),
    evidence: Evidence,
) -> Verdict {
    let targets = format!("load balancer {}: {healthy} of {all} targets healthy", balancer.name);
    let message = match names {
        [] => "the load balancer has a target that is no control plane".to_owned(),
        names => format!("the load balancer does not call {} healthy", names.join(", ")),
    };
    let first = site.control_planes().find(|node| names.contains(&node.name));
    let cause = Cause::new(codes::LB_TARGET_UNHEALTHY, message)
        .because([targets.clone()])
        .because(health_check::told(site, balancer, first).await)
        .so("the API is up; the load balancer sends nothing to these control planes")
        .seen(evidence.fact("unhealthy", names.join(", ")))
        .next(site.invocation.on_cluster("status"), "shows which targets are healthy")
        .next(explain(codes::LB_TARGET_UNHEALTHY), "tells more");
    let because = Because::new(targets).in_the_end(cause);
    Verdict::not_yet(because.sure_after(health_check::settles(balancer)))
}
