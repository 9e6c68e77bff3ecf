//! Ending the members of a set that are no longer wished for.

use std::sync::Arc;

use events::{Call, CallClass};
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, StreamExt as _};
use http::Method;
use serde_json::json;

use super::Mode;
use super::adopt::PART_OF;
use super::one::send;
use super::pace::Hope;
use super::prune::{End, Pruned, Pruner};
use super::spared::{self, Spared};
use crate::request::Ask;
use crate::{ApiError, Cluster, Doomed, FIELD_MANAGER, Object, Order, Propagation};

impl Pruner<'_> {
    /// Ends members: what stands on others goes before them.
    pub(super) async fn end(&self, members: Vec<Object>, order: &Arc<Order>) -> Vec<Pruned> {
        let mut ended = Vec::new();
        for layer in crate::order::backwards(members) {
            let ends = layer.into_iter().map(|member| self.one(member, order).boxed());
            let ends: Vec<BoxFuture<'_, _>> = ends.collect();
            let ends = stream::iter(ends).buffer_unordered(self.settings.in_flight);
            let mut ends: Vec<Pruned> = ends.filter_map(std::future::ready).collect().await;
            ends.sort_by(|a, b| a.id.cmp(&b.id));
            ended.extend(ends);
        }
        ended
    }

    async fn one(&self, member: Object, order: &Arc<Order>) -> Option<Pruned> {
        let spared = match self.spared(&member, order).await {
            Ok(spared) => spared,
            Err(error) => {
                return Some(Pruned { id: member.id().clone(), end: End::Failed(error) });
            }
        };
        let id = member.id().clone();
        let end = match spared {
            Some(Spared::NotOurs) => return None,
            Some(Spared::Kept(because)) => End::Kept { because },
            Some(Spared::Detached(because)) => match self.detach(&member).await {
                Ok(()) => End::Detached { because },
                Err(error) => End::Failed(error),
            },
            None => self.delete(&member).await.map_or_else(End::Failed, |()| End::Deleted),
        };
        Some(Pruned { id, end })
    }

    async fn spared(&self, member: &Object, order: &Order) -> Result<Option<Spared>, ApiError> {
        match spared::by_itself(member) {
            None if member.kind().is("", "Namespace") => {
                let name = &member.id().name;
                spared::namespace(self.cluster, &self.inventory, order, name).await
            }
            spared => Ok(spared),
        }
    }

    async fn delete(&self, member: &Object) -> Result<(), ApiError> {
        if self.settings.mode == Mode::DryRun {
            return Ok(());
        }
        let uid = member.uid().unwrap_or_default().to_owned();
        let doomed = Doomed { id: member.id().clone(), uid };
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let (permit, receipt) = self.means.permit(Cluster::delete_call(&doomed));
            let sent = self.cluster.delete(permit, &doomed, Propagation::Background).await;
            self.means.close(receipt, &sent);
            match sent {
                Ok(_) => return Ok(()),
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
