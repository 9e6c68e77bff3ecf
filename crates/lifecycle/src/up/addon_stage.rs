//! `cni`, `cloud`, `storage`, `seal` and `gitops`: an addon is delivered, and
//! its gate proves it.

use addons::SecretObject;
use engine::{ActError, Hands, Skip};
use events::{Failure, Verdict};
use objects::Object;
use spec::plan::Stage;

use super::ready;
use crate::addon::{self, Part};
use crate::{Site, delivery, kube, sealing_key};

/// What can be searched for in all that is written.
const SHORTEST_SECRET: usize = 8;

/// Delivers the addon of a stage, unless the repository does.
pub(super) async fn act(site: &Site, hands: &Hands, stage: Stage) -> Result<(), ActError> {
    let Some(part) = Part::of(&site.plan, stage) else { return Ok(()) };
    if stage == Stage::Seal {
        sealing_key::load_or_make(site, hands).await?;
    }
    if part.is_by_gitops() {
        return Ok(());
    }
    let rendered = addon::rendered(site, part)?;
    for secret in rendered.secrets().iter().flat_map(SecretObject::values) {
        // What is shorter, such as the network's name beside the token, is no secret.
        if secret.reveal().len() >= SHORTEST_SECRET {
            hands.hide(&format!("secret of {}", part.addon.name), secret)?;
        }
    }
    let secrets = rendered.secrets().iter().map(SecretObject::reveal);
    let objects = secrets.chain(rendered.objects().iter().cloned()).map(Object::new);
    let objects: Result<Vec<_>, _> = objects.collect();
    let objects = objects.map_err(|error| Failure::permanent(error.to_string()))?;
    delivery::apply(site, hands, objects).await
}

/// Looks whether the addon of a stage works.
pub(super) async fn look(site: &Site, stage: Stage) -> Verdict {
    let Some(part) = Part::of(&site.plan, stage) else {
        return Verdict::blind(Failure::permanent("the stage has no addon"));
    };
    // An addon can do nothing about a node that is not there.
    if let Some(verdict) = ready::somebody_is_absent(site).await {
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

/// Says that a stage is left out where the file does not ask for its addon.
pub(super) fn skip(plan: &spec::Plan, stage: Stage) -> Option<Skip> {
    let has_addon =
        matches!(stage, Stage::Cni | Stage::Cloud | Stage::Storage | Stage::Seal | Stage::Gitops);
    let missing = has_addon && Part::of(plan, stage).is_none();
    missing.then(|| Skip { reason: "the cluster file does not ask for it".to_owned() })
}
