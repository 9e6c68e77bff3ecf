//! What each stage of `down` does.

use clouds::Item;
use clouds::hetzner::{Hetzner, HetznerError, Id, LoadBalancer, Remove, Volume};
use engine::{ActError, Eyes, Hands, Work};
use events::{Cause, CheckName, Code, Digest, Evidence, Failure, Heals, NextStep, Unit, Verdict};
use futures::stream::{self, StreamExt as _};

use crate::hetzner::{Clerk, act_error, blind};
use crate::{Invocation, healing, next_step};

/// The doing behind the stages of `down`.
#[derive(Clone, Debug)]
pub struct Down {
    cloud: Hetzner,
    speed: Option<u32>,
    invocation: Invocation,
}

/// What the cluster's own controllers have made, as it is pinned: kind, id, name.
type Pinned = Vec<(String, u64, String)>;

const ORPHANS: &str = "made by the cluster's controllers";

/// How many machines are taken away at the same time.
const MACHINES_AT_ONCE: usize = 16;

impl Down {
    /// Takes a cluster down that `cloud` is for.
    pub fn new(cloud: Hetzner, speed: Option<u32>) -> Self {
        Self { cloud, speed, invocation: Invocation::default() }
    }

    /// Says how the command was called, so that printed commands mean the same cluster.
    #[must_use]
    pub fn called_as(mut self, invocation: Invocation) -> Self {
        self.invocation = invocation;
        self
    }

    /// Writes down what could not be recognised any more later on.
    async fn pin_orphans(&self, hands: &Hands) -> Result<(), ActError> {
        let inventory = self.cloud.take_inventory().await.map_err(act_error)?;
        let orphans: Pinned = inventory
            .orphans()
            .iter()
            .filter_map(|it| {
                Some((it.kind().to_owned(), it.id().parse().ok()?, it.name().to_owned()))
            })
            .collect();
        let text = serde_json::to_string(&orphans).expect("names and numbers are plain data");
        hands.pin(ORPHANS, &text).await?;
        Ok(())
    }

    /// Lists what is left: what carries our id, and what was pinned.
    async fn left(&self, eyes: &Eyes) -> Result<Vec<Item>, HetznerError> {
        let mut items = self.cloud.take_inventory().await?.items();
        let pinned = eyes.pinned(ORPHANS).unwrap_or_default();
        let pinned: Pinned = serde_json::from_str(&pinned).unwrap_or_default();
        for (kind, id, name) in pinned {
            let known = |item: &Item| item.kind() == kind && item.id() == id.to_string();
            if items.iter().any(known) {
                continue;
            }
            let found = match kind.as_str() {
                "volume" => {
                    self.cloud.recall(Id::<Volume>::new(id), &name).await?.map(|it| Item::from(&it))
                }
                _ => self
                    .cloud
                    .recall(Id::<LoadBalancer>::new(id), &name)
                    .await?
                    .map(|it| Item::from(&it)),
            };
            items.extend(found);
        }
        Ok(items)
    }

    /// Takes away all of one rank, so many at once. Twice, because what was
    /// held is only let go of the first time.
    async fn remove(&self, hands: &Hands, rank: usize, at_once: usize) -> Result<(), ActError> {
        let clerk = Clerk { hands, hetzner: &self.cloud, speed: self.speed };
        for _ in 0..2 {
            let left = self.left(hands.eyes()).await.map_err(act_error)?;
            let doomed = left.into_iter().filter(|item| item.rank() == rank);
            let removals = doomed.map(|item| clerk.ensure(Remove { item }));
            // All come to their end, so that none is left in doubt by another's failure.
            let ends: Vec<_> = stream::iter(removals).buffer_unordered(at_once).collect().await;
            ends.into_iter().collect::<Result<(), _>>()?;
        }
        Ok(())
    }

    async fn gone(&self, eyes: &Eyes, rank: Option<usize>) -> Verdict {
        let left = match self.left(eyes).await {
            Ok(left) => left,
            Err(error) => return blind(error),
        };
        let left: Vec<_> =
            left.iter().filter(|item| rank.is_none_or(|rank| item.rank() == rank)).collect();
        match left.first() {
            None => Verdict::ready(Evidence::new("nothing is left").fact("left", 0)),
            Some(first) => Verdict::not_yet(format!("{} left, such as {first}", left.len())),
        }
    }

    async fn inventory(&self, eyes: &Eyes) -> Verdict {
        match self.left(eyes).await {
            Ok(items) => {
                let summary = format!("{} to remove", items.len());
                let fact =
                    |evidence: Evidence, item: &Item| evidence.fact(item.to_string(), item.proof());
                Verdict::ready(items.iter().fold(Evidence::new(summary), fact))
            }
            Err(error) => blind(error),
        }
    }
}

impl Work for Down {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        match unit.stage.as_str() {
            "inventory" => self.pin_orphans(hands).await,
            "machines" => self.remove(hands, 0, MACHINES_AT_ONCE).await,
            "rest" => self.remove(hands, 1, 1).await,
            _ => Ok(()),
        }
    }

    async fn look(&self, unit: &Unit, _: &CheckName, eyes: &Eyes) -> Verdict {
        let mut verdict = match unit.stage.as_str() {
            "inventory" => self.inventory(eyes).await,
            "machines" => self.gone(eyes, Some(0)).await,
            "rest" => self.gone(eyes, Some(1)).await,
            _ => self.gone(eyes, None).await,
        };
        if let Some(evidence) = verdict.evidence_mut() {
            evidence.simulated = self.speed.is_some();
        }
        verdict
    }

    async fn probe(&self, unit: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Err(Failure::permanent(format!("{unit} has no probe")).into())
    }

    async fn inputs(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Err(Failure::permanent(format!("{unit} has no probe")))
    }

    fn heals(&self, code: Code) -> Heals {
        healing::of(code)
    }

    fn next_steps(&self, _: &Unit, cause: &Cause) -> Vec<NextStep> {
        match self.speed {
            _ if !cause.next.is_empty() => cause.next.clone(),
            None => next_step::of_down(&self.invocation, self.cloud.endpoint(), cause),
            Some(_) => Vec::new(),
        }
    }
}
