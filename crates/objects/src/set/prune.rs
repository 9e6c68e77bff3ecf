//! The members of a set that are no longer wished for: who they are, and what
//! the inventory says of them.

use std::collections::HashSet;
use std::sync::Arc;

use super::inventory::{Contents, Inventory, InventoryError};
use super::look::get;
use super::pace::{Hope, Pace};
use super::reach::{may_not_list, members_are_far};
use super::report::{Outcome, Report};
use super::{Adopt, Means, Mode, Settings};
use crate::{
    ApiError, Cluster, Meant, Object, ObjectId, Order, Ownership, Resource, Scope, Trouble,
};

/// How often an inventory that others write to is looked at again.
const LOOKS: usize = 10;

const ENDED: &str = "the work was ended first";

/// Whether members that are no longer wished for are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// They stay, and stay members.
    No,
    /// They are, once everything that is wished for is there.
    Yes,
}

/// What came of a member that is no longer wished for.
#[derive(Debug)]
pub struct Pruned {
    /// The member.
    pub id: ObjectId,
    /// What came of it.
    pub end: End,
}

/// How a member ended that is no longer wished for.
#[derive(Debug)]
pub enum End {
    /// It was deleted, or would be.
    Deleted,
    /// It stays, and is no member any more.
    Detached {
        /// Why it stays.
        because: String,
    },
    /// It stays, and stays a member.
    Kept {
        /// Why it stays.
        because: String,
    },
    /// It is marked for deletion, something keeps it, and it stays a member.
    Stuck {
        /// What keeps it.
        because: String,
    },
    /// It could not be deleted, and stays a member.
    Failed(ApiError),
}

/// The members of a set, from before an apply until after it.
pub(super) struct Pruner<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) means: &'a Means,
    pub(super) pace: &'a Pace,
    pub(super) inventory: Inventory,
    pub(super) settings: Settings,
    /// The parent as it is, where it is there.
    live: Option<Object>,
    /// Where members were before this apply.
    before: Contents,
}

impl Pruned {
    /// Returns whether something went wrong.
    pub fn is_failure(&self) -> bool {
        matches!(self.end, End::Failed(_) | End::Stuck { .. })
    }
}

impl<'a> Pruner<'a> {
    /// Reads the inventory, where there is one already.
    pub(super) async fn open(
        cluster: &'a Cluster,
        means: &'a Means,
        pace: &'a Pace,
        inventory: Inventory,
        settings: Settings,
    ) -> Result<Self, InventoryError> {
        let (live, before) = (None, Contents::default());
        let mut pruner = Self { cluster, means, pace, inventory, settings, live, before };
        pruner.look_again().await?;
        Ok(pruner)
    }

    pub(super) fn id(&self) -> &str {
        self.inventory.id()
    }

    /// Adds what is wished for to what the inventory says, before any of it is
    /// there: whatever happens from now on, nothing is forgotten. What others say
    /// who work on the set at the same time stays.
    pub(super) async fn extend(&mut self, order: &Order) -> Result<(), InventoryError> {
        let mut looks = 0;
        loop {
            let all = self.before.union(&wished(order));
            match self.write(&all).await {
                Err(error) if is_changed(&error) && looks < LOOKS => self.look_again().await?,
                written => return Ok(written?),
            }
            looks += 1;
        }
    }

    /// Sees to it that what is there now is remembered: another run that did not
    /// see it yet may have narrowed the inventory meanwhile.
    pub(super) async fn hold(&mut self, order: &Order) -> Result<(), ApiError> {
        let held = async {
            self.look_again().await?;
            self.extend(order).await
        };
        held.await.map_err(|error| match error {
            InventoryError::Api(error) => error,
            other => {
                let tried = format!("remember the members in {}", self.inventory.parent());
                ApiError::new(tried, Trouble::Changed(other.to_string()))
            }
        })
    }

    async fn look_again(&mut self) -> Result<(), InventoryError> {
        self.live = get(self.cluster, self.pace, self.inventory.parent()).await?;
        if let Some(live) = &self.live {
            let take_over = self.settings.adopt == Adopt::Always;
            let mut served = Vec::new();
            if Inventory::names_resources(live) {
                served = self.cluster.all_resources().await?;
            }
            self.before = self.before.union(&self.inventory.read(live, take_over, &served)?);
        }
        Ok(())
    }

    /// Says contents in the parent as it was seen, and in no later state of it.
    async fn write(&mut self, contents: &Contents) -> Result<(), ApiError> {
        let says = self.live.as_ref().is_some_and(|live| self.inventory.says(live, contents));
        if says || self.settings.mode == Mode::DryRun {
            return Ok(());
        }
        let parent = self.inventory.object(contents);
        let before = self.live.as_ref().and_then(Object::version);
        let meant = before.as_ref().map_or(Meant::Absent, Meant::State);
        let mut tries = self.pace.tries(Hope::Usual);
        // The namespace of the parent may come with the set, and then nothing
        // can be remembered there yet: that is an error, as with kubectl.
        let applied = loop {
            tries.turn().await;
            let (permit, receipt) = self.means.permit(Cluster::apply_call(&parent));
            let sent = self.cluster.apply_to(permit, &parent, Ownership::Take, meant).await;
            self.means.close(receipt, &sent);
            match sent {
                Ok(applied) => break applied,
                Err(error) => tries.again(error).await?,
            }
        };
        self.live = Some(applied.object);
        Ok(())
    }

