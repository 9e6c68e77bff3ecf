//! What ails objects, and what only looks like it.

use super::object;
use crate::{Ailment, AilmentKind as Kind};

#[track_caller]
fn check(text: &str, wanted: Option<(Kind, &str)>) {
    let found = Ailment::of(&object(text));
    let found = found.as_ref().map(|ailment| (ailment.kind, ailment.says.as_str()));
    assert_eq!(found, wanted, "\n{text}");
}

fn waiting(reason: &str) -> String {
    format!(
        "v1.Pod\nstatus: {{phase: Pending, containerStatuses: [{{name: app, state: {{waiting: \
         {{reason: {reason}, message: m}}}}}}]}}"
    )
}

#[test]
fn reasons_of_the_kubelet_are_told_apart() {
    let table = [
        ("ImagePullBackOff", Some(Kind::ImagePull)),
        ("ErrImagePull", Some(Kind::ImagePull)),
        ("ErrImageNeverPull", Some(Kind::ImagePull)),
        ("InvalidImageName", Some(Kind::ImagePull)),
        ("RegistryUnavailable", Some(Kind::ImagePull)),
        ("CreateContainerConfigError", Some(Kind::Config)),
        ("CreateContainerError", Some(Kind::Config)),
        ("RunContainerError", Some(Kind::Config)),
        ("CrashLoopBackOff", Some(Kind::CrashLoop)),
        ("ContainerCreating", None),
        ("PodInitializing", None),
    ];
    for (reason, kind) in table {
        let says = format!("container app: {reason}: m");
        check(&waiting(reason), kind.map(|kind| (kind, says.as_str())));
    }
}

#[test]
fn pods() {
    let crash = "v1.Pod\nspec: {restartPolicy: OnFailure}\nstatus: {phase: Running, containerStatuses: \
        [{name: app, state: {waiting: {reason: CrashLoopBackOff}}}]}";
    check(crash, None);
    check(
        "v1.Pod\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', \
         reason: Unschedulable, message: 0/3 nodes}]}",
        Some((Kind::Unschedulable, "Unschedulable: 0/3 nodes")),
    );
    check(
        "v1.Pod\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', \
         reason: SchedulingGated}]}",
        None,
    );
    check("v1.Pod\nstatus: {phase: Failed, message: evicted}", Some((Kind::Finished, "evicted")));
    check("v1.Pod ownerReferences: [{uid: a}]\nstatus: {phase: Failed}", None);
    check("v1.Pod\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", None);
    check("v1.Pod deletionTimestamp: '2026-01-01T00:00:00Z'\nstatus: {phase: Failed}", None);
}

#[test]
fn workloads_and_others() {
    check(
        "apps/v1.Deployment\nstatus: {conditions: [{type: Progressing, status: 'False', \
         reason: ProgressDeadlineExceeded, message: late}]}",
        Some((Kind::DeadlineExceeded, "ProgressDeadlineExceeded: late")),
    );
    check(
        "apps/v1.Deployment\nspec: {paused: true, replicas: 2}\nstatus: {updatedReplicas: 1}",
        Some((Kind::Paused, "its rollout is paused")),
    );
    check("apps/v1.Deployment\nspec: {paused: true}\nstatus: {updatedReplicas: 1}", None);
    for kind in ["apps/v1.Deployment", "apps/v1.ReplicaSet"] {
        check(
            &format!(
                "{kind}\nstatus: {{conditions: [{{type: ReplicaFailure, status: 'True', reason: \
                 FailedCreate, message: exceeded quota}}]}}"
            ),
            Some((Kind::NotAdmitted, "FailedCreate: exceeded quota")),
        );
    }
    let job =
        "batch/v1.Job\nstatus: {conditions: [{type: Failed, status: 'True', message: too often}]}";
    check(job, Some((Kind::Finished, "too often")));
    assert!(Ailment::of(&object(job)).unwrap().is_final());
    check(
        "v1.PersistentVolumeClaim\nstatus: {phase: Lost}",
        Some((Kind::Failed, "its volume is gone")),
    );
    check(
        "example.com/v1.Thing\nstatus: {conditions: [{type: Stalled, status: 'True', message: s}]}",
        Some((Kind::Stalled, "s")),
    );
    // What is said of an older generation does not count.
    check(
        "batch/v1.Job generation: 2\nstatus: {observedGeneration: 1, conditions: [{type: Failed, \
         status: 'True', message: no}]}",
        None,
    );
}

#[test]
fn an_event_tells_that_pods_are_not_admitted() {
    let event = |kind: &str, reason: &str| {
        object(&format!("v1.Event\ntype: {kind}\nreason: {reason}\nmessage: exceeded quota"))
    };
    let found = Ailment::of_event(&event("Warning", "FailedCreate")).unwrap();
    assert_eq!((found.kind, found.says.as_str()), (Kind::NotAdmitted, "exceeded quota"));
    assert_eq!(Ailment::of_event(&event("Normal", "FailedCreate")), None);
    assert_eq!(Ailment::of_event(&event("Warning", "BackOff")), None);
}
