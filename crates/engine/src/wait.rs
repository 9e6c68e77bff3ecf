//! The one place that waits: looks at a check until it is ready, has failed,
//! or its deadline has passed.

use std::time::Duration;

use events::{Because, Cause, CheckKind, Failure, PlannedCheck, ShownBy, Verdict, What};
use tokio::time::Instant;

use crate::confirmation::Confirmation;
use crate::unit_run::{UnitEnd, UnitRun};
use crate::{ActError, Work, codes};

/// A look that takes longer than this is a look that failed. Looks only read,
/// so that one can be given up at any moment. Never scaled: the other side's
/// patience does not grow with ours.
const LONGEST_LOOK: Duration = Duration::from_secs(30);

/// How a wait stands.
struct Wait<'a> {
    check: &'a PlannedCheck,
    since: Instant,
    deadline: Instant,
    ready_since: Option<Instant>,
    looks: u64,
    last: Option<Verdict>,
    confirmation: Confirmation,
}

impl<W: Work> UnitRun<W> {
    /// Waits for a check, and returns what was seen.
    pub(crate) async fn wait_for(&mut self, check: &PlannedCheck) -> Result<String, UnitEnd> {
        let mut wait = Wait::new(check, self.confirmation);
        loop {
            let verdict = self.judge(&mut wait).await?;
            self.note(&mut wait, &verdict)?;
            match verdict {
                Verdict::Ready { evidence } => return Ok(evidence.summary),
                Verdict::Failed { cause } => return Err(UnitEnd::failed(wait.shown(cause))),
                Verdict::Blind { ref error }
                    if !error.class.is_retryable() || wait.is_over(&verdict) =>
                {
                    return Err(UnitEnd::Unknown(Box::new(wait.end(&verdict))));
                }
                Verdict::NotYet { .. } if wait.is_over(&verdict) => {
                    return Err(UnitEnd::failed(wait.end(&verdict)));
                }
                Verdict::NotYet { .. } | Verdict::Blind { .. } => self.pause(&wait).await?,
            }
        }
    }

    /// Looks once, and holds back a Ready that has not lasted long enough.
    async fn judge(&mut self, wait: &mut Wait<'_>) -> Result<Verdict, UnitEnd> {
        wait.looks += 1;
        let verdict = match wait.check.kind {
            CheckKind::Gate => self.look(wait).await?,
            CheckKind::Probe => self.probe(wait).await?,
        };
        Ok(wait.once_stable(self.diagnosed(verdict)))
    }

    /// Says whether what was named goes away by waiting, where the cause does not.
    fn diagnosed(&self, mut verdict: Verdict) -> Verdict {
        if let Some(cause) = verdict.cause_mut() {
            cause.heals.get_or_insert(self.work.heals(cause.code));
        }
        verdict
    }

    async fn look(&self, wait: &Wait<'_>) -> Result<Verdict, UnitEnd> {
        let look = self.work.look(&self.unit, &wait.check.name, &self.hands.eyes);
        // A look only reads, and may be dropped.
        let looked = tokio::select! {
            biased;
            () = self.hands.cancel.asked() => return Err(UnitEnd::Stopped),
            looked = tokio::time::timeout(LONGEST_LOOK, look) => looked,
        };
        let late = || Failure::transient(format!("no answer within {} s", LONGEST_LOOK.as_secs()));
        Ok(looked.unwrap_or_else(|_| Verdict::blind(late())))
    }

    /// A probe writes, so it is never given up half-way.
    async fn probe(&self, wait: &Wait<'_>) -> Result<Verdict, UnitEnd> {
        match self.work.probe(&self.unit, &wait.check.name, &self.hands).await {
            Ok(verdict) => Ok(verdict),
            Err(ActError::Failed(error)) => Ok(Verdict::Blind { error }),
            Err(ActError::NotYet { failure, in_the_end }) => {
                Ok(Verdict::not_yet(Because::new(failure.to_string()).in_the_end(*in_the_end)))
            }
            Err(ActError::Hopeless(cause)) => Ok(Verdict::Failed { cause: *cause }),
            Err(ActError::Stopped) => Err(UnitEnd::Stopped),
            Err(ActError::Journal(error)) => Err(UnitEnd::Journal(error)),
        }
    }

