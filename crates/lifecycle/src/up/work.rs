//! What each stage of `up` does, by its name.

use std::sync::Arc;

use engine::{ActError, Eyes, Hands, Skip, Work};
use events::{Cause, CheckName, Code, Digest, Failure, Heals, NextStep, Unit, Verdict};
use spec::plan::{Stage, Timeouts};

use super::{
    addon_stage, api, config, etcd, given, identity, image, network, nodes, preflight, proof,
    ready, registry, seal_probe, secrets, storage_probe,
};
use crate::{Site, healing, manifests, next_step};

/// The doing behind the stages of `up`.
#[derive(Clone)]
pub struct Up {
    site: Arc<Site>,
}

impl Up {
    /// Works on a site.
    pub fn new(site: Arc<Site>) -> Self {
        Self { site }
    }

    fn stage(unit: &Unit) -> Stage {
        let named = |stage: &&Stage| stage.as_str() == unit.stage.as_str();
        *Stage::all().iter().find(named).expect("units are made from the table of `up`")
    }

    /// Returns the stage that a check belongs to by its name: one of an addon
    /// that comes by gitops is made by another.
    fn home(unit: &Unit, check: &CheckName) -> Stage {
        let name = check.as_str().strip_suffix("-probe").unwrap_or(check.as_str());
        let named = Stage::all().iter().find(|stage| stage.as_str() == name);
        named.copied().unwrap_or_else(|| Self::stage(unit))
    }
}

impl Work for Up {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        let site = &self.site;
        match Self::stage(unit) {
            Stage::Secrets => secrets::act(site, hands).await,
            Stage::Network => network::act(site, hands).await,
            Stage::Nodes => nodes::act(site, hands, site.node(unit)).await,
            Stage::Config => config::act(site, hands, site.node(unit)).await,
            Stage::Etcd => etcd::act(site, hands).await,
            stage @ (Stage::Cni | Stage::Cloud | Stage::Storage | Stage::Seal | Stage::Gitops) => {
                addon_stage::act(site, hands, stage).await
            }
            Stage::Preflight | Stage::Image | Stage::Identity | Stage::Api | Stage::Ready => Ok(()),
            Stage::Proof => manifests::deliver(site, hands, Stage::Proof).await,
        }
    }

    async fn look(&self, unit: &Unit, gate: &CheckName, eyes: &Eyes) -> Verdict {
        let site = &self.site;
        site.marked(match Self::home(unit, gate) {
            _ if gate.as_str() == addon_stage::METRICS => addon_stage::look_at_metrics(site).await,
            Stage::Preflight => preflight::look(site, eyes).await,
            Stage::Secrets => secrets::look(site, eyes),
            Stage::Image => image::look(site).await,
            Stage::Network => network::look(site).await,
            Stage::Nodes => nodes::look(site, site.node(unit)).await,
            Stage::Identity => identity::look(site, site.node(unit), eyes).await,
            Stage::Config => config::look(site, site.node(unit)).await,
            Stage::Etcd => etcd::look(site).await,
            Stage::Api => api::look(site).await,
            Stage::Ready => ready::look(site, site.node(unit)).await,
            Stage::Proof => proof::look(site).await,
            stage @ (Stage::Cni | Stage::Cloud | Stage::Storage | Stage::Seal | Stage::Gitops) => {
                addon_stage::look(site, stage).await
            }
        })
    }

    async fn probe(
        &self,
        unit: &Unit,
        probe: &CheckName,
        hands: &Hands,
    ) -> Result<Verdict, ActError> {
        let site = &self.site;
        let verdict = match Self::home(unit, probe) {
            Stage::Etcd => registry::probe(site, hands).await?,
            Stage::Storage => storage_probe::probe(site, hands).await?,
            Stage::Seal => seal_probe::probe(site, hands).await?,
            Stage::Proof => proof::probe(site, hands).await?,
            stage => return Err(Failure::permanent(format!("{stage} has no probe")).into()),
        };
        Ok(site.marked(verdict))
    }

    /// What a probe found stays true for as long as the same nodes run the same cluster.
    async fn inputs(&self, unit: &Unit, probe: &CheckName, eyes: &Eyes) -> Result<Digest, Failure> {
        // How long somebody would have waited says nothing about what was found.
        let plan = spec::Plan { timeouts: Timeouts::default(), ..self.site.plan.clone() };
        let plan =
            serde_json::to_string(&plan).map_err(|error| Failure::permanent(error.to_string()))?;
        // Only what is asked of machines goes with them.
        let machines = match Self::home(unit, probe) {
            Stage::Etcd => given::to_all(eyes),
            _ => String::new(),
        };
        Ok(Digest::of(format!("{unit} {probe} {plan}{machines}").as_bytes()))
    }

    fn next_steps(&self, unit: &Unit, cause: &Cause) -> Vec<NextStep> {
        next_step::of_up(&self.site, Self::stage(unit), unit, cause)
    }

    fn heals(&self, code: Code) -> Heals {
        healing::of(code)
    }

    fn skip(&self, unit: &Unit, check: Option<&CheckName>) -> Option<Skip> {
        match check {
            None => addon_stage::skip(&self.site.plan, Self::stage(unit)),
            Some(_) => None,
        }
    }
}
