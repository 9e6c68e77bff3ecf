//! Letting a gate see what it needs.

use addons::gate::{Answer, Look, Route, Seen};
use addons::{Gate, gate};
use clouds::hetzner::Network;
use events::{Failure, Verdict};
use ipnet::IpNet;
use jiff::Timestamp;
use objects::{ApiError, Cluster, Kind, Object, Scope, Trouble};

use crate::{Site, kube};

/// Looks at all that a gate needs, and lets it judge.
pub(crate) async fn judge(site: &Site, gate: &dyn Gate) -> Verdict {
    let mut seen = Seen::at(site.clock.now());
    for need in gate.needs() {
        let answer = match (&need.look, kube::any(site).await) {
            (Look::Routes, _) => routes(site).await,
            (there, Ok(cluster)) => look(&cluster, there).await,
            (_, Err(error)) => Err(error),
        };
        seen = seen.saw(need.look, answer);
    }
    gate.judge(&seen)
}

/// The same in a cluster that nobody planned, so that there is no cloud to ask.
pub(crate) async fn judge_in(cluster: &Cluster, now: Timestamp, gate: &dyn Gate) -> Verdict {
    let mut seen = Seen::at(now);
    for need in gate.needs() {
        let answer = look(cluster, &need.look).await;
        seen = seen.saw(need.look, answer);
    }
    gate.judge(&seen)
}

async fn look(cluster: &Cluster, look: &Look) -> Result<Answer, Failure> {
    match look {
        Look::List { kind, namespace, labels } => {
            let mut scope = Scope::all(of(kind)?);
            if let Some(namespace) = namespace {
                scope = scope.within(namespace);
            }
            if let Some(labels) = labels {
                scope = scope.labelled(labels);
            }
            match cluster.list(&scope).await {
                Ok(listed) => {
                    Ok(Answer::Objects(listed.objects.into_iter().map(Object::into_body).collect()))
                }
                Err(error) => absent_or(&error),
            }
        }
        Look::Get { kind, namespace, name } => {
            match cluster.get(&of(kind)?.named(namespace.as_deref(), name)).await {
                Ok(Some(object)) => Ok(Answer::Object(object.into_body())),
                Ok(None) => Ok(Answer::Absent),
                Err(error) => absent_or(&error),
            }
        }
        Look::Proxied { .. } => {
            let path = look.path().expect("what a service serves has a path");
            match cluster.raw(&path).await {
                Ok(bytes) => Ok(Answer::Text(String::from_utf8_lossy(&bytes).into_owned())),
                Err(error) => absent_or(&error),
            }
        }
        Look::Routes => Err(Failure::permanent("there is no cloud to ask for routes")),
    }
}

fn of(kind: &gate::Kind) -> Result<Kind, Failure> {
    let api_version = match kind.group {
        "" => kind.version.to_owned(),
        group => format!("{group}/{}", kind.version),
    };
    Kind::new(&api_version, kind.kind).map_err(|error| Failure::permanent(error.to_string()))
}

/// A kind that nobody serves has no objects.
fn absent_or(error: &ApiError) -> Result<Answer, Failure> {
    match error.trouble() {
        Trouble::KindMissing { .. } | Trouble::Absent => Ok(Answer::Absent),
        _ => Err(error.failure()),
    }
}

async fn routes(site: &Site) -> Result<Answer, Failure> {
    let network = site.hetzner().find::<Network>(&site.plan.cluster.to_string()).await?;
    let route = |route: &clouds::hetzner::Route| Route {
        destination: IpNet::V4(route.destination),
        gateway: route.gateway.into(),
    };
    let routes = network.map(|network| network.routes.iter().map(route).collect());
    Ok(Answer::Routes(routes.unwrap_or_default()))
}
