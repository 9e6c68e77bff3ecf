//! Why a pod does not work.

use std::time::Duration;

use events::Code;
use jiff::Timestamp;
use serde_json::Value;

use super::field::{condition, has_condition, items, name, text};
use super::finding::Hope;
use crate::codes;

/// What is the matter with a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The state that people know from kubectl, such as `ImagePullBackOff`.
    pub(crate) state: String,
    /// What lies behind it.
    pub(crate) because: Vec<String>,
    /// What it is called, where it has a name of its own.
    pub(crate) code: Option<Code>,
    /// Whether waiting can help.
    pub(crate) hope: Hope,
    /// How long it may show before it is sure to stay until somebody changes
    /// something; none where it may pass.
    pub(crate) stays: Option<Duration>,
}

/// A program that ends because something that it needs is not there yet gets by
/// once that is.
const CRASH_GRACE: Duration = Duration::from_mins(2);

/// Container runtimes restart, and Secrets may be made after the pod.
const CREATE_GRACE: Duration = Duration::from_mins(1);

/// A registry may have got the image a moment ago.
const REFUSAL_GRACE: Duration = Duration::from_secs(30);

/// Registries have bad minutes; an image that has not come by then will not.
const PULL_GRACE: Duration = Duration::from_mins(3);

/// Returns what is the matter with a pod, or nothing if it runs, is ready and
/// is going to stay.
pub(crate) fn trouble(pod: &Value, events: &[Value], at: Timestamp) -> Option<Trouble> {
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        return Some(Trouble::new("being deleted"));
    }
    if is_ready(pod) {
        return None;
    }
    let trouble = unscheduled(pod)
        .or_else(|| statuses(pod).find_map(|status| waiting(status, age(pod, at))))
        .or_else(|| statuses(pod).find_map(exited))
        .unwrap_or_else(|| starting(pod, events));
    Some(trouble.told_by(last_event(name(pod), events)))
}

/// Returns whether a pod runs with all its containers ready.
pub(crate) fn is_ready(pod: &Value) -> bool {
    text(pod, "/status/phase") == Some("Running") && has_condition(pod, "Ready", "True")
}

/// Returns the newest event about an object, a warning if there is one.
pub(crate) fn last_event(object: &str, events: &[Value]) -> Option<String> {
    let about = |event: &&Value| text(event, "/involvedObject/name") == Some(object);
    let event = events
        .iter()
        .filter(about)
        .max_by_key(|event| (event["type"] == "Warning", time_of(event)))?;
    let reason = text(event, "/reason").unwrap_or("event");
    Some(format!("{reason}: {}", text(event, "/message").unwrap_or_default().trim()))
}

fn time_of(event: &Value) -> Option<Timestamp> {
    ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"]
        .iter()
        .find_map(|pointer| text(event, pointer)?.parse().ok())
}

fn unscheduled(pod: &Value) -> Option<Trouble> {
    let scheduled = condition(pod, "PodScheduled")?;
    let trouble = Trouble::new("Pending").named(codes::POD_UNSCHEDULABLE);
    (scheduled["status"] == "False").then(|| trouble.told_by(message(scheduled)))
}

/// The states of all containers, in the order in which they start.
fn statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    let inits = items(pod, "/status/initContainerStatuses");
    inits.iter().chain(items(pod, "/status/containerStatuses"))
}

fn waiting(status: &Value, age: Duration) -> Option<Trouble> {
    let waiting = status.pointer("/state/waiting")?;
    let reason = text(waiting, "/reason")?;
    let trouble = Trouble::new(reason);
    let trouble = match reason {
        // Said of every container that is not started yet: no reason at all.
        "ContainerCreating" | "PodInitializing" => return None,
        "ImagePullBackOff" | "ErrImagePull" => {
            let hope = if age > PULL_GRACE { Hope::Gone } else { Hope::Left };
            let refused = message(waiting).is_some_and(|said| is_refusal(&said));
            let stays = refused.then_some(REFUSAL_GRACE);
            trouble.named(codes::IMAGE_NOT_PULLED).hope(hope).stays(stays)
        }
        "InvalidImageName" | "ErrImageNeverPull" => {
            trouble.named(codes::IMAGE_NOT_PULLED).hope(Hope::Gone)
        }
        "CrashLoopBackOff" => {
            let trouble = trouble.named(codes::POD_CRASHES).stays(Some(CRASH_GRACE));
            trouble.told_by(exit(status))
        }
        "CreateContainerConfigError" => {
            trouble.named(codes::POD_MISCONFIGURED).stays(Some(CREATE_GRACE))
        }
        // The runtime could not make it: nothing that it refers to is missing.
        "CreateContainerError" | "RunContainerError" => trouble.stays(Some(CREATE_GRACE)),
        _ => trouble,
    };
    Some(trouble.told_by(message(waiting)))
}

