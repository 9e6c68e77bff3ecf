//! Actions: what takes time, step after step.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::project::Project;
use super::refusal::Refusal;
use super::shelf::Resource;

/// Something that a client asked for and that is, or was, under way.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) id: i64,
    pub(crate) command: &'static str,
    pub(crate) resources: Vec<Reference>,
    started: Timestamp,
    finished: Option<Timestamp>,
    outcome: Option<Outcome>,
    /// Why it failed, where there is more to say than that it did.
    reason: Option<Refusal>,
    /// Since when, and for how long in real time, once its turn has come.
    span: Option<(Instant, Duration)>,
}

/// A resource by id and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) id: i64,
    pub(crate) kind: &'static str,
}

/// How an action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    Error,
}

/// One action to come and what it changes when it ends.
pub(crate) struct Step {
    pub(crate) command: &'static str,
    pub(crate) resources: Vec<Reference>,
    pub(crate) takes: Duration,
    pub(crate) begin: Option<Deed>,
    pub(crate) done: Option<Deed>,
    pub(crate) failed: Option<Deed>,
    /// Why it is going to fail, where that is certain from the beginning.
    pub(crate) fails: Option<Refusal>,
}

/// A change that waits for its moment.
pub(crate) type Deed = Box<dyn FnOnce(&mut Project) + Send>;

/// Steps that follow each other, each with the id of its action.
pub(crate) type Job = Vec<(i64, Step)>;

impl Reference {
    pub(crate) fn to<T: Resource>(id: i64) -> Self {
        Self { id, kind: T::KIND }
    }
}

impl Step {
    /// An action on resources, of which the first is busy meanwhile.
    pub(crate) fn new(command: &'static str, resources: &[Reference], takes: Duration) -> Self {
        let resources = resources.to_vec();
        Self { command, resources, takes, begin: None, done: None, failed: None, fails: None }
    }

    /// Changes something when its turn comes.
    pub(crate) fn first(mut self, deed: impl FnOnce(&mut Project) + Send + 'static) -> Self {
        self.begin = Some(Box::new(deed));
        self
    }

    /// Changes something when it has succeeded.
    pub(crate) fn then(mut self, deed: impl FnOnce(&mut Project) + Send + 'static) -> Self {
        self.done = Some(Box::new(deed));
        self
    }

    /// Makes it fail when its time is over, for a reason.
    pub(crate) fn failing(mut self, reason: Option<Refusal>) -> Self {
        self.fails = reason;
        self
    }

    /// Changes something when it has failed.
    pub(crate) fn or_else(mut self, deed: impl FnOnce(&mut Project) + Send + 'static) -> Self {
        self.failed = Some(Box::new(deed));
        self
    }
}

impl Action {
    pub(crate) fn of(id: i64, step: &Step, now: Timestamp) -> Self {
        Self {
            id,
            command: step.command,
            resources: step.resources.clone(),
            started: now,
            finished: None,
            outcome: None,
            reason: step.fails.clone(),
            span: None,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.outcome.is_none()
    }

    /// Says whether this action keeps others away from a resource.
    pub(crate) fn holds(&self, subject: Reference) -> bool {
        self.is_running() && self.resources.first() == Some(&subject)
    }

    pub(crate) fn concerns(&self, subject: Reference) -> bool {
        self.resources.contains(&subject)
    }

    pub(crate) fn begin(&mut self, takes: Duration) {
        self.span = Some((Instant::now(), takes));
    }

    pub(crate) fn end(&mut self, outcome: Outcome, now: Timestamp) {
        self.outcome = Some(outcome);
        self.finished = Some(now);
    }

    pub(crate) fn view(&self) -> Value {
        let (status, error) = match self.outcome {
            None => ("running", Value::Null),
            Some(Outcome::Success) => ("success", Value::Null),
            Some(Outcome::Error) => (
                "error",
                self.reason.as_ref().map_or_else(
                    || json!({ "code": "action_failed", "message": "Action failed" }),
                    Refusal::in_action,
                ),
            ),
        };
        let resources = self.resources.iter();
        json!({
            "id": self.id,
            "command": self.command,
            "status": status,
            "progress": self.progress(),
            "started": self.started,
            "finished": self.finished,
            "resources": resources.map(|it| json!({ "id": it.id, "type": it.kind })).collect::<Vec<_>>(),
            "error": error,
        })
    }

    /// Percent of the time that it takes; only what has ended is complete.
    fn progress(&self) -> u64 {
        match (self.outcome, self.span) {
            (Some(Outcome::Success), _) => 100,
            (_, Some((since, takes))) if !takes.is_zero() => {
                let percent = since.elapsed().as_millis() * 100 / takes.as_millis().max(1);
                u64::try_from(percent.min(95)).unwrap_or(95)
            }
            _ => 0,
        }
    }
}

/// Finds an action by id.
pub(crate) fn find(project: &Project, id: i64) -> Result<&Action, Refusal> {
    project.actions.get(&id).ok_or_else(|| Refusal::not_found("action", id))
}
