//! One of many deletions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::{Doomed, Patience, Remains, Removal, RemovalEvent, RemovalState};
use crate::ObjectId;
use crate::lookout::{Place, PostId, spread};

/// One deletion.
pub(super) struct One {
    pub(super) removal: Removal,
    pub(super) place: Arc<Place>,
    /// Where it is watched; none before the API has said that it is under way.
    pub(super) post: Option<PostId>,
    /// Where the objects are watched that have to go first.
    pub(super) below: Vec<PostId>,
    told: Option<(Option<Remains>, u32)>,
    pub(super) settled: Option<RemovalState>,
}

// === impl One ===

impl One {
    fn new(removal: Removal, place: Arc<Place>) -> Self {
        Self { removal, place, post: None, below: Vec::new(), told: None, settled: None }
    }

    pub(super) fn sees(&self, post: PostId) -> bool {
        self.post == Some(post) || self.below.contains(&post)
    }

    pub(super) fn settle(&mut self, at: Duration, tell: &mut dyn FnMut(RemovalEvent)) {
        let now = (self.removal.remains().cloned(), self.removal.errors.total);
        let news = now.0.is_some() && self.told.as_ref() != Some(&now);
        if !news && !self.removal.is_settled(at) {
            return;
        }
        let state = self.removal.state(at);
        match &state {
            RemovalState::Progressing(waiting) => {
                tell(RemovalEvent::Waiting(Box::new(waiting.clone())));
                self.told = Some(now);
                return;
            }
            RemovalState::Gone(how) => {
                let id = self.removal.doomed().id.clone();
                tell(RemovalEvent::Gone { id, how: *how, after: at });
            }
            // The end tells it.
            RemovalState::Stuck(_) => {}
        }
        self.settled = Some(state);
    }
}

/// Who is named twice goes once.
pub(super) fn one_each(doomed: Vec<Doomed>, patience: Option<Patience>, default: &str) -> Vec<One> {
    let ids: Vec<ObjectId> = doomed.iter().map(|one| one.id.clone()).collect();
    let mut places = HashMap::new();
    for place in spread(&ids, default).into_iter().map(Arc::new) {
        places.extend(place.ids.iter().map(|id| (id.clone(), Arc::clone(&place))));
    }
    let mut once = HashSet::new();
    let doomed = doomed.into_iter().filter(|one| once.insert((one.id.clone(), one.uid.clone())));
    let all = doomed.filter_map(|doomed| {
        let patience = patience.unwrap_or_else(|| Patience::of(&doomed.id.kind));
        let place = Arc::clone(places.get(&doomed.id)?);
        Some(One::new(Removal::new(doomed, patience), place))
    });
    all.collect()
}
