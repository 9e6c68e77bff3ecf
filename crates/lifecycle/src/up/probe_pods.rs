//! The pods that prove the ways between nodes: whether they run, and why not.

use addons::probe::Datapath;
use events::{Because, Cause, Failure, NodeName, Verdict};
use objects::{Object, Status};

use super::ready;
use crate::hetzner::explain;
use crate::{Site, codes, kube, node_trouble};

/// Returns the addresses of the probe pods, once all are ready.
pub(super) async fn addresses(
    site: &Site,
    datapath: &Datapath,
) -> Result<Result<Vec<(NodeName, String)>, Verdict>, Failure> {
    let namespace = datapath.mark().namespace();
    let scope = objects::Scope::all(kube::kind("v1", "Pod")).within(&namespace);
    let pods = kube::list(site, &scope).await?;
    let mut addresses = Vec::new();
    for node in &datapath.nodes {
        let name = Datapath::pod_name(node);
        let pod = pods.iter().find(|pod| pod.id().name == name);
        let ready = pod.filter(|pod| Status::of(pod).is_ready());
        match ready.and_then(|pod| pod.text("/status/podIP")) {
            Some(ip) => addresses.push((node.clone(), ip.to_owned())),
            None => return Ok(Err(not_ready(site, node, pod).await)),
        }
    }
    Ok(Ok(addresses))
}

/// Says why a probe pod does not run. Where its node has trouble of its own,
/// that is the cause.
async fn not_ready(site: &Site, node: &NodeName, pod: Option<&Object>) -> Verdict {
    if let Some(planned) = site.plan.nodes.iter().find(|it| it.name == node.as_str()) {
        let verdict = ready::look(site, planned).await;
        if !matches!(verdict, Verdict::Ready { .. }) {
            return node_trouble::of(planned, verdict);
        }
    }
    let behind = match (pod, kube::any(site).await) {
        (Some(pod), Ok(cluster)) => cluster.why_of(pod).await.without_logs().lines(),
        _ => Vec::new(),
    };
    let what = format!("{node}: its probe pod is not ready yet");
    let message = format!("the probe pod on {node} does not get ready");
    let cause = Cause::new(codes::PROBE_POD_NOT_READY, message)
        .because(behind.clone())
        .next(explain(codes::PROBE_POD_NOT_READY), "tells what to look at");
    let because = behind.into_iter().fold(Because::new(what), Because::caused_by);
    Verdict::not_yet(because.in_the_end(cause))
}
