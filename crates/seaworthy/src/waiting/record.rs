//! What a wait tells machines.

use objects::{Goal, Miss, Missed};
use serde_json::{Value, json};

use super::{Awaited, Ended};
use crate::board::span;
use crate::envelope::object;

/// Returns what is told of each object: those that are not there yet first.
pub(crate) fn objects(ended: &Ended) -> Vec<Value> {
    let met = match ended {
        Ended::Met(met) => &met.objects,
        Ended::Unmet(unmet) => &unmet.met,
        Ended::Interrupted(interrupted) => &interrupted.met,
    };
    let others: Vec<Value> = match ended {
        Ended::Met(_) => Vec::new(),
        Ended::Unmet(unmet) => unmet.missed.iter().map(missed).collect(),
        Ended::Interrupted(interrupted) => interrupted.open.iter().map(awaited).collect(),
    };
    others.into_iter().chain(met.iter().map(|id| object(id, "met"))).collect()
}

/// Returns what is told of the wait for `goal` besides.
pub(crate) fn more(goal: &Goal, ended: &Ended) -> Value {
    let (met, after, errors) = match ended {
        Ended::Met(met) => (true, met.after, met.errors),
        Ended::Unmet(unmet) => (false, unmet.after, unmet.errors),
        Ended::Interrupted(interrupted) => (false, interrupted.after, interrupted.errors),
    };
    json!({ "goal": goal.to_string(), "met": met, "waitedMs": span(after).0, "failedLooks": errors })
}

fn awaited(Awaited { id, missing, .. }: &Awaited) -> Value {
    let mut record = id.as_ref().map_or(json!({ "result": "awaited" }), |id| object(id, "awaited"));
    record["because"] = missing.clone().into();
    record
}

fn missed(missed: &Missed) -> Value {
    let why = missed.why.as_ref().map_or("waiting", |why| match why {
        Miss::TimedOut => "timed-out",
        Miss::NotThere => "not-there",
        Miss::Hopeless(_) => "hopeless",
        Miss::Untold => "untold",
        Miss::Refused(_) => "refused",
    });
    let mut record = missed.id.as_ref().map_or(json!({ "result": why }), |id| object(id, why));
    record["because"] = missed.because.what.clone().into();
    record["chain"] = missed.because.chain.clone().into();
    record
}
