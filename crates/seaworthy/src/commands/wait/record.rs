//! What `wait` tells machines.

use objects::{Goal, Met, Miss, ObjectId, Unmet};
use serde_json::{Value, json};

use crate::board::span;

pub(super) fn met(goal: &Goal, met: &Met) -> Value {
    let objects: Vec<Value> = met.objects.iter().map(|id| record(Some(id), "met")).collect();
    json!({ "goal": goal.to_string(), "met": true, "afterMs": millis(met.after),
        "failedLooks": met.errors, "objects": objects })
}

pub(super) fn unmet(unmet: &Unmet) -> Value {
    let missed = unmet.missed.iter().map(|missed| {
        let why = missed.why.as_ref().map_or("waiting", |why| match why {
            Miss::TimedOut => "timed-out",
            Miss::NotThere => "not-there",
            Miss::Hopeless(_) => "hopeless",
            Miss::Refused(_) => "refused",
        });
        let mut record = record(missed.id.as_ref(), why);
        record["because"] = missed.because.what.clone().into();
        record["chain"] = missed.because.chain.clone().into();
        record
    });
    let met = unmet.met.iter().map(|id| record(Some(id), "met"));
    json!({ "goal": unmet.goal.to_string(), "met": false, "afterMs": millis(unmet.after),
        "failedLooks": unmet.errors, "objects": missed.chain(met).collect::<Vec<_>>() })
}

fn record(id: Option<&ObjectId>, result: &str) -> Value {
    let Some(id) = id else { return json!({ "result": result }) };
    json!({ "apiVersion": id.kind.api_version(), "kind": id.kind.kind, "namespace": id.namespace,
        "name": id.name, "result": result })
}

fn millis(duration: std::time::Duration) -> u64 {
    span(duration).0
}
