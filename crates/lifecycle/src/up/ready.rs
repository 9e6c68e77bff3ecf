//! `ready`: of every node Talos, the kubelet and Kubernetes say the same.

use std::cmp::Reverse;

use events::{Because, Cause, Code, Evidence, Failure, NextStep, Verdict};
use objects::{Object, Scope};
use spec::plan::NodePlan;
use talos::client::{ClientError, Service};

use crate::hetzner::explain;
use crate::lease::Lease;
use crate::machine_sight::{MachineSight, complaint, diagnosed};
use crate::{Site, codes, kube, node_trouble};

/// How many warnings are told.
const NEWEST: usize = 3;

/// Looks at the node from all three sides. The first to say no is told, with
/// what the others say behind it.
pub(super) async fn look(site: &Site, node: &NodePlan) -> Verdict {
    let machine = machine(site, node).await;
    let object = match kube::get(site, &kube::kind("v1", "Node").named(None, &node.name)).await {
        Ok(object) => object,
        Err(error) => return kube::blind(error),
    };
    let Some(object) = object else { return absent(site, node, &machine).await };
    let machine = match machine {
        Ok(machine) => machine,
        Err(error) => return node_trouble::verdict(site, node, &error),
    };
    if let Some(kubelet) = machine.unwell_kubelet() {
        return unhealthy(site, node, &machine, kubelet).await;
    }
    if let Some(verdict) = condition(node, &object) {
        return verdict;
    }
    if !machine.status.ready {
        return unmet(site, node, &machine).await;
    }
    if let Some(verdict) = lease(site, node).await {
        return verdict;
    }
    if site.plan.nodes.first() == Some(node)
        && let Some(verdict) = whole_cluster(site).await
    {
        return verdict;
    }
    let kubelet = object.text("/status/nodeInfo/kubeletVersion").unwrap_or("unknown");
    Verdict::ready(
        Evidence::new("ready")
            .fact("machine stage", machine.stage())
            .fact("kubelet", kubelet)
            .fact("provider id", object.text("/spec/providerID").unwrap_or("none")),
    )
}

/// Looks whether all nodes have joined and are heard of, and says why the first is
/// not: nothing that a cluster is brought can do anything about that.
pub(super) async fn somebody_is_away(site: &Site) -> Option<Verdict> {
    let there = match kube::list(site, &Scope::all(kube::kind("v1", "Node"))).await {
        Ok(there) => there,
        Err(error) => return Some(kube::blind(error)),
    };
    let found = |node: &NodePlan| there.iter().find(|object| object.id().name == node.name);
    let mut nodes = site.plan.nodes.iter().map(|node| (node, found(node)));
    let (node, object) = nodes.find(|(_, object)| object.is_none_or(is_silent))?;
    let machine = machine(site, node).await;
    let verdict = match (&machine, object) {
        (Ok(machine), _) if machine.unwell_kubelet().is_some() => {
            unhealthy(site, node, machine, machine.unwell_kubelet()?).await
        }
        (_, None) => absent(site, node, &machine).await,
        (Err(error), Some(_)) => node_trouble::verdict(site, node, error),
        (Ok(_), Some(object)) => condition(node, object)?,
    };
    Some(node_trouble::of(node, verdict))
}

/// Whether Kubernetes has not heard of a node for a while, and calls none of its
/// pods ready any more.
fn is_silent(node: &Object) -> bool {
    let conditions = node.items("/status/conditions");
    conditions.iter().any(|it| it["type"] == "Ready" && it["status"] == "Unknown")
}

/// Asks the machine of a node.
async fn machine(site: &Site, node: &NodePlan) -> Result<MachineSight, ClientError> {
    let at = site.talos(node).expect("the stage `nodes` has learned the address");
    MachineSight::of(at, site.talos_admin()).await
}

/// Returns what the machine of a node finds wrong with itself.
async fn found(site: &Site, node: &NodePlan) -> Vec<String> {
    match site.talos(node) {
        Some(at) => diagnosed(at, site.talos_admin()).await,
        None => Vec::new(),
    }
}

fn probe(site: &Site, node: &NodePlan) -> String {
    let address = site.address(&node.name).unwrap_or(node.address.into());
    format!("seaworthy talos probe {address}")
}

