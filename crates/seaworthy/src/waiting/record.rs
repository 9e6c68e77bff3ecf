//! What a wait tells machines.

use objects::{Goal, Met, Miss, ObjectId, Unmet};
use serde_json::{Value, json};

use super::{Ended, Interrupted};
use crate::board::span;

/// Returns how the wait for `goal` has ended.
pub(crate) fn record(goal: &Goal, ended: &Ended) -> Value {
    match ended {
        Ended::Met(met) => of_met(goal, met),
        Ended::Unmet(unmet) => of_unmet(unmet),
        Ended::Interrupted(interrupted) => of_interrupted(interrupted),
    }
}

fn of_interrupted(Interrupted { goal, open, .. }: &Interrupted) -> Value {
    let open = open.iter().map(|(name, missing)| json!({ "object": name, "because": missing }));
    json!({ "goal": goal, "met": false, "interrupted": true, "awaited": open.collect::<Vec<_>>() })
}

fn of_met(goal: &Goal, met: &Met) -> Value {
    let objects: Vec<Value> = met.objects.iter().map(|id| object(Some(id), "met")).collect();
    json!({ "goal": goal.to_string(), "met": true, "afterMs": millis(met.after),
        "failedLooks": met.errors, "objects": objects })
}

fn of_unmet(unmet: &Unmet) -> Value {
    let missed = unmet.missed.iter().map(|missed| {
        let why = missed.why.as_ref().map_or("waiting", |why| match why {
            Miss::TimedOut => "timed-out",
            Miss::NotThere => "not-there",
            Miss::Hopeless(_) => "hopeless",
            Miss::Untold => "untold",
            Miss::Refused(_) => "refused",
        });
        let mut object = object(missed.id.as_ref(), why);
        object["because"] = missed.because.what.clone().into();
        object["chain"] = missed.because.chain.clone().into();
        object
    });
    let met = unmet.met.iter().map(|id| object(Some(id), "met"));
    json!({ "goal": unmet.goal.to_string(), "met": false, "afterMs": millis(unmet.after),
        "failedLooks": unmet.errors, "objects": missed.chain(met).collect::<Vec<_>>() })
}

fn object(id: Option<&ObjectId>, result: &str) -> Value {
    let Some(id) = id else { return json!({ "result": result }) };
    json!({ "apiVersion": id.kind.api_version(), "kind": id.kind.kind, "namespace": id.namespace,
        "name": id.name, "result": result })
}

fn millis(duration: std::time::Duration) -> u64 {
    span(duration).0
}
