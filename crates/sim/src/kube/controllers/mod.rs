//! The controllers of a cluster: each follows objects and brings others in
//! line with them.
//!
//! All of them are level-triggered: whenever something has changed, a pass
//! looks at what there is and takes the steps that are missing, until a pass
//! changes nothing. Nothing polls.

mod bootstrap;
mod collector;
mod daemon_set;
mod deployment;
mod endpoints;
mod event;
mod job;
mod namespace;
mod pods;
mod replica_set;
mod scheduler;
mod volumes;

pub(crate) use endpoints::named_port;
pub(crate) use event::{About, record};
pub(crate) use volumes::{CLAIMS, SELECTED, claim_names, is_bound};

use std::time::Duration;

use crate::Tempo;
use crate::kube::Kube;
use crate::kube::refusal::Refusal;
use crate::kube::resource::Key;

pub(crate) const PODS: Key = Key::core("pods");
pub(crate) const NODES: Key = Key::core("nodes");
const DEPLOYMENTS: Key = Key::new("apps", "deployments");
const REPLICA_SETS: Key = Key::new("apps", "replicasets");
const DAEMON_SETS: Key = Key::new("apps", "daemonsets");
const JOBS: Key = Key::new("batch", "jobs");

/// How long the controllers take to see a change.
const REACTION: Duration = Duration::from_millis(200);

impl Kube {
    /// Makes what every new cluster has, and runs its controllers until the
    /// future is dropped.
    pub async fn run_controllers(&self, tempo: Tempo) {
        bootstrap::make(self);
        let mut revision = self.revision();
        loop {
            revision.borrow_and_update();
            while self.control() {
                tokio::task::yield_now().await;
            }
            if revision.changed().await.is_err() {
                return;
            }
            tempo.pass(REACTION).await;
        }
    }

    /// Takes one pass, and says whether it has changed anything.
    fn control(&self) -> bool {
        let before = *self.revision().borrow();
        namespace::pass(self);
        deployment::pass(self);
        replica_set::pass(self);
        daemon_set::pass(self);
        job::pass(self);
        scheduler::pass(self);
        endpoints::pass(self);
        collector::pass(self);
        *self.revision().borrow() != before
    }
}

/// A refused step of a pass is not lost: the object that stands in the way has
/// changed, and the next pass looks again.
fn attempt<T>(step: Result<T, Refusal>) -> Option<T> {
    step.ok()
}
