//! A workload with a number of equal pods.

use events::Failure;
use serde_json::{Value, json};

use super::field::{is_observed, name, number, text};
use super::look::kinds;
use super::pod::{last_event, trouble};
use super::{Finding, Inquiry, Look, Need, Seen, pods_of};
use crate::codes;

/// A `Deployment` of which all pods must be available in their newest form.
pub(crate) struct Replicated<'a> {
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
    /// The labels of its pods.
    pub(crate) labels: &'a str,
}

impl Replicated<'_> {
    /// What must be seen.
    pub(crate) fn needs(&self) -> Vec<Need> {
        vec![
            self.deployment().decides(),
            pods_of(self.namespace, self.labels).explains(),
            Look::all_in(kinds::EVENT, self.namespace).explains(),
        ]
    }

    /// Judges the numbers; the pods say why they are not as they must be.
    pub(crate) fn judge(&self, seen: &Seen, inquiry: &mut Inquiry) -> Result<(), Failure> {
        let Some(deployment) = seen.get(&self.deployment())? else {
            let Self { namespace, name, .. } = self;
            let message = format!("Deployment {namespace}/{name} does not exist");
            inquiry.found(Finding::new(codes::WORKLOAD_MISSING, message));
            return Ok(());
        };
        inquiry.fact(format!("deployment {}", self.name), counts(deployment));
        if let Some(lacking) = lacking(deployment) {
            inquiry.found(self.explained(&lacking, seen));
        }
        Ok(())
    }

    fn deployment(&self) -> Look {
        Look::one_in(kinds::DEPLOYMENT, self.namespace, self.name)
    }

    fn explained(&self, lacking: &str, seen: &Seen) -> Finding {
        let Self { namespace, name: own, labels } = self;
        let events = seen.hints(&Look::all_in(kinds::EVENT, namespace));
        let pods = seen.hints(&pods_of(namespace, labels));
        let broken = pods
            .iter()
            .filter_map(|pod| Some((name(pod), trouble(pod, events, seen.time())?)))
            .min_by_key(|(_, trouble)| trouble.code.is_none());
        let message = format!("Deployment {namespace}/{own}: {lacking}");
        match broken {
            Some((pod, trouble)) => {
                Finding::new(trouble.code.unwrap_or(codes::WORKLOAD_BEHIND), message)
                    .because([format!("pod {pod}: {}", trouble.state)])
                    .because(trouble.because)
                    .hope(trouble.hope)
                    .stays(trouble.stays)
                    .next(format!("kubectl -n {namespace} describe pod {pod}"), "shows its state")
                    .next(format!("kubectl -n {namespace} logs {pod}"), "shows what it says")
            }
            None => Finding::new(codes::WORKLOAD_BEHIND, message)
                .because(last_event(own, events))
                .next(format!("kubectl -n {namespace} describe deployment {own}"), "tells more"),
        }
    }
}

/// What is missing, if anything is.
fn lacking(deployment: &Value) -> Option<String> {
    let wanted = number(deployment, "/spec/replicas").unwrap_or(1);
    if wanted == 0 {
        return Some("it is scaled to zero".to_owned());
    }
    if !is_observed(deployment) {
        return Some("its controller has not seen its newest form".to_owned());
    }
    let count = |field: &str| number(deployment, &format!("/status/{field}")).unwrap_or_default();
    let short = [
        ("of its newest form", "updatedReplicas"),
        ("ready", "readyReplicas"),
        ("available", "availableReplicas"),
    ]
    .into_iter()
    .find(|(_, field)| count(field) < wanted)
    .map(|(word, field)| format!("{} of {wanted} pods {word}", count(field)));
    // Pods of an older form that still run may still answer.
    let old = count("replicas") - count("updatedReplicas");
    short.or_else(|| (old > 0).then(|| format!("{old} pods of an older form still run")))
}

fn counts(deployment: &Value) -> Value {
    let status = &deployment["status"];
    json!({
        "image": text(deployment, "/spec/template/spec/containers/0/image"),
        "generation": deployment["metadata"]["generation"],
        "observedGeneration": status["observedGeneration"],
        "replicas": status["replicas"],
        "updated": status["updatedReplicas"],
        "ready": status["readyReplicas"],
        "available": status["availableReplicas"],
    })
}
