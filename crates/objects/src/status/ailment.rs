//! Causes that do not heal by themselves.

use super::{Facts, Status, pods};
use crate::Object;

/// Something that keeps an object from being ready until somebody changes
/// something: an image, a setting, a quota, a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ailment {
    /// Which kind of cause.
    pub kind: AilmentKind,
    /// What the object says of it.
    pub says: String,
}

/// The kinds of causes that do not heal by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AilmentKind {
    /// An image cannot be pulled.
    ImagePull,
    /// A container cannot be made from its settings.
    Config,
    /// A container ends again and again.
    CrashLoop,
    /// Pods may not be made: a quota, a policy, a missing account.
    NotAdmitted,
    /// No node takes the pod.
    Unschedulable,
    /// The rollout took longer than its own deadline.
    DeadlineExceeded,
    /// The rollout is paused.
    Paused,
    /// A Job has failed, or a pod that nobody replaces.
    Finished,
    /// A controller says that it does not go on.
    Stalled,
    /// The object cannot become what it says for another reason.
    Failed,
}

/// Kinds whose own words tell what ails them.
type Rule = fn(Facts<'_>) -> Option<Ailment>;

const RULES: &[(&str, &str, Rule)] = &[
    ("", "Pod", pods::ailment),
    ("apps", "Deployment", deployment),
    ("apps", "ReplicaSet", not_admitted),
    ("", "ReplicationController", not_admitted),
    ("batch", "Job", job),
];

impl Ailment {
    /// Returns what ails an object, as far as it says so itself.
    pub fn of(object: &Object) -> Option<Self> {
        let facts = Facts(object);
        if facts.text("/metadata/deletionTimestamp").is_some() || facts.lag().is_some() {
            return None;
        }
        if let Some(stalled) = facts.condition("Stalled").filter(|stalled| stalled.is("True")) {
            return Some(Self { kind: AilmentKind::Stalled, says: stalled.says() });
        }
        let kind = object.kind();
        match RULES.iter().find(|(group, name, _)| kind.is(group, name)) {
            Some((_, _, rule)) => rule(facts),
            None => Self::of_status(object),
        }
    }

    fn of_status(object: &Object) -> Option<Self> {
        match Status::of(object) {
            Status::Failed { because } => Some(Self { kind: AilmentKind::Failed, says: because }),
            _ => None,
        }
    }

    /// Returns what an event tells about the object that it is about: that its
    /// controller may not make pods for it.
    pub fn of_event(event: &Object) -> Option<Self> {
        let refused = event.text("/reason") == Some("FailedCreate");
        let warning = event.text("/type") == Some("Warning");
        let says = event.text("/message").unwrap_or_default().trim().to_owned();
        (refused && warning).then_some(Self { kind: AilmentKind::NotAdmitted, says })
    }

    /// Returns whether whoever decides has given up for good: then there is
    /// nothing left to hope for, not even for a while.
    pub fn is_final(&self) -> bool {
        self.kind == AilmentKind::Finished
    }
}

fn deployment(facts: Facts<'_>) -> Option<Ailment> {
    let progressing = facts.condition("Progressing");
    if let Some(late) = progressing.filter(|one| one.reason() == "ProgressDeadlineExceeded") {
        return Some(Ailment { kind: AilmentKind::DeadlineExceeded, says: late.says() });
    }
    let wanted = facts.number("/spec/replicas").unwrap_or(1);
    if facts.is_true("/spec/paused") && facts.count("/status/updatedReplicas") < wanted {
        let says = "its rollout is paused".to_owned();
        return Some(Ailment { kind: AilmentKind::Paused, says });
    }
    not_admitted(facts)
}

fn not_admitted(facts: Facts<'_>) -> Option<Ailment> {
    let failure = facts.condition("ReplicaFailure").filter(|failure| failure.is("True"))?;
    Some(Ailment { kind: AilmentKind::NotAdmitted, says: failure.says() })
}

fn job(facts: Facts<'_>) -> Option<Ailment> {
    let failed = facts.condition("Failed").filter(|failed| failed.is("True"))?;
    Some(Ailment { kind: AilmentKind::Finished, says: failed.says() })
}