/// There is no Node object: what the machine says of itself tells why.
async fn absent(
    site: &Site,
    node: &NodePlan,
    machine: &Result<MachineSight, ClientError>,
) -> Verdict {
    let what = "there is no Node of this name";
    let behind = match machine {
        Ok(machine) => {
            let mut lines = vec![format!("its machine is {}", machine.stage())];
            lines.extend(machine.unmet());
            lines.extend(found(site, node).await);
            lines
        }
        Err(error) => vec![format!("its Talos API does not answer: {}", error.reason)],
    };
    let cause =
        Cause::new(codes::NODE_NEVER_JOINED, format!("{} never joined the cluster", node.name))
            .because_of_each(behind.clone())
            .so("the control planes answer; what is missing is on the way from this node to them")
            .next(probe(site, node), "shows whether its Talos API answers, and in which mode")
            .next(explain(codes::NODE_NEVER_JOINED), "tells what to look at");
    let because = behind.into_iter().fold(Because::new(what), Because::caused_by);
    Verdict::not_yet(because.in_the_end(cause))
}

async fn unhealthy(
    site: &Site,
    node: &NodePlan,
    machine: &MachineSight,
    kubelet: &Service,
) -> Verdict {
    let message = complaint(kubelet);
    let what = format!("kubelet: {message}");
    let events = pod_events(site, node).await.unwrap_or_default();
    let cause = Cause::new(
        codes::KUBELET_UNHEALTHY,
        format!("the kubelet of {} is not healthy", node.name),
    )
    .because([message])
    .because(found(site, node).await)
    .because_of_each(events)
    .also(machine.unmet())
    .next(format!("talosctl -n {} logs kubelet", node.address), "shows what it says itself")
    .next(explain(codes::KUBELET_UNHEALTHY), "tells more")
    .so(meant(kubelet));
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// A kubelet that prepares itself pulls its image, and does not say why it gets none.
fn meant(kubelet: &Service) -> &'static str {
    match kubelet.state.as_str() {
        "Preparing" => "its image is being pulled; if that lasts, the node does not get it",
        _ => "the node starts no pods until its kubelet is healthy",
    }
}

/// Returns the newest warnings about pods of a node.
async fn pod_events(site: &Site, node: &NodePlan) -> Result<Vec<String>, Failure> {
    let scope = Scope::all(kube::kind("v1", "Event")).with_fields("type=Warning");
    Ok(newest(&kube::list(site, &scope).await?, &node.name))
}

fn newest(warnings: &[Object], node: &str) -> Vec<String> {
    let of_node = |event: &&Object| event.text("/source/host") == Some(node);
    let mut warnings: Vec<_> = warnings.iter().filter(of_node).collect();
    warnings.sort_by_key(|event| Reverse(objects::happened_at(event)));
    let line = |event: &Object| {
        let text = |pointer| event.text(pointer).unwrap_or_default();
        format!("{} {}: {}", text("/reason"), text("/involvedObject/name"), text("/message"))
    };
    warnings.into_iter().take(NEWEST).map(line).collect()
}

fn condition(node: &NodePlan, object: &Object) -> Option<Verdict> {
    let conditions = object.items("/status/conditions");
    let ready = conditions.iter().find(|it| it["type"] == "Ready");
    let text = |key: &str| ready.and_then(|it| it[key].as_str()).unwrap_or("unknown").to_owned();
    if text("status") == "True" {
        return None;
    }
    let what = format!("{}: {}", text("reason"), text("message"));
    let message = format!("{} is not ready", node.name);
    let verdict = not_yet(codes::NODE_NOT_READY, message, what, Vec::new());
    let command = format!("kubectl describe node {}", node.name);
    Some(with_step(verdict, &command, "shows its conditions and events"))
}

async fn unmet(site: &Site, node: &NodePlan, machine: &MachineSight) -> Verdict {
    let mut unmet = machine.unmet();
    let first = unmet.first().cloned().unwrap_or_else(|| format!("it is {}", machine.stage()));
    unmet.extend(found(site, node).await);
    let what = format!("machine not ready: {first}");
    not_yet(codes::NODE_NOT_READY, format!("{} is not ready", node.name), what, unmet)
}