    /// Deletes the members that are no longer wished for, and then forgets
    /// where they were.
    pub(super) async fn prune(mut self, order: &Arc<Order>, report: &mut Report) {
        if !report.is_whole() {
            report.not_pruned = Some("not everything that is wished for is there");
            return;
        }
        if self.means.cancel.is_cancelled() {
            report.not_pruned = Some(ENDED);
            return;
        }
        match self.members(report).await {
            Ok(members) => report.pruned = self.end(members, order).await,
            Err((id, error)) => report.pruned.push(Pruned { id, end: End::Failed(error) }),
        }
        let mut left = wished(order);
        if self.means.cancel.is_cancelled() {
            report.not_pruned = Some(ENDED);
        }
        if !report.is_whole() {
            return;
        }
        let stays = |one: &&Pruned| matches!(one.end, End::Kept { .. });
        report.pruned.iter().filter(stays).for_each(|one| left.add(&one.id));
        let narrowed = match self.write(&left).await {
            // Another run works on the set: what is too much, the next one takes out.
            Err(error) if is_changed(&error) => self.hold(order).await,
            Ok(()) => self.forgets_nobody(left, report).await,
            Err(error) => Err(error),
        };
        if let Err(error) = narrowed {
            report.pruned.push(self.blame(error));
        }
    }

    /// Looks once more where members were, after that was forgotten: another run
    /// may have made one there while the inventory still said so, and had
    /// nothing to write.
    async fn forgets_nobody(&mut self, left: Contents, report: &Report) -> Result<(), ApiError> {
        if self.settings.mode == Mode::DryRun || self.before == left {
            return Ok(());
        }
        let found = self.members(report).await.map_err(|(_, error)| error)?;
        let mut all = left.clone();
        for member in &found {
            all.add(member.id());
        }
        if all == left { Ok(()) } else { self.write(&all).await }
    }

    /// Tells of an error that is about the inventory itself.
    pub(super) fn blame(&self, error: ApiError) -> Pruned {
        Pruned { id: self.inventory.parent().clone(), end: End::Failed(error) }
    }

    /// Finds the members that no object of the set is.
    async fn members(&self, report: &Report) -> Result<Vec<Object>, (ObjectId, ApiError)> {
        let lives = report.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::There(there) => there.version.as_ref().map(|version| version.uid.as_str()),
            _ => None,
        });
        let wished: HashSet<&str> = lives.collect();
        let blame = |error| (self.inventory.parent().clone(), error);
        let mut members = Vec::new();
        for scope in self.scopes().await.map_err(blame)? {
            let found = self.list(&scope).await.map_err(blame)?;
            let old = |live: &Object| live.uid().is_some_and(|uid| !wished.contains(uid));
            members.extend(found.into_iter().filter(|live| self.holds(live) && old(live)));
        }
        members.retain(|live| live.id() != self.inventory.parent());
        Ok(members)
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<Object>, ApiError> {
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            match self.cluster.list(scope).await {
                Ok(listed) => return Ok(listed.objects),
                Err(error) => match self.cluster.unless_gone(scope.kind(), error).await {
                    Ok(()) => return Ok(Vec::new()),
                    Err(error) => tries.again(error).await?,
                },
            }
        }
    }

    /// Returns where members are; an error where there is no inventory at all.
    pub(super) async fn scopes_of_members(&self) -> Result<Vec<Scope>, InventoryError> {
        if self.live.is_none() {
            let parent = Box::new(self.inventory.parent().clone());
            return Err(InventoryError::Absent(parent));
        }
        Ok(self.scopes().await?)
    }

    async fn scopes(&self) -> Result<Vec<Scope>, ApiError> {
        let mut scopes = Vec::new();
        for (group, kind) in &self.before.kinds {
            let Some(resource) = self.preferred(group, kind).await? else { continue };
            let all = Scope::all(resource.kind).labelled(self.inventory.selector());
            let namespaces = &self.before.namespaces;
            if !resource.namespaced || (members_are_far(namespaces) && self.may_list(&all).await?) {
                scopes.push(all);
            } else {
                scopes.extend(namespaces.iter().map(|namespace| all.clone().within(namespace)));
            }
        }
        Ok(scopes)
    }

    /// Returns where a kind is served; what nobody serves has no members.
    async fn preferred(&self, group: &str, kind: &str) -> Result<Option<Resource>, ApiError> {
        self.pace.repeat(|| self.cluster.preferred(group, kind)).await
    }

    /// Returns whether we have the right to list something, by one short list.
    async fn may_list(&self, scope: &Scope) -> Result<bool, ApiError> {
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            match self.cluster.first(scope).await {
                Ok(()) => return Ok(true),
                // The list itself tells what that means.
                Err(error) if error.is_about_a_missing_kind() => return Ok(true),
                Err(error) if may_not_list(&error) => return Ok(false),
                Err(error) => tries.again(error).await?,
            }
        }
    }

    /// Returns whether an object with the label of the set is where the set is.
    /// Others copy objects with all their labels to elsewhere; those are theirs.
    pub(super) fn holds(&self, live: &Object) -> bool {
        let namespace = live.id().namespace.as_ref();
        namespace.is_none_or(|namespace| self.before.namespaces.contains(namespace))
    }
}

fn is_changed(error: &ApiError) -> bool {
    matches!(error.trouble(), Trouble::Changed(_))
}

fn wished(order: &Order) -> Contents {
    let mut contents = Contents::default();
    order.objects().iter().for_each(|object| contents.add(object.id()));
    contents
}
