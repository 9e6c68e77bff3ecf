//! Ending the members of a set that are no longer wished for.

use std::sync::Arc;

use events::{Call, CallClass};
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};
use http::Method;
use serde_json::json;

use super::Mode;
use super::adopt::PART_OF;
use super::leaving::{doomed, see_gone};
use super::one::send;
use super::pace::Hope;
use super::prune::{End, Pruned, Pruner};
use super::spared::{self, Spared};
use crate::request::Ask;
use crate::{ApiError, Cluster, Deletion, Doomed, FIELD_MANAGER, Object, Order, Propagation};

const NOT_ASKED: &str = "the work was ended before anybody asked for its deletion";

/// How a member stands after its turn.
struct Turn {
    pruned: Pruned,
    /// The life that is marked for deletion, and that something keeps.
    marked: Option<Doomed>,
}

impl Pruner<'_> {
    /// Ends members: what stands on others goes before them, and is gone before
    /// their turn comes. What a finalizer keeps may need a controller that would
    /// be next.
    pub(super) async fn end(&self, members: Vec<Object>, order: &Arc<Order>) -> Vec<Pruned> {
        let mut ended: Vec<Pruned> = Vec::new();
        let mut layers = crate::order::backwards(members).into_iter();
        for layer in layers.by_ref() {
            let turns = layer.into_iter().map(|member| self.one(member, order).boxed());
            let turns: Vec<BoxFuture<'_, _>> = turns.collect();
            let turns = stream::iter(turns).buffer_unordered(self.settings.in_flight);
            let turns: Vec<Turn> = turns.filter_map(std::future::ready).collect().await;
            let mut ends = self.see_gone(turns).await;
            ends.sort_by(|a, b| a.id.cmp(&b.id));
            ended.extend(ends);
            if ended.iter().any(|one| matches!(one.end, End::Stuck { .. })) {
                break;
            }
        }
        let ended_early = self.means.cancel.is_cancelled();
        let because = if ended_early { NOT_ASKED } else { "what stands on it is not gone" };
        let left = layers.flatten().map(|member| Pruned {
            id: member.id().clone(),
            end: End::Kept { because: because.to_owned() },
        });
        ended.extend(left);
        ended
    }

    /// Waits until everything that is marked is gone, within the patience of the set.
    async fn see_gone(&self, turns: Vec<Turn>) -> Vec<Pruned> {
        let marked: Vec<Doomed> = turns.iter().filter_map(|turn| turn.marked.clone()).collect();
        let Self { cluster, means, pace, settings, .. } = self;
        let mut stuck = see_gone(cluster, means, pace, settings, marked).await;
        let end = |turn: Turn| match stuck.remove(&turn.pruned.id) {
            Some(because) => Pruned { end: End::Stuck { because }, ..turn.pruned },
            None => turn.pruned,
        };
        turns.into_iter().map(end).collect()
    }

    async fn one(&self, member: Object, order: &Arc<Order>) -> Option<Turn> {
        if self.means.cancel.is_cancelled() {
            let end = End::Kept { because: NOT_ASKED.to_owned() };
            return Some(Turn { pruned: Pruned { id: member.id().clone(), end }, marked: None });
        }
        let spared = match self.spared(&member, order).await {
            Ok(spared) => spared,
            Err(error) => {
                let pruned = Pruned { id: member.id().clone(), end: End::Failed(error) };
                return Some(Turn { pruned, marked: None });
            }
        };
        let (id, mut marked) = (member.id().clone(), None);
        let end = match spared {
            Some(Spared::NotOurs) => return None,
            Some(Spared::Leaving) if self.settings.mode == Mode::DryRun => return None,
            // Who marked it, an earlier run or somebody else, may not have seen it gone.
            Some(Spared::Leaving) => {
                marked = Some(doomed(&member));
                End::Deleted
            }
            Some(Spared::Kept(because)) => End::Kept { because },
            Some(Spared::Detached(because)) => match self.detach(&member).await {
                Ok(()) => End::Detached { because },
                Err(error) => End::Failed(error),
            },
            None => match self.delete(&member).await {
                Ok(still_there) => {
                    marked = still_there;
                    End::Deleted
                }
                Err(error) => End::Failed(error),
            },
        };
        Some(Turn { pruned: Pruned { id, end }, marked })
    }

    async fn spared(&self, member: &Object, order: &Order) -> Result<Option<Spared>, ApiError> {
        match spared::by_itself(member) {
            None if member.kind().is("", "Namespace") => self.spared_namespace(member, order).await,
            None if member.kind().is("apiextensions.k8s.io", "CustomResourceDefinition") => {
                self.spared_definition(member, order).await
            }
            spared => Ok(spared),
        }
    }

    /// Deletes a member, and returns it where something keeps it.
    async fn delete(&self, member: &Object) -> Result<Option<Doomed>, ApiError> {
        if self.settings.mode == Mode::DryRun {
            return Ok(None);
        }
        let doomed = doomed(member);
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let (permit, receipt) = self.means.permit(Cluster::delete_call(&doomed));
            let sent = self.cluster.delete(permit, &doomed, Propagation::Background).await;
            self.means.close(receipt, &sent);
            match sent {
                Ok(deleted) => {
                    return Ok(Some(doomed).filter(|_| deleted.deletion == Deletion::UnderWay));
                }
                Err(error) => tries.again(error).await?,
            }
        }
    }

    async fn detach(&self, member: &Object) -> Result<(), ApiError> {
        if self.settings.mode == Mode::DryRun {
            return Ok(());
        }
        let id = member.id();
        // The uid in a merge patch must be that of the object.
        let body = json!({ "metadata": { "uid": member.uid(), "labels": { PART_OF: null } } });
        let body = body.to_string();
        let call = Call::new(CallClass::Idempotent, "detach", id.to_string(), body.as_bytes());
        let resource = self.cluster.resource(&id.kind).await?;
        let tried = format!("take {id} out of the set");
        let ask = Ask::new(Method::PATCH, resource.path_of(self.cluster, id), tried)
            .with("fieldManager", FIELD_MANAGER)
            .sending("application/merge-patch+json", body);
        send(self.cluster, self.means, self.pace, &call, &ask).await.map(|_| ())
    }
}
