//! Letting a gate see what it needs.

use addons::gate::{Answer, Look, Route, Seen};
use addons::{Gate, gate};
use clouds::hetzner::Network;
use events::{Failure, Verdict};
use ipnet::IpNet;
use objects::{ApiError, Kind, Object, Scope, Trouble};

use crate::{Site, kube};

/// Looks at all that a gate needs, and lets it judge.
pub(crate) async fn judge(site: &Site, gate: &dyn Gate) -> Verdict {
    let mut seen = Seen::at(site.clock.now());
    for need in gate.needs() {
        let answer = look(site, &need.look).await;
        seen = seen.saw(need.look, answer);
    }
    gate.judge(&seen)
}

async fn look(site: &Site, look: &Look) -> Result<Answer, Failure> {
    let cluster = kube::any(site).await?;
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
        Look::Routes => routes(site).await,
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
