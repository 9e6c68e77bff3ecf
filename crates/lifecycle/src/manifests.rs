//! What the cluster file brings besides addons: applied by the stage that its
//! place decides, and judged by what its objects say of themselves.

use addons::pod_network::{NetworkSet, PodNetworkGate};
use addons::{codes, gate::Nodes};
use engine::{ActError, Hands};
use events::{Because, Cause, Evidence, Failure, NodeName, Secret, Verdict};
use objects::{Object, Status};
use serde_json::Value;
use spec::plan::Stage;

use crate::hetzner::explain;
use crate::{Site, addon, delivery, kube};

/// The objects of one entry under `manifests`.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its name in the cluster file.
    pub name: String,
    /// The stage that applies it.
    pub stage: Stage,
    /// What it holds.
    pub objects: Vec<Object>,
}

/// What is shorter is found everywhere, and can be hidden nowhere.
const SHORTEST_SECRET: usize = 8;

/// So many are named; the reasons of the rest are mostly the same.
const EXPLAINED: usize = 3;

/// Returns whether a stage applies manifests.
pub(crate) fn are_of(plan: &spec::Plan, stage: Stage) -> bool {
    plan.manifests.iter().any(|manifest| manifest.stage == stage)
}

/// Applies the manifests of a stage.
pub(crate) async fn deliver(site: &Site, hands: &Hands, stage: Stage) -> Result<(), ActError> {
    for manifest in of(site, stage)? {
        for secret in manifest.objects.iter().flat_map(secrets) {
            hands.hide(&format!("secret of {}", manifest.name), &secret)?;
        }
        delivery::apply(site, hands, manifest.objects.clone()).await?;
    }
    Ok(())
}

/// Looks whether what a stage has applied is ready: a pod network on every
/// node, everything else by its own status.
pub(crate) async fn look(site: &Site, stage: Stage) -> Verdict {
    let manifests = match of(site, stage) {
        Ok(manifests) => manifests,
        Err(error) => return Verdict::blind(error),
    };
    let objects = || manifests.iter().flat_map(|manifest| &manifest.objects);
    let sets: Vec<_> = objects().filter_map(|object| NetworkSet::of(object.body())).collect();
    let mut evidence = Evidence::default();
    if !sets.is_empty() {
        let names = site.plan.nodes.iter().map(|node| NodeName::from(node.name.as_str()));
        let gate = PodNetworkGate { sets, nodes: Nodes::These(names.collect()) };
        match addon::judge(site, &gate).await {
            Verdict::Ready { evidence: seen } => evidence = seen,
            verdict => return verdict,
        }
    }
    match unready(site, objects()).await {
        Ok(unready) if unready.is_empty() => {
            let count = objects().count();
            let names: Vec<_> = manifests.iter().map(|it| it.name.as_str()).collect();
            if evidence.summary.is_empty() {
                evidence.summary = format!("{}: {count} objects ready", names.join(", "));
            }
            Verdict::ready(evidence.fact("manifests", names.join(", ")).fact("objects", count))
        }
        Ok(unready) => not_ready(site, &unready).await,
        Err(error) => kube::blind(error),
    }
}

/// Returns the manifests of a stage. A site that was made only to look at the
/// cloud has none, and must not call them ready.
fn of(site: &Site, stage: Stage) -> Result<Vec<&Manifest>, Failure> {
    let read: Vec<_> = site.manifests.iter().filter(|it| it.stage == stage).collect();
    let planned = site.plan.manifests.iter().filter(|it| it.stage == stage).count();
    if read.len() == planned {
        Ok(read)
    } else {
        Err(Failure::permanent("the manifests of the cluster file were not read"))
    }
}

/// An object that is not ready: none where it does not exist.
struct Unready<'a> {
    wanted: &'a Object,
    live: Option<Object>,
}

async fn unready<'a>(
    site: &Site,
    objects: impl Iterator<Item = &'a Object>,
) -> Result<Vec<Unready<'a>>, Failure> {
    let mut unready = Vec::new();
    for wanted in objects {
        let live = kube::get(site, wanted.id()).await?;
        let is_ready = match live.as_ref().map(Status::of) {
            Some(Status::Ready) => true,
            // What was defined without a status is ready once it is there.
            Some(Status::Unknown { .. }) => {
                !kube::any(site).await?.tells_status(wanted.kind()).await
            }
            _ => false,
        };
        if !is_ready {
            unready.push(Unready { wanted, live });
        }
    }
    Ok(unready)
}

async fn not_ready(site: &Site, unready: &[Unready<'_>]) -> Verdict {
    let mut lines = Vec::new();
    for one in unready.iter().take(EXPLAINED) {
        lines.extend(one.reasons(site).await);
    }
    lines.extend(unready.iter().skip(EXPLAINED).map(Unready::line));
    let what = unready.first().map(Unready::line).unwrap_or_default();
    let id = unready.first().map(|one| one.wanted.id());
    let message = match unready.len() {
        1 => "an object of the manifests is not ready".to_owned(),
        count => format!("{count} objects of the manifests are not ready"),
    };
    let mut cause = Cause::new(codes::MANIFEST_NOT_READY, message).because(lines.clone());
    if let Some(id) = id {
        let within = id.namespace.as_ref().map(|namespace| format!("-n {namespace} "));
        let kind = id.kind.kind.to_lowercase();
        let within = within.unwrap_or_default();
        cause = cause.next(format!("kubectl {within}describe {kind} {}", id.name), "shows it");
    }
    let cause = cause.next(explain(codes::MANIFEST_NOT_READY), "tells more");
    let because = lines.into_iter().skip(1).fold(Because::new(what), Because::caused_by);
    Verdict::not_yet(because.in_the_end(cause))
}

impl Unready<'_> {
    fn line(&self) -> String {
        match &self.live {
            None => format!("{} does not exist", self.wanted.id()),
            Some(live) => {
                format!("{}: {}", live.id(), Status::of(live).because().unwrap_or("ready"))
            }
        }
    }

    /// Why it is not ready, down to the last link that can be seen.
    async fn reasons(&self, site: &Site) -> Vec<String> {
        let (Some(live), Ok(cluster)) = (&self.live, kube::any(site).await) else {
            return vec![self.line()];
        };
        // Reasons end up in the journal and in reports.
        let chain = cluster.why_of(live).await.without_logs();
        if chain.links.is_empty() { vec![self.line()] } else { chain.lines() }
    }
}

/// Returns what a Secret holds, in clear and as it is sent.
fn secrets(object: &Object) -> Vec<Secret> {
    if !object.kind().is("", "Secret") {
        return Vec::new();
    }
    let values = ["/stringData", "/data"].into_iter().filter_map(|field| object.at(field));
    let values = values.filter_map(Value::as_object).flat_map(|map| map.values());
    let texts = values.filter_map(Value::as_str).filter(|text| text.len() >= SHORTEST_SECRET);
    texts.map(Secret::new).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_secrets_hold_secrets_and_words_are_none() {
        let object = |kind: &str| {
            Object::new(json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": "a" },
                "stringData": { "password": "correct horse", "user": "me" },
                "data": { "token": "c2VjcmV0IHRva2Vu" } }))
            .unwrap()
        };
        let found = secrets(&object("Secret"));
        let found: Vec<_> = found.iter().map(Secret::reveal).collect();
        assert_eq!(found, ["correct horse", "c2VjcmV0IHRva2Vu"]);
        assert!(secrets(&object("ConfigMap")).is_empty());
    }
}
