//! Applying the objects of a set, each as soon as what it waits for is there.
//!
//! Every request has a task of its own and is always waited for: ending the
//! work only keeps further ones from being sent.

use std::panic::resume_unwind;
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::task::JoinHandle;

use super::board::Board;
use super::look::Sight;
use super::memory::Recall;
use super::pace::Pace;
use super::report::{Outcome, Step};
use super::{Means, Mode, Settings, gate};
use crate::{Cluster, Need, Order};

/// A set on its way.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) cluster: Cluster,
    pub(super) means: Means,
    pub(super) pace: Arc<Pace>,
    pub(super) order: Arc<Order>,
    pub(super) settings: Settings,
    /// The id of our set.
    pub(super) inventory: Option<String>,
    pub(super) recall: Arc<Recall>,
}

/// What a task has to tell.
enum News {
    /// The object at a place was sent.
    Sent(usize, Outcome),
    /// The object at a place is ready, or why it is not.
    Settled(usize, Result<(), String>),
}

impl Run {
    /// Applies everything, and tells of each object when its turn is over.
    pub(super) async fn all(
        self: Arc<Self>,
        sights: Vec<Sight>,
        observe: &mut (dyn FnMut(&Step) + Send),
    ) -> Vec<Step> {
        let order = Arc::clone(&self.order);
        let mut board = Board::new(&order, observe);
        let mut sights: Vec<Option<Sight>> = sights.into_iter().map(Some).collect();
        // A handle that is dropped lets its task go on; a task that panicked says so.
        let mut tasks: FuturesUnordered<JoinHandle<News>> = FuturesUnordered::new();
        let mut sending = 0;
        loop {
            while sending < self.settings.in_flight
                && !self.means.cancel.is_cancelled()
                && let Some(place) = board.pop()
            {
                let sight = sights[place].take().expect("an object has one turn");
                tasks.push(self.send_in_a_task(place, sight));
                sending += 1;
            }
            let Some(news) = tasks.next().await else { return board.end() };
            match news.unwrap_or_else(|stopped| resume_unwind(stopped.into_panic())) {
                News::Sent(place, outcome) => {
                    sending -= 1;
                    let settles = self.settles(place, &outcome);
                    board.sent(place, outcome, settles);
                    if settles {
                        tasks.push(self.settle_in_a_task(place));
                    }
                }
                News::Settled(place, result) => board.settled(place, &result),
            }
        }
    }

    /// Returns whether others wait until the object is ready. A dry run makes
    /// nothing that could become so.
    fn settles(&self, place: usize, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::There(_))
            && self.settings.mode == Mode::ForReal
            && self.order.needed(place) == Some(Need::Ready)
    }

    fn send_in_a_task(self: &Arc<Self>, place: usize, sight: Sight) -> JoinHandle<News> {
        let run = Arc::clone(self);
        tokio::spawn(async move { News::Sent(place, run.one(place, sight).await) })
    }

    fn settle_in_a_task(self: &Arc<Self>, place: usize) -> JoinHandle<News> {
        let run = Arc::clone(self);
        tokio::spawn(async move {
            let id = run.order.objects()[place].id();
            News::Settled(place, gate::ready(&run.cluster, &run.means, &run.pace, id).await)
        })
    }
}
