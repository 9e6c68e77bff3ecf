//! A world in which one unit fails for good.

use std::sync::Arc;

use events::{Cause, CheckName, ClusterId, Code, Digest, Failure, Plan, Unit, Verdict};

use super::{Effects, Time, World};
use crate::{ActError, Backoff, Eyes, Hands, Skip, Work};

/// A world in which one unit fails for good, and all the others do not.
pub struct Sabotaged<'a, W> {
    world: &'a W,
    unit: Unit,
}

/// The work in such a world.
pub struct Saboteur<W> {
    work: Arc<W>,
    unit: Unit,
}

impl<'a, W: World> Sabotaged<'a, W> {
    /// Lets a unit fail whenever it acts.
    pub fn new(world: &'a W, unit: Unit) -> Self {
        Self { world, unit }
    }
}

impl<W: World> World for Sabotaged<'_, W> {
    type Work = Saboteur<W::Work>;

    fn plan(&self, cluster: ClusterId) -> Plan {
        self.world.plan(cluster)
    }

    fn work(&self, effects: Effects) -> Arc<Self::Work> {
        Arc::new(Saboteur { work: self.world.work(effects), unit: self.unit.clone() })
    }

    fn time(&self) -> Time {
        self.world.time()
    }

    fn backoff(&self) -> Backoff {
        self.world.backoff()
    }

    fn mutations(&self) -> u64 {
        self.world.mutations()
    }

    fn check(&self) -> Result<(), String> {
        self.world.check()
    }
}

impl<W: Work> Work for Saboteur<W> {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        if *unit == self.unit {
            return Err(Cause::new(Code(901), "the anchor is stuck").into());
        }
        self.work.act(unit, hands).await
    }

    async fn look(&self, unit: &Unit, gate: &CheckName, eyes: &Eyes) -> Verdict {
        self.work.look(unit, gate, eyes).await
    }

    async fn probe(
        &self,
        unit: &Unit,
        probe: &CheckName,
        hands: &Hands,
    ) -> Result<Verdict, ActError> {
        self.work.probe(unit, probe, hands).await
    }

    async fn inputs(&self, unit: &Unit, probe: &CheckName, eyes: &Eyes) -> Result<Digest, Failure> {
        self.work.inputs(unit, probe, eyes).await
    }

    /// What is to fail is not left out.
    fn skip(&self, unit: &Unit, check: Option<&CheckName>) -> Option<Skip> {
        if *unit == self.unit { None } else { self.work.skip(unit, check) }
    }
}
