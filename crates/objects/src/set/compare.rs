//! What an apply of a set would change, and what others have changed of it.

use tokio::sync::Semaphore;

use super::apply::Work;
use super::finding::{Compared, Finding};
use super::pace::{Hope, Pace};
use super::prune::Pruner;
use super::survey::{IfAbsent, Survey};
use super::{
    Adopt, Inventory, Means, Mode, Outcome, Prune, Pruned, Report, Set, SetError, Settings, Step,
    There,
};
use crate::diff::{Diff, Drift, Veil};
use crate::fields::OwnersError;
use crate::{ApiError, Change, Cluster, Object, Order, Ownership, Scope};

/// What an apply of a set would change.
#[derive(Debug)]
pub struct SetDiff {
    /// What was found of each object, in the order of the manifest.
    pub objects: Vec<Compared<Diff>>,
    /// What would come of members that are no longer wished for.
    pub pruned: Vec<Pruned>,
    /// Why members that are no longer wished for were not looked for.
    pub not_pruned: Option<&'static str>,
}

impl Cluster {
    /// Says what [`apply_set`](Self::apply_set) would change, and changes
    /// nothing. What is surely as wished costs no dry run.
    pub async fn diff_set(
        &self,
        set: Set,
        settings: Settings,
        means: &Means,
        veil: &Veil,
    ) -> Result<SetDiff, SetError> {
        let settings = Settings { mode: Mode::DryRun, ..settings };
        let work = Work::new(self, means, settings);
        let Set { objects, namespace, inventory, prune } = set;
        if prune == Prune::Yes && inventory.is_none() {
            return Err(SetError::NothingToPruneBy);
        }
        let (order, pruner) = work.placed(objects, &namespace, inventory).await?;
        let judge = |live: Option<&Object>, would_be: &Object| Diff::between(live, would_be, veil);
        let objects = survey(&work, &order, pruner.as_ref(), IfAbsent::TryOut, judge).await;
        let mut report = Report { steps: objects.iter().map(step).collect(), ..Report::default() };
        match pruner {
            Some(pruner) if prune == Prune::Yes => pruner.prune(&order, &mut report).await,
            _ => {}
        }
        let Report { pruned, not_pruned, .. } = report;
        Ok(SetDiff { objects, pruned, not_pruned })
    }

    /// Says what others have changed of a set, and changes nothing: few
    /// lists, and dry runs only where something differs.
    pub async fn drift_of_set(
        &self,
        set: Set,
        settings: Settings,
        means: &Means,
        veil: &Veil,
    ) -> Result<Vec<Compared<Drift>>, SetError> {
        let (ownership, adopt, mode) = (Ownership::Take, Adopt::Always, Mode::DryRun);
        let work = Work::new(self, means, Settings { ownership, adopt, mode, ..settings });
        let Set { objects, namespace, inventory, .. } = set;
        let (order, pruner) = work.placed(objects, &namespace, inventory).await?;
        let judge = |live: Option<&Object>, would_be: &Object| {
            let live = live.expect("what is not there is not tried out");
            Drift::between(live, would_be, veil)
        };
        Ok(survey(&work, &order, pruner.as_ref(), IfAbsent::Say, judge).await)
    }

    /// Says what others have set on the members of an inventory since we applied
    /// them, by what the members say themselves. What others have removed cannot
    /// be seen without the manifests. Returns the members that were looked at,
    /// and tells of those that others have written to.
    pub async fn drift_of_members(
        &self,
        inventory: Inventory,
        settings: Settings,
        means: &Means,
        veil: &Veil,
    ) -> Result<(usize, Vec<Drift>), SetError> {
        let pace = Pace::new(means.clone(), settings.patience);
        let settings = Settings { mode: Mode::DryRun, ..settings };
        let pruner = Pruner::open(self, means, &pace, inventory, settings).await?;
        let (mut looked_at, mut found) = (0, Vec::new());
        for scope in pruner.scopes_of_members().await? {
            let (count, drifts) = self.drift_within(&scope, &pruner, &pace, veil).await?;
            looked_at += count;
            found.extend(drifts?);
        }
        Ok((looked_at, found))
    }

    async fn drift_within(
        &self,
        scope: &Scope,
        pruner: &Pruner<'_>,
        pace: &Pace,
        veil: &Veil,
    ) -> Result<(usize, Result<Vec<Drift>, OwnersError>), ApiError> {
        let mut tries = pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let (mut count, mut drifts) = (0, Vec::new());
            let show = |live: Object| {
                if pruner.holds(&live) {
                    count += 1;
                    drifts.extend(Drift::since_ours(&live, veil).transpose());
                }
            };
            match self.list_each(scope, show).await {
                Ok(_) => return Ok((count, drifts.into_iter().collect())),
                Err(error) => match self.unless_gone(scope.kind(), error).await {
                    Ok(()) => return Ok((0, Ok(Vec::new()))),
                    Err(error) => tries.again(error).await?,
                },
            }
        }
    }
}

async fn survey<T: Send>(
    work: &Work,
    order: &Order,
    pruner: Option<&Pruner<'_>>,
    if_absent: IfAbsent,
    judge: impl Fn(Option<&Object>, &Object) -> Result<T, OwnersError> + Sync,
) -> Vec<Compared<T>> {
    let Work { cluster, pace, settings, recall, .. } = work;
    let (inventory, room) = (pruner.map(Pruner::id), Semaphore::new(settings.in_flight));
    let survey =
        Survey { cluster, pace, order, settings, inventory, recall, if_absent, judge, room };
    survey.all().await
}

/// What an apply would come to, as far as pruning needs to know.
fn step(compared: &Compared<Diff>) -> Step {
    let there = |change| {
        let version = compared.version.clone();
        Outcome::There(There { change, version, repaired: false, warnings: Vec::new() })
    };
    let outcome = match &compared.finding {
        Finding::Same => there(Change::Unchanged),
        Finding::Told { .. } | Finding::Unchecked { .. } | Finding::Absent => {
            there(Change::Configured)
        }
        Finding::Failed(_) => Outcome::Left { because: "it would fail".to_owned() },
    };
    Step { id: compared.id.clone(), outcome }
}
