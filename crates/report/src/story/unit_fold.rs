//! What an event changes in its unit.

use events::{
    Call, CallOutcome, CheckName, Digest, Event, Made, RunId, UnitOutcome, Verdict, What,
};

use super::{Attempt, CallMade, Finding, Moment, Probing, Standing, UnitStory, retelling};
use crate::text::line;

// === impl UnitStory ===

impl UnitStory {
    pub(super) fn apply(&mut self, event: &Event, what: &What, because: String) {
        let (moment, attempt) = (Moment::of(event), event.attempt);
        match what {
            What::StageStarted { .. } => {
                self.standing = Standing::Running;
                self.started = Some(moment);
            }
            What::AttemptStarted { after, .. } => self.attempts.push(Attempt {
                number: attempt,
                moment,
                after: after.as_ref().map(retelling::failure),
            }),
            What::Intent { call, .. } => self.calls.push(CallMade::new(moment, attempt, call)),
            What::Checked { check, verdict, .. } => self.find(check, moment, attempt, verdict),
            What::Probe { check, inputs, reused, .. } => {
                self.probe(check, moment, *inputs, *reused);
            }
            What::Skipped { check: Some(check), reason, .. } => self.skip(check, reason),
            What::Skipped { check: None, required, reason, .. } => {
                let (required, reason) = (*required, line(reason));
                self.close(moment, Standing::Skipped { required, reason });
            }
            What::WillNotRun { .. } => self.close(moment, Standing::NotRun { because }),
            What::StageDone { outcome, .. } => self.close(moment, Standing::of(outcome)),
            _ => {}
        }
    }

    fn find(&mut self, check: &CheckName, moment: Moment, attempt: u32, verdict: &Verdict) {
        if let Some(check) = self.check_mut(check) {
            check.findings.push(Finding { moment, attempt, verdict: retelling::verdict(verdict) });
        }
    }

    fn probe(&mut self, check: &CheckName, moment: Moment, inputs: Digest, reused: Option<RunId>) {
        if let Some(check) = self.check_mut(check) {
            check.probing = Some(Probing { moment, inputs, reused });
        }
    }

    fn skip(&mut self, check: &CheckName, reason: &str) {
        if let Some(check) = self.check_mut(check) {
            check.skipped = Some(line(reason));
        }
    }

    fn close(&mut self, moment: Moment, standing: Standing) {
        if let Standing::Failed { .. } | Standing::Unknown { .. } = standing {
            for check in &mut self.checks {
                check.given_up = Some(moment);
            }
        }
        self.standing = standing;
        self.ended = Some(moment);
    }

    /// A dead process leaves its units where they were.
    pub(super) fn cut_off(&mut self, moment: Moment) {
        match self.standing {
            Standing::Running => self.close(moment, Standing::Stopped),
            Standing::Planned => {
                let because = "the process died".to_owned();
                self.close(moment, Standing::NotRun { because });
            }
            _ => {}
        }
    }
}

// === impl Standing ===

impl Standing {
    fn of(outcome: &UnitOutcome) -> Self {
        match outcome {
            UnitOutcome::Passed { summary } => Self::Passed { summary: line(summary) },
            UnitOutcome::Failed { cause } => Self::Failed { cause: retelling::cause(cause) },
            UnitOutcome::Unknown { cause } => Self::Unknown { cause: retelling::cause(cause) },
            UnitOutcome::Stopped => Self::Stopped,
        }
    }
}

// === impl CallMade ===

impl CallMade {
    pub(super) fn answer(&mut self, moment: Moment, outcome: &CallOutcome) {
        self.result = Some((moment, retold(outcome)));
    }

    pub(super) fn settle(&mut self, found: Option<&Made>) {
        self.settled = Some(found.map_or_else(|| "it never arrived".to_owned(), made));
    }

    fn new(moment: Moment, attempt: u32, call: &Call) -> Self {
        Self {
            moment,
            attempt,
            call: Call { kind: line(&call.kind), name: line(&call.name), ..call.clone() },
            result: None,
            settled: None,
        }
    }
}

fn retold(outcome: &CallOutcome) -> CallOutcome {
    match outcome {
        // What was read back stays in the journal: it is for resuming, not for reading.
        CallOutcome::Done { made } => CallOutcome::Done {
            made: Made {
                ids: made.ids.iter().map(|(what, id)| (line(what), line(id))).collect(),
                actions: made.actions.iter().map(|action| line(action)).collect(),
                read_back: None,
            },
        },
        CallOutcome::Refused { error } => CallOutcome::Refused { error: retelling::failure(error) },
        CallOutcome::InDoubt { error } => CallOutcome::InDoubt { error: retelling::failure(error) },
    }
}

fn made(made: &Made) -> String {
    let ids: Vec<_> = made.ids.iter().map(|(what, id)| format!("{what} {id}")).collect();
    line(&format!("it was done: {}", ids.join(", ")))
}
