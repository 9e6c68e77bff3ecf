//! `cni`, `cloud`, `storage`, `seal` and `gitops`: an addon is delivered, and
//! its gate proves it.
//!
//! An addon that comes `by: gitops` is not delivered. Its checks move from the
//! stage that it belongs to into `gitops`, after Flux' own gate.

use addons::SecretObject;
use engine::{ActError, Hands, Skip};
use events::{Failure, PlannedStage, StageName, Verdict};
use objects::Object;
use serde_json::Value;
use spec::plan::Stage;

use super::ready;
use crate::addon::{self, Part};
use crate::ssh_key::SshKeyFile;
use crate::{GitAccess, Site, delivery, kube, manifests, sealing_key};

/// What can be searched for in all that is written.
const SHORTEST_SECRET: usize = 8;

/// Under which name the key is pinned that Flux shows to the repository.
const DEPLOY_KEY: &str = "deploy key of Flux";

/// The gate of metrics-server, which has no stage of its own.
pub(super) const METRICS: &str = "metrics-server";

/// Delivers the addons of a stage.
pub(super) async fn act(site: &Site, hands: &Hands, stage: Stage) -> Result<(), ActError> {
    if stage == Stage::Seal {
        sealing_key::load_or_make(site, hands).await?;
    }
    if stage == Stage::Gitops {
        announce_key(site, hands).await?;
    }
    let metrics = Part::metrics(&site.plan).filter(|_| stage == Stage::Gitops);
    for part in Part::of(&site.plan, stage).into_iter().chain(metrics) {
        deliver(site, hands, part).await?;
    }
    manifests::deliver(site, hands, stage).await
}

/// Says once which key the repository has to let in.
async fn announce_key(site: &Site, hands: &Hands) -> Result<(), ActError> {
    let Some(source) = &site.source else { return Ok(()) };
    let GitAccess::Ssh { identity: None, .. } = source.access else { return Ok(()) };
    let public = SshKeyFile::for_flux(site)?.public;
    if hands.eyes().pinned(DEPLOY_KEY).is_none() {
        let to = format!("let this key read {}: {public}", source.repository);
        hands.warn(to)?;
    }
    hands.pin(DEPLOY_KEY, &public).await?;
    Ok(())
}

/// Of what the repository delivers, only that which no repository may hold is
/// delivered here: secrets, and the namespace that they are in.
async fn deliver(site: &Site, hands: &Hands, part: Part<'_>) -> Result<(), ActError> {
    let rendered = addon::rendered(site, part)?;
    let is_ours =
        |object: &&Value| !part.is_by_gitops() || object["kind"].as_str() == Some("Namespace");
    for secret in rendered.secrets().iter().flat_map(SecretObject::values) {
        // What is shorter, such as the network's name beside the token, is no secret.
        if secret.reveal().len() >= SHORTEST_SECRET {
            hands.hide(&format!("secret of {}", part.addon.name), secret)?;
        }
    }
    let secrets = rendered.secrets().iter().map(SecretObject::reveal);
    let objects = rendered.objects().iter().filter(is_ours).cloned();
    let objects = secrets.chain(objects).map(Object::new);
    let objects: Result<Vec<_>, _> = objects.collect();
    let objects = objects.map_err(|error| Failure::permanent(error.to_string()))?;
    delivery::apply(site, hands, objects).await
}

/// Looks whether the addon of a stage works, and what the file brings besides.
pub(super) async fn look(site: &Site, stage: Stage) -> Verdict {
    let part = Part::of(&site.plan, stage);
    if !manifests::are_of(&site.plan, stage) {
        return judge(site, part).await;
    }
    if let Some(verdict) = ready::somebody_is_away(site).await {
        return verdict;
    }
    let addon = match part {
        Some(part) => Some(judge(site, Some(part)).await),
        None => None,
    };
    match addon {
        Some(verdict) if !matches!(verdict, Verdict::Ready { .. }) => verdict,
        addon => both(addon, manifests::look(site, stage).await),
    }
}

/// Two that are ready are told as one.
fn both(addon: Option<Verdict>, manifests: Verdict) -> Verdict {
    match (addon, manifests) {
        (Some(Verdict::Ready { evidence }), Verdict::Ready { evidence: more }) => {
            Verdict::ready(evidence.fact("manifests", more.summary))
        }
        (_, manifests) => manifests,
    }
}

/// Looks whether metrics-server works.
pub(super) async fn look_at_metrics(site: &Site) -> Verdict {
    judge(site, Part::metrics(&site.plan)).await
}

async fn judge(site: &Site, part: Option<Part<'_>>) -> Verdict {
    let Some(part) = part else {
        return Verdict::blind(Failure::permanent("the cluster file does not ask for it"));
    };
    // An addon can do nothing about a node that is not there.
    if let Some(verdict) = ready::somebody_is_away(site).await {
        return verdict;
    }
    match addon::gate(site, part).await {
        Ok(gate) => {
            let mut verdict = addon::judge(site, &*gate).await;
            if let (Some(evidence), false) = (verdict.evidence_mut(), part.is_by_gitops()) {
                let fact = evidence.clone().fact("manifests", "stand-ins for the chart's");
                *evidence = fact;
            }
            verdict
        }
        Err(error) => kube::blind(error),
    }
}

/// Says that a stage is left out where the file does not ask for its addon, or
/// where there is nothing to do for one that comes by gitops.
pub(super) fn skip(plan: &spec::Plan, stage: Stage) -> Option<Skip> {
    let reason = match (stage, Part::of(plan, stage)) {
        (Stage::Image | Stage::Network, _) if plan.cloud == spec::CloudKind::Machines => {
            "the machines exist already"
        }
        (Stage::Gitops, None) if Part::metrics(plan).is_some() => return None,
        (_, None) if manifests::are_of(plan, stage) => return None,
        (Stage::Cni | Stage::Cloud | Stage::Storage | Stage::Seal | Stage::Gitops, None) => {
            "the cluster file does not ask for it"
        }
        (Stage::Storage, Some(part)) if part.is_by_gitops() => {
            "it comes by gitops, and is proven there"
        }
        _ => return None,
    };
    Some(Skip { reason: reason.to_owned() })
}

/// Puts every check where its addon is delivered, and takes out those of addons
/// that the file does not ask for.
pub(super) fn arrange(plan: &spec::Plan, stages: &mut [PlannedStage]) {
    let is_late = |name: &StageName| {
        let named = Stage::all().iter().find(|stage| stage.as_str() == name.as_str());
        named.and_then(|stage| Part::of(plan, *stage)).is_some_and(Part::is_by_gitops)
    };
    let mut moved = Vec::new();
    for stage in stages.iter_mut().filter(|stage| is_late(&stage.name)) {
        moved.append(&mut stage.checks);
    }
    let (flux, metrics) = (Part::of(plan, Stage::Gitops), Part::metrics(plan));
    for stage in stages.iter_mut().filter(|stage| stage.name.as_str() == Stage::Gitops.as_str()) {
        stage.checks.append(&mut moved);
        stage.checks.retain(|check| match check.name.as_str() {
            METRICS => metrics.is_some(),
            // Where nothing is left, the stage says that it is left out.
            own if own == stage.name.as_str() => {
                flux.is_some() || metrics.is_none() || manifests::are_of(plan, Stage::Gitops)
            }
            _ => true,
        });
    }
}