/// Returns whether a registry has answered, and will answer the same again: no such
/// image, or no access to it.
pub fn is_refusal(said: &str) -> bool {
    let said = said.to_lowercase();
    let answers = [
        "401 unauthorized",
        "403 forbidden",
        "404 not found",
        "manifest unknown",
        "name unknown",
        "not found",
        "access denied",
        "authorization failed",
        "insufficient_scope",
        "no basic auth credentials",
    ];
    // What is not found may be the registry's name.
    let is_name = said.contains("no such host") || said.contains("lookup ");
    !is_name && answers.iter().any(|answer| said.contains(answer))
}

fn exited(status: &Value) -> Option<Trouble> {
    let code = status.pointer("/state/terminated/exitCode")?.as_i64()?;
    let trouble = Trouble::new(format!("container {} exited with code {code}", text_name(status)));
    (code != 0).then(|| trouble.named(codes::POD_CRASHES).stays(Some(CRASH_GRACE)))
}

/// How the last life of a container ended.
fn exit(status: &Value) -> Option<String> {
    let last = status.pointer("/lastState/terminated")?;
    let code = last["exitCode"].as_i64()?;
    let reason = text(last, "/reason").unwrap_or("no reason given");
    let restarts = status["restartCount"].as_i64().unwrap_or_default();
    let container = text_name(status);
    Some(format!("container {container} exited with code {code} ({reason}), {restarts} restarts"))
}

fn starting(pod: &Value, events: &[Value]) -> Trouble {
    let phase = text(pod, "/status/phase").unwrap_or("no status yet");
    let is_mount = |event: &&Value| {
        text(event, "/involvedObject/name") == Some(name(pod))
            && matches!(text(event, "/reason"), Some("FailedMount" | "FailedAttachVolume"))
    };
    match (events.iter().any(|event| is_mount(&event)), phase) {
        (true, _) => Trouble::new(phase).named(codes::VOLUME_NOT_MOUNTED),
        (false, "Running") => Trouble::new("Running, not ready"),
        (false, _) => Trouble::new(phase),
    }
}

fn age(pod: &Value, at: Timestamp) -> Duration {
    let since = text(pod, "/status/startTime").or_else(|| text(pod, "/metadata/creationTimestamp"));
    let since = since.and_then(|text| text.parse::<Timestamp>().ok());
    since.map_or(Duration::ZERO, |since| {
        Duration::try_from(at.duration_since(since)).unwrap_or_default()
    })
}

fn message(condition: &Value) -> Option<String> {
    text(condition, "/message").filter(|text| !text.is_empty()).map(str::to_owned)
}

fn text_name(status: &Value) -> &str {
    text(status, "/name").unwrap_or_default()
}

impl Trouble {
    fn new(state: impl Into<String>) -> Self {
        let because = Vec::new();
        Self { state: state.into(), because, code: None, hope: Hope::Left, stays: None }
    }

    fn named(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    fn hope(mut self, hope: Hope) -> Self {
        self.hope = hope;
        self
    }

    fn stays(mut self, sure_after: Option<Duration>) -> Self {
        self.stays = sure_after;
        self
    }

    fn told_by(mut self, line: Option<String>) -> Self {
        self.because.extend(line);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waiting_with(reason: &str, message: &str) -> Trouble {
        let status = json!({ "name": "a", "state": { "waiting": { "reason": reason, "message": message } } });
        waiting(&status, Duration::ZERO).expect("it waits")
    }

    #[test]
    fn is_refusal_tells_a_no_of_a_registry_from_no_answer() {
        for said in [
            "unexpected status from HEAD request to https://ghcr.io/v2/a: 401 Unauthorized",
            "pull access denied, repository does not exist or may require authorization",
            "manifest unknown: manifest unknown",
            "ghcr.io/a/b:1: not found",
            "403 Forbidden",
        ] {
            assert!(is_refusal(said), "{said}");
        }
        for said in [
            "dial tcp 10.0.0.1:443: connect: connection refused",
            "dial tcp: lookup registry.k8s.io: no such host",
            "unexpected status: 503 Service Unavailable",
            "i/o timeout",
        ] {
            assert!(!is_refusal(said), "{said}");
        }
    }

    #[test]
    fn waiting_container_is_named_by_its_own_reason() {
        let config = waiting_with("CreateContainerConfigError", "secret \"a\" not found");
        assert_eq!(config.code, Some(codes::POD_MISCONFIGURED));
        let create = waiting_with("CreateContainerError", "failed to start shim");
        assert_eq!(create.code, None, "nothing that it refers to is missing");
        assert!(create.stays.is_some());
        assert!(waiting_with("ImagePullBackOff", "403 Forbidden").stays.is_some());
        assert!(waiting_with("ImagePullBackOff", "i/o timeout").stays.is_none());
    }
}
