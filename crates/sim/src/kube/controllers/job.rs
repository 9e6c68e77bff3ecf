//! Jobs run pods until enough of them have succeeded.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pods::{end, is_active, is_ready, make, owned, report};
use super::{About, JOBS, PODS, record};
use crate::kube::Kube;
use crate::kube::api::set_condition;
use crate::kube::object::{has_condition, is_terminating};

const SOURCE: &str = "job-controller";

/// Brings the pods of all jobs in line.
pub(super) fn pass(kube: &Kube) {
    for job in kube.all(&JOBS, "") {
        let over = ["Complete", "Failed"].iter().any(|kind| has_condition(&job, kind, "True"));
        if !is_terminating(&job) && !over {
            run(kube, &job);
        }
    }
}

fn run(kube: &Kube, job: &Value) {
    let pods = owned(kube, &PODS, job);
    let count = |phase: &str| pods.iter().filter(|pod| pod["status"]["phase"] == phase).count();
    let (succeeded, failed) = (count("Succeeded"), count("Failed"));
    let number =
        |field: &str| usize::try_from(job["spec"][field].as_u64().unwrap_or(1)).unwrap_or(1);
    let (wanted, limit) = (number("completions"), number("backoffLimit"));
    let active: Vec<&Arc<Value>> = pods.iter().filter(|pod| is_active(pod)).collect();
    let end_reason = if succeeded >= wanted {
        Some(("Complete", "CompletionsReached", "Reached expected number of succeeded pods"))
    } else if failed > limit {
        Some(("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"))
    } else {
        None
    };
    if end_reason.is_none() && job["spec"]["suspend"] != true {
        let room = number("parallelism").min(wanted - succeeded);
        for _ in active.len()..room {
            make(kube, job, SOURCE, |_| {});
        }
    }
    if end_reason.is_some() {
        for pod in active {
            end(kube, job, pod, SOURCE);
        }
    }
    tell(kube, job, succeeded, failed, end_reason);
}

fn tell(
    kube: &Kube,
    job: &Value,
    succeeded: usize,
    failed: usize,
    end_reason: Option<(&str, &str, &str)>,
) {
    let now = kube.clock().stamp();
    let pods = owned(kube, &PODS, job);
    let active = pods.iter().filter(|pod| is_active(pod)).count();
    let ready = pods.iter().filter(|pod| is_active(pod) && is_ready(pod)).count();
    let mut status = json!({ "ready": ready, "terminating": 0, "uncountedTerminatedPods": {} });
    for (field, count) in [("active", active), ("succeeded", succeeded), ("failed", failed)] {
        if count > 0 {
            status[field] = json!(count);
        }
    }
    let started = job["status"].get("startTime").cloned().unwrap_or_else(|| json!(now));
    status["startTime"] = started;
    if let Some((kind, reason, message)) = end_reason {
        let conditions = match kind {
            "Complete" => ["SuccessCriteriaMet", "Complete"],
            _ => ["FailureTarget", "Failed"],
        };
        let mut whole = json!({ "status": status });
        for kind in conditions {
            set_condition(
                &mut whole,
                json!({ "type": kind, "status": "True", "reason": reason,
                "message": message, "lastProbeTime": now, "lastTransitionTime": now }),
            );
        }
        status = whole["status"].take();
        if kind == "Complete" {
            status["completionTime"] = json!(now);
            let message = "Job completed";
            record(
                kube,
                &About {
                    object: job,
                    kind: "Normal",
                    reason: "Completed",
                    message,
                    source: SOURCE,
                },
            );
        }
    }
    report(kube, &JOBS, job, status);
}
