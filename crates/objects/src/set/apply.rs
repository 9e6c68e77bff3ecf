//! The whole way of a set.

use std::sync::Arc;
use std::time::Duration;

use super::leaving::tell_what_keeps;
use super::look::{Found, Look, Sight};
use super::memory::Recall;
use super::pace::Pace;
use super::place::place;
use super::prune::Pruner;
use super::report::{Outcome, Report, Step};
use super::run::Run;
use super::{Adopt, Inventory, InventoryError, Means, Prune};
use crate::fields::OwnersError;
use crate::{ApiError, Change, Cluster, Disorder, Object, Order, Ownership};

/// Objects that belong together.
#[derive(Clone, Debug)]
pub struct Set {
    /// The objects that are wished for.
    pub objects: Vec<Object>,
    /// Where objects are that say no namespace.
    pub namespace: String,
    /// What remembers the members of the set.
    pub inventory: Option<Inventory>,
    /// Whether members that are no longer wished for are deleted.
    pub prune: Prune,
}

/// How a set is applied.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What happens where a field belongs to another manager.
    pub ownership: Ownership,
    /// What happens where an object is not ours.
    pub adopt: Adopt,
    /// How an object that is as wished is told from others.
    pub walk: Walk,
    /// Whether anything is changed.
    pub mode: Mode,
    /// How many requests are sent at the same time.
    pub in_flight: usize,
    /// How long requests are repeated and prerequisites waited for, in all.
    pub patience: Duration,
}

/// Whether anything is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is.
    ForReal,
    /// Nothing is; the API says what would be.
    DryRun,
}

/// How an object that is as wished is told from others.
#[derive(Clone, Copy, Debug)]
pub enum Walk {
    /// Not at all: everything is sent, and the API tells.
    SendAll,
    /// By [comparing](crate::compare) what is wished with what is there; where
    /// that leaves a doubt, it is sent.
    Compare,
}

/// Why a set was not applied at all: nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// Its objects have no order.
    #[error(transparent)]
    Order(#[from] Disorder),
    /// Its inventory cannot be used.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// The API could not be asked.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Who owns the fields of a member cannot be told.
    #[error(transparent)]
    Owners(#[from] OwnersError),
    /// Members can only be pruned where something remembers them.
    #[error("without an inventory nobody knows what to prune; name one")]
    NothingToPruneBy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ownership: Ownership::Respect,
            adopt: Adopt::Unmanaged,
            walk: Walk::SendAll,
            mode: Mode::ForReal,
            in_flight: 32,
            patience: Duration::from_mins(2),
        }
    }
}

impl Set {
    /// A set without an inventory.
    pub fn new(objects: Vec<Object>, namespace: impl Into<String>) -> Self {
        Self { objects, namespace: namespace.into(), inventory: None, prune: Prune::No }
    }
}

impl Cluster {
    /// Applies a set, and shows each object when its turn is over. Problems
    /// that are known before the first change keep everything from being sent.
    ///
    /// The work has a task of its own: dropping this future does not end it,
    /// [`Means::cancel`] does.
    pub async fn apply_set(
        &self,
        set: Set,
        settings: Settings,
        means: &Means,
        observe: impl FnMut(&Step) + Send + 'static,
    ) -> Result<Report, SetError> {
        let work = Work::new(self, means, settings).whole(set, observe);
        let done = tokio::spawn(work).await;
        done.unwrap_or_else(|stopped| std::panic::resume_unwind(stopped.into_panic()))
    }
}

/// The work on one set.
pub(super) struct Work {
    pub(super) cluster: Cluster,
    pub(super) means: Means,
    pub(super) pace: Arc<Pace>,
    pub(super) settings: Settings,
    pub(super) recall: Arc<Recall>,
}

impl Work {
    pub(super) fn new(cluster: &Cluster, means: &Means, settings: Settings) -> Self {
        let pace = Arc::new(Pace::new(means.clone(), settings.patience));
        let recall = Arc::new(Recall::new(cluster, means));
        Self { cluster: cluster.clone(), means: means.clone(), pace, settings, recall }
    }

