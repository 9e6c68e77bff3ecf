//! What `apply` tells machines.

use objects::set::{End, Outcome, Pruned, Report, Step, StepError};
use objects::{Goal, Trouble};
use serde_json::{Value, json};

use crate::advice;
use crate::envelope::identity;
use crate::waiting::{self, Ended};

/// Returns what is told of each object.
pub(super) fn objects(report: &Report) -> Vec<Value> {
    report.steps.iter().map(object).collect()
}

/// Returns what is told besides.
pub(super) fn more(report: &Report, dry_run: bool, waited: Option<&Ended>) -> Value {
    let pruned: Vec<Value> = report.pruned.iter().map(ended).collect();
    let waited = waited.map(|ended| {
        let mut waited = waiting::more(&Goal::Ready, ended);
        waited["objects"] = waiting::objects(ended).into();
        waited
    });
    json!({ "dryRun": dry_run, "whole": report.is_whole(), "pruned": pruned,
        "notPruned": report.not_pruned, "waited": waited })
}

fn object(step: &Step) -> Value {
    let mut record = identity(&step.id);
    match &step.outcome {
        Outcome::There(there) => {
            record["result"] = there.change.word().into();
            record["uid"] = there.version.as_ref().map(|version| version.uid.clone()).into();
            let version = there.version.as_ref().map(|version| version.resource_version.clone());
            record["resourceVersion"] = version.into();
            record["warnings"] = there.warnings.clone().into();
        }
        Outcome::Failed(error) => {
            record["result"] = "failed".into();
            record["because"] = advice::of_step(error).into();
            record["conflicts"] = conflicts(error);
        }
        Outcome::Left { because } => {
            record["result"] = "left".into();
            record["because"] = because.clone().into();
        }
        Outcome::NoTurn => record["result"] = "not applied".into(),
    }
    record
}

pub(crate) fn conflicts(error: &StepError) -> Value {
    let StepError::Api(error) = error else { return json!([]) };
    let Trouble::Ownership(fields) = error.trouble() else { return json!([]) };
    let fields = fields.iter();
    fields.map(|field| json!({ "manager": field.manager, "path": field.path })).collect()
}

pub(crate) fn ended(pruned: &Pruned) -> Value {
    let mut record = identity(&pruned.id);
    let (result, because) = match &pruned.end {
        End::Deleted => ("pruned", None),
        End::Detached { because } => ("detached", Some(because.clone())),
        End::Kept { because } => ("kept", Some(because.clone())),
        End::Stuck { because } => ("stuck", Some(because.clone())),
        End::Failed(error) => ("failed", Some(advice::of_api(error))),
    };
    record["result"] = result.into();
    record["because"] = because.into();
    record
}
