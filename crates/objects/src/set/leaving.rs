//! Objects that are on their way out, and have to be gone before anything else.

use std::collections::HashMap;

use super::apply::Work;
use super::look::{Found, get};
use super::pace::Pace;
use super::{Means, Settings, StepError};
use crate::{
    ApiError, Cluster, Deleted, Deletion, Doomed, Object, ObjectId, Order, Patience, Remains,
    RemovalEvent, RemovalTerms, Waiting,
};

const INTERRUPTED: &str = "it is marked for deletion; nobody waited until it was gone";

/// Waits until everything that is marked for deletion is gone, within the
/// patience of the set, and says what keeps the rest.
pub(super) async fn see_gone(
    cluster: &Cluster,
    means: &Means,
    pace: &Pace,
    settings: &Settings,
    marked: Vec<Doomed>,
) -> HashMap<ObjectId, String> {
    let mut stuck = HashMap::new();
    if marked.is_empty() {
        return stuck;
    }
    let left = pace.left();
    let patience = Some(Patience { deadline: left, quiet: left });
    let terms = RemovalTerms { in_flight: settings.in_flight, patience };
    // It was asked for already.
    let asked = |_| async { Ok(Deleted { deletion: Deletion::UnderWay, warnings: vec![] }) };
    let mut tell = |event| tell(means, &event);
    let ids: Vec<ObjectId> = marked.iter().map(|doomed| doomed.id.clone()).collect();
    let seen = cluster.remove(marked, terms, means.clock, asked, &mut tell);
    tokio::select! {
        seen = seen => if let Err(not_removed) = seen {
            stuck.extend(not_removed.stuck.iter().map(stays));
        },
        () = means.cancel.cancelled() => {
            stuck.extend(ids.iter().map(|id| (id.clone(), INTERRUPTED.to_owned())));
        }
    }
    for id in &ids {
        means.goes_on(id);
    }
    stuck
}

fn tell(means: &Means, event: &RemovalEvent) {
    match event {
        RemovalEvent::Waiting(waiting) => {
            let (id, because) = stays(waiting);
            means.waits_for(&id, because);
        }
        RemovalEvent::Gone { id, .. } => means.goes_on(id),
        RemovalEvent::Warned { .. } | RemovalEvent::Trouble { .. } => {}
    }
}

/// Says what keeps an object that is marked for deletion.
fn stays(waiting: &Waiting) -> (ObjectId, String) {
    let because = waiting.remains.as_ref().map(Remains::says);
    let because = because.unwrap_or_else(|| waiting.because().what);
    let all: Vec<String> = [because].into_iter().chain(waiting.errors.line()).collect();
    (waiting.doomed.id.clone(), all.join("; "))
}

/// Which life of an object is to end.
pub(super) fn doomed(live: &Object) -> Doomed {
    let uid = live.uid().unwrap_or_default().to_owned();
    Doomed { id: live.id().clone(), uid }
}

impl Work {
    /// Waits for namespaces of the set that are on their way out: they take all
    /// that is in them along, and are made anew afterwards. Returns what keeps
    /// those that stay, and none where there was nothing to wait for.
    pub(super) async fn namespaces_have_left(
        &self,
        found: &[Found],
        order: &Order,
    ) -> Result<Option<HashMap<ObjectId, String>>, ApiError> {
        let ids = order.objects().iter().map(Object::id);
        let leaving = found.iter().zip(ids).filter(|(found, id)| {
            id.kind.is("", "Namespace") && matches!(found, Err(StepError::Terminating { .. }))
        });
        let leaving: Vec<&ObjectId> = leaving.map(|(_, id)| id).collect();
        if leaving.is_empty() {
            return Ok(None);
        }
        let mut marked = Vec::new();
        for id in leaving {
            let live = get(&self.cluster, &self.pace, id).await?;
            let live = live.filter(|live| live.at("/metadata/deletionTimestamp").is_some());
            marked.extend(live.as_ref().map(doomed));
        }
        Ok(Some(see_gone(&self.cluster, &self.means, &self.pace, &self.settings, marked).await))
    }
}

/// Says of those that are still on their way out what keeps them.
pub(super) fn tell_what_keeps(
    found: &mut [Found],
    order: &Order,
    mut stuck: HashMap<ObjectId, String>,
) {
    for (found, object) in found.iter_mut().zip(order.objects()) {
        if let Err(StepError::Terminating { kept_by }) = found {
            *kept_by = stuck.remove(object.id());
        }
    }
}