    async fn whole(
        self,
        set: Set,
        mut observe: impl FnMut(&Step) + Send + 'static,
    ) -> Result<Report, SetError> {
        let Set { objects, namespace, inventory, prune } = set;
        if prune == Prune::Yes && inventory.is_none() {
            return Err(SetError::NothingToPruneBy);
        }
        let (order, mut pruner) = self.placed(objects, &namespace, inventory).await?;
        let mut found = self.look(&order, pruner.as_ref()).await;
        if self.settings.mode == Mode::ForReal
            && let Some(stuck) = self.namespaces_have_left(&found, &order).await?
        {
            found = self.look(&order, pruner.as_ref()).await;
            tell_what_keeps(&mut found, &order, stuck);
        }
        let sights = match known(found, &order) {
            Ok(sights) => sights,
            Err(steps) => {
                steps.iter().for_each(&mut observe);
                let not_pruned = (prune == Prune::Yes).then_some("nothing was applied");
                return Ok(Report { steps, pruned: Vec::new(), not_pruned });
            }
        };
        if let Some(pruner) = &mut pruner {
            pruner.extend(&order).await?;
        }
        let inventory = pruner.as_ref().map(|pruner| pruner.id().to_owned());
        let steps = Arc::new(self.run(&order, inventory)).all(sights, &mut observe).await;
        let mut report = Report { steps, ..Report::default() };
        if let Some(pruner) = pruner.as_mut()
            && report.count(Change::Created) + report.count(Change::Configured) > 0
            && let Err(error) = pruner.hold(&order).await
        {
            report.pruned.push(pruner.blame(error));
        }
        match pruner {
            Some(pruner) if prune == Prune::Yes => pruner.prune(&order, &mut report).await,
            _ => {}
        }
        Ok(report)
    }

    /// Puts the objects where they belong, and in order.
    pub(super) async fn placed(
        &self,
        objects: Vec<Object>,
        namespace: &str,
        inventory: Option<Inventory>,
    ) -> Result<(Arc<Order>, Option<Pruner<'_>>), SetError> {
        let objects = place(&self.cluster, &self.pace, objects, namespace).await?;
        let (objects, pruner) = self.claim(objects, inventory).await?;
        Ok((Arc::new(Order::of(objects)?), pruner))
    }

    /// Makes the objects members of the set, where it has an inventory.
    async fn claim(
        &self,
        objects: Vec<Object>,
        inventory: Option<Inventory>,
    ) -> Result<(Vec<Object>, Option<Pruner<'_>>), InventoryError> {
        let Some(inventory) = inventory else { return Ok((objects, None)) };
        let objects = inventory.claim(objects)?;
        let Self { cluster, means, pace, settings, .. } = self;
        let pruner = Pruner::open(cluster, means, pace, inventory, *settings).await?;
        Ok((objects, Some(pruner)))
    }

    async fn look(&self, order: &Order, pruner: Option<&Pruner<'_>>) -> Vec<Found> {
        let Self { cluster, pace, settings, recall, .. } = self;
        let inventory = pruner.map(Pruner::id);
        Look { cluster, pace, order, settings, inventory, recall }.all().await
    }

    fn run(&self, order: &Arc<Order>, inventory: Option<String>) -> Run {
        let (cluster, means) = (self.cluster.clone(), self.means.clone());
        let (pace, order) = (Arc::clone(&self.pace), Arc::clone(order));
        let (settings, recall) = (self.settings, Arc::clone(&self.recall));
        Run { cluster, means, pace, order, settings, inventory, recall }
    }
}

/// Returns what was found, or what came of every object where something stands
/// in the way of one.
fn known(found: Vec<Found>, order: &Order) -> Result<Vec<Sight>, Vec<Step>> {
    if found.iter().all(Result::is_ok) {
        return Ok(found.into_iter().filter_map(Result::ok).collect());
    }
    let steps = found.into_iter().zip(order.objects()).map(|(found, object)| {
        let because = "others of the set cannot be applied".to_owned();
        let outcome = match found {
            Ok(_) => Outcome::Left { because },
            Err(error) => Outcome::Failed(error),
        };
        Step { id: object.id().clone(), outcome }
    });
    Err(steps.collect())
}
