//! Where calls, jobs and health checks meet the project.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::action::{Job, Outcome};
use super::balancer::Fronts;
use super::project::{News, Project};
use super::rate_limit::RateLimit;
use crate::Effects;

/// The name of this part of the world.
pub(crate) const PART: &str = "hetzner";

/// What all connections and tasks of one simulated cloud share.
pub(crate) struct Desk {
    project: Mutex<Project>,
    fronts: Mutex<Fronts>,
    news: UnboundedSender<News>,
    /// Ends the jobs when the cloud goes away.
    closing: CancellationToken,
    pub(crate) token: String,
    pub(crate) effects: Effects,
    pub(crate) rate_limit: Mutex<RateLimit>,
}

impl Desk {
    pub(crate) fn new(
        project: Project,
        token: String,
        effects: Effects,
        rate_limit: RateLimit,
        news: UnboundedSender<News>,
    ) -> Arc<Self> {
        Arc::new(Self {
            project: Mutex::new(project),
            fronts: Mutex::default(),
            news,
            closing: CancellationToken::new(),
            token,
            effects,
            rate_limit: Mutex::new(rate_limit),
        })
    }

    /// Looks at the project.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&Project) -> R) -> R {
        look(&lock(&self.project))
    }

    /// Changes what concerns nobody else: knobs and healths.
    pub(crate) fn touch<R>(&self, change: impl FnOnce(&mut Project) -> R) -> R {
        change(&mut lock(&self.project))
    }

    /// Changes the project, and sets in motion what follows from it.
    pub(crate) fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut Project) -> R) -> R {
        let mut project = lock(&self.project);
        let result = change(&mut project);
        lock(&self.fronts).follow(&mut project, self);
        for news in project.news.drain(..) {
            // Nobody listens any more once the cloud goes away.
            let _ = self.news.send(news);
        }
        for job in project.jobs.drain(..) {
            let run = Arc::clone(self).run(job);
            let closing = self.closing.clone();
            tokio::spawn(async move { closing.run_until_cancelled(run).await });
        }
        result
    }

    /// Works through the steps of a job.
    async fn run(self: Arc<Self>, job: Job) {
        let tempo = self.look(|project| project.tempo);
        let mut before = Outcome::Success;
        for (id, mut step) in job {
            if before == Outcome::Success {
                self.change(|project| project.begin(id, &mut step));
                tempo.pass(step.takes).await;
            }
            before = self.change(|project| project.finish(id, step, before));
        }
    }

    /// Ends all jobs and all load balancers.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        *lock(&self.fronts) = Fronts::default();
    }
}

/// The data stays usable whoever panicked with the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