async fn lease(site: &Site, node: &NodePlan) -> Option<Verdict> {
    let id =
        kube::kind("coordination.k8s.io/v1", "Lease").named(Some("kube-node-lease"), &node.name);
    let lease = match kube::get(site, &id).await {
        Ok(lease) => lease,
        Err(error) => return Some(kube::blind(error)),
    };
    let Some(lease) = lease.as_ref().and_then(Lease::of) else {
        return Some(Verdict::not_yet("it has no lease yet"));
    };
    let what = site.stale_lease(&node.name, lease)?;
    let behind = vec!["no renewal of it was seen lately".to_owned()];
    let message = format!("{} is not ready", node.name);
    Some(not_yet(codes::NODE_NOT_READY, message, what, behind))
}

/// What no single node can answer: names resolve, and no certificate waits.
async fn whole_cluster(site: &Site) -> Option<Verdict> {
    let slices = Scope::all(kube::kind("discovery.k8s.io/v1", "EndpointSlice"))
        .within("kube-system")
        .labelled("kubernetes.io/service-name=kube-dns");
    let slices = match kube::list(site, &slices).await {
        Ok(slices) => slices,
        Err(error) => return Some(kube::blind(error)),
    };
    let ready = slices.iter().flat_map(|slice| slice.items("/endpoints"));
    if ready.filter(|endpoint| endpoint["conditions"]["ready"] == true).count() == 0 {
        return Some(no_dns(site).await);
    }
    let requests = Scope::all(kube::kind("certificates.k8s.io/v1", "CertificateSigningRequest"));
    let requests = match kube::list(site, &requests).await {
        Ok(requests) => requests,
        Err(error) => return Some(kube::blind(error)),
    };
    let pending = requests.iter().filter(|it| it.items("/status/conditions").is_empty()).count();
    (pending > 0)
        .then(|| Verdict::not_yet(format!("{pending} certificate requests wait for approval")))
}

/// Says why `CoreDNS` serves nobody, down to what its pods say.
async fn no_dns(site: &Site) -> Verdict {
    let id = kube::kind("apps/v1", "Deployment").named(Some("kube-system"), "coredns");
    let behind = match kube::any(site).await {
        Ok(cluster) => cluster.why(&id).await.map(|why| why.with_last_log_line().lines()),
        Err(_) => Ok(Vec::new()),
    };
    let behind = behind.unwrap_or_default();
    let first = behind.first().cloned();
    let what = first.unwrap_or_else(|| "CoreDNS has no ready endpoint".to_owned());
    let message = "the cluster has no DNS: CoreDNS has no ready endpoint".to_owned();
    let behind = behind.into_iter().skip(1).collect();
    let verdict = not_yet(codes::DNS_NOT_READY, message, what, behind);
    let command = "kubectl -n kube-system describe deployment coredns";
    with_step(verdict, command, "shows its pods and events")
}

fn with_step(mut verdict: Verdict, command: &str, tells: &str) -> Verdict {
    if let Some(cause) = verdict.cause_mut() {
        cause.next.push(NextStep { command: command.to_owned(), tells: tells.to_owned() });
    }
    verdict
}

fn not_yet(code: Code, message: String, what: String, behind: Vec<String>) -> Verdict {
    let cause = Cause::new(code, message)
        .because([what.clone()])
        .because(behind)
        .next(explain(code), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A warning of a node about the pod of a second.
    fn warning(node: &str, second: u8) -> Object {
        Object::new(json!({
            "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "Failed",
            "metadata": { "name": format!("e{second}") }, "message": "why",
            "source": { "host": node }, "involvedObject": { "name": format!("pod-{second}") },
            "lastTimestamp": format!("2026-01-01T00:00:0{second}Z"),
        }))
        .expect("it is an object")
    }

    #[test]
    fn the_newest_warnings_of_a_node_are_told() {
        let warnings: Vec<_> = [3, 1, 5, 2, 4].map(|second| warning("a", second)).into();
        let warnings = [warnings, vec![warning("b", 9)]].concat();
        let told = newest(&warnings, "a");
        assert_eq!(told, ["Failed pod-5: why", "Failed pod-4: why", "Failed pod-3: why"]);
    }
}