    /// The journal holds changes of a verdict, not looks.
    fn note(&self, wait: &mut Wait<'_>, verdict: &Verdict) -> Result<(), UnitEnd> {
        if wait.last.as_ref() == Some(verdict) {
            return Ok(());
        }
        wait.last = Some(verdict.clone());
        let (unit, check) = (self.unit.clone(), wait.check.name.clone());
        self.record(What::Checked { unit, check, verdict: verdict.clone() })
    }

    async fn pause(&self, wait: &Wait<'_>) -> Result<(), UnitEnd> {
        let poll = wait.poll();
        // A tenth of jitter keeps hundreds of nodes from looking in step.
        let pause = poll + self.chance.up_to(poll / 10);
        let pause = pause.min(wait.end_of_patience().saturating_duration_since(Instant::now()));
        // Only waits are dropped here, no look and no call.
        let clock = self.hands.eyes.clock();
        tokio::select! {
            biased;
            () = self.hands.cancel.asked() => Err(UnitEnd::Stopped),
            () = clock.sleep(pause) => Ok(()),
            () = self.hands.eyes.nudge.notified() => Ok(()),
        }
    }
}

// === impl Wait ===

impl<'a> Wait<'a> {
    fn new(check: &'a PlannedCheck, confirmation: Confirmation) -> Self {
        let since = Instant::now();
        let deadline = since + Duration::from_millis(check.deadline_ms);
        Self { check, since, deadline, ready_since: None, looks: 0, last: None, confirmation }
    }

    /// Waiting ends with the deadline, and earlier where it cannot help.
    fn is_over(&mut self, verdict: &Verdict) -> bool {
        let sure_after = match verdict {
            Verdict::NotYet { because } => because.sure_after_ms.map(Duration::from_millis),
            _ => None,
        };
        let is_sure = self.confirmation.take(verdict.cause(), sure_after);
        is_sure || Instant::now() >= self.end_of_patience()
    }

    /// What is ready in time may take its time to prove that it stays so.
    fn end_of_patience(&self) -> Instant {
        let window = Duration::from_millis(self.check.stable_ms);
        self.ready_since.map_or(self.deadline, |since| self.deadline.max(since + window))
    }

    fn poll(&self) -> Duration {
        let poll = Duration::from_millis(self.check.poll_ms);
        let asked_for = match &self.last {
            Some(Verdict::Blind { error }) => error.class.pause().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        // A probe writes: it comes back less and less often.
        let tries = match self.check.kind {
            CheckKind::Gate => 1,
            CheckKind::Probe => u32::try_from(self.looks).unwrap_or(u32::MAX).clamp(1, 16),
        };
        (poll * tries).max(asked_for)
    }

    fn once_stable(&mut self, verdict: Verdict) -> Verdict {
        if !matches!(verdict, Verdict::Ready { .. }) {
            self.ready_since = None;
            return verdict;
        }
        let since = *self.ready_since.get_or_insert_with(Instant::now);
        let window = Duration::from_millis(self.check.stable_ms);
        if since.elapsed() >= window {
            return verdict;
        }
        let because = Because::new(format!("ready, and must stay so for {} s", window.as_secs()));
        Verdict::NotYet { because: because.caused_by(verdict.to_string()) }
    }

    /// The cause of a wait that ends without success.
    fn end(&self, verdict: &Verdict) -> Cause {
        let cause = match verdict {
            Verdict::NotYet { because: Because { in_the_end: Some(cause), .. } } => {
                Cause::clone(cause)
            }
            Verdict::NotYet { because } => Cause::new(codes::NOT_READY_IN_TIME, &because.what)
                .because(because.chain.iter().cloned()),
            Verdict::Blind { error } => Cause::new(codes::COULD_NOT_LOOK, &error.message)
                .because(error.sources.iter().cloned()),
            Verdict::Failed { cause } => cause.clone(),
            Verdict::Ready { evidence } => {
                Cause::new(codes::NOT_READY_IN_TIME, evidence.summary.clone())
            }
        };
        self.shown(cause)
    }

    fn shown(&self, mut cause: Cause) -> Cause {
        let waited = self.since.elapsed().as_millis();
        let last_answer = match &self.last {
            Some(Verdict::Blind { error }) => Some(error.to_string()),
            _ => None,
        };
        cause.shown_by = Some(ShownBy {
            check: self.check.name.clone(),
            looks: self.looks,
            waited_ms: u64::try_from(waited).unwrap_or(u64::MAX),
            last_answer,
        });
        cause
    }
}
