//! `etcd`: the API reaches it, and its members agree. What the members say only Talos
//! tells, so that is a check of its own, which takes a talosconfig.

use std::net::IpAddr;

use events::{Because, Cause, Code, Evidence, Failure, Verdict};
use futures::future::join_all;
use objects::Object;
use talos::client::{ClientError, Node, Reason, Service};
use talos::credentials::Identity;

use super::nodeless::nodeless;
use super::{Roll, Verify};
use crate::etcd_opinion::Said;
use crate::etcd_verdict::{self, Known, judge};
use crate::hetzner::explain;
use crate::{codes, node_trouble};

/// The part of the API's own health that is about etcd.
pub(super) const PATH: &str = "/readyz/etcd";

/// The label of nodes that run etcd.
const CONTROL_PLANE: &str = "/metadata/labels/node-role.kubernetes.io~1control-plane";

/// Control planes that tell more than the API does.
#[derive(Clone, Debug)]
pub struct ControlPlanes {
    /// Where they are.
    pub endpoints: Vec<Node>,
    /// Other machines that the talosconfig names.
    pub others: Vec<Node>,
    /// Those that it calls by names, which only the cluster knows.
    pub names: Vec<String>,
    /// Which machines are asked how they are.
    pub roll: Roll,
    /// What is shown to them.
    pub identity: Identity,
}

pub(super) async fn look(verify: &Verify) -> Verdict {
    match as_the_api_sees_it(verify).await {
        Ok(()) => Verdict::ready(Evidence::new("the API reaches it").fact(PATH, "ok")),
        Err(verdict) => verdict,
    }
}

pub(super) async fn members(verify: &Verify) -> Verdict {
    let Some(planes) = verify.control_planes() else {
        return Verdict::blind(Failure::permanent("no talosconfig says where the members are"));
    };
    let nodes = match verify.all("v1", "Node").await {
        Ok(nodes) => nodes,
        Err(error) => return Verdict::blind(error),
    };
    let members = nodes.iter().filter(|node| node.at(CONTROL_PLANE).is_some());
    let known = known(members);
    // Before nodes have registered, those that were named are all that is known.
    let wanted = if known.names.is_empty() { planes.endpoints.len() } else { known.names.len() };
    as_members_see_it(planes, wanted, &known).await
}

/// What Kubernetes knows of its control planes.
fn known<'a>(nodes: impl Iterator<Item = &'a Object>) -> Known {
    let mut known = Known::default();
    for node in nodes {
        known.names.push(node.id().name.clone());
        let addresses = node.items("/status/addresses").iter();
        let addresses = addresses.filter_map(|it| it["address"].as_str()?.parse::<IpAddr>().ok());
        known.addresses.extend(addresses);
    }
    known
}

async fn as_the_api_sees_it(verify: &Verify) -> Result<(), Verdict> {
    let cluster = verify.cluster().await.map_err(Verdict::blind)?;
    let health = cluster.readyz().await.map_err(|error| Verdict::blind(verify.unread(&error)))?;
    if health.failing.iter().any(|check| check.starts_with("etcd")) {
        return Err(unreachable());
    }
    let said = cluster.raw(PATH).await;
    said.map(drop).map_err(|error| Verdict::blind(verify.unread(&error)))
}

async fn as_members_see_it(planes: &ControlPlanes, wanted: usize, known: &Known) -> Verdict {
    let asked = planes.endpoints.iter().map(async |at| {
        let name = at.address.ip().to_string();
        (Said::by(*at, &planes.identity, &name).await, name)
    });
    let mut opinions = Vec::new();
    for (said, name) in join_all(asked).await {
        match said {
            Ok(Said::Opinion(opinion)) => opinions.push(opinion),
            Ok(Said::NoLeader) => return etcd_verdict::leaderless(&[&name]),
            Ok(Said::Idle(etcd)) => return not_running(&name, etcd.as_ref()),
            Err(error) => return unheard(&name, &error),
        }
    }
    let addresses: Vec<_> = planes.endpoints.iter().map(|at| at.address.ip()).collect();
    if let Some(verdict) = nodeless(&opinions, known, &addresses) {
        return verdict;
    }
    let (asked, mut verdict) = (opinions.len(), judge(wanted, &opinions));
    if let Some(evidence) = verdict.evidence_mut().filter(|_| asked < wanted) {
        // Who was not asked may see something else.
        let asked = format!("{asked} of {wanted} control planes asked");
        evidence.summary = format!("{}; {asked}", evidence.summary);
    }
    verdict
}

fn unreachable() -> Verdict {
    let what = "/readyz fails at etcd";
    let cause = Cause::new(codes::ETCD_NOT_RUNNING, "the Kubernetes API does not reach etcd")
        .because([what.to_owned()])
        .next("kubectl get --raw '/readyz?verbose'", "shows every check")
        .next(explain(codes::ETCD_NOT_RUNNING), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

fn not_running(name: &str, etcd: Option<&Service>) -> Verdict {
    let what = format!("etcd does not run on {name}");
    let cause = etcd_verdict::not_running(name, name, etcd, &[]);
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// A node that says no is not looked at, which is never healthy.
pub(super) fn unheard(name: &str, error: &ClientError) -> Verdict {
    if error.class().is_retryable() {
        return Verdict::blind(error.failure());
    }
    let (code, message) = called(name, &error.reason);
    let cause = Cause::new(code, message)
        .because([error.reason.to_string()])
        .so(node_trouble::meant(&error.reason))
        .next(format!("seaworthy talos probe {name}"), "shows which mode it is in")
        .next(explain(code), "tells more");
    match &error.reason {
        // Somebody may be about to bring it, and a wait is for that.
        Reason::StillInMaintenance { .. } => {
            let what = format!("{name} waits for its config");
            Verdict::not_yet(Because::new(what).in_the_end(cause))
        }
        _ => Verdict::failed(cause),
    }
}

/// Returns what an answer is called, and what it says of a node.
pub(super) fn called(name: &str, reason: &Reason) -> (Code, String) {
    match reason {
        // Whoever only looks does not know what was sent there.
        Reason::StillInMaintenance { .. } => {
            (codes::STILL_IN_MAINTENANCE, format!("{name} waits for its config"))
        }
        reason => node_trouble::named(name, reason),
    }
}

#[cfg(test)]
impl ControlPlanes {
    /// Control planes of which nobody knows where they are, and machines with names.
    pub(super) fn sample(roll: Roll, names: &[&str]) -> Self {
        use rand::SeedableRng as _;
        let (now, mut rng) = (jiff::Timestamp::UNIX_EPOCH, rand::rngs::StdRng::seed_from_u64(1));
        let key = talos::pki::PrivateKey::p256().expect("a key is made");
        let bundle = talos::secrets::Bundle::generate(key, now, &mut rng);
        let bundle = bundle.expect("a bundle is made");
        let reader = talos::credentials::Role::Reader;
        let identity = Identity::talos(&bundle, reader, now, &mut rng).expect("one is made");
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Self { endpoints: Vec::new(), others: Vec::new(), names, roll, identity }
    }
}
