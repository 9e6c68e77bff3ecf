//! One object over time, told by tables.

use super::*;
use crate::{AilmentKind, Terms, manifest};

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn wait(goal: &str, stable: u64) -> Wait {
    let terms = Terms {
        timeout: at(100),
        existence: at(20),
        stable: at(stable),
        grace: Some(at(30)),
        ..Terms::default()
    };
    Wait::new(goal.parse().unwrap(), terms)
}

fn thing(uid: &str, ready: &str) -> Object {
    let text = format!(
        "{{apiVersion: example.com/v1, kind: Thing, metadata: {{name: x, uid: {uid}}}, status: \
         {{conditions: [{{type: Ready, status: '{ready}', message: m}}]}}}}"
    );
    manifest::read("test", text.as_bytes()).unwrap().remove(0)
}

fn job(condition: &str) -> Object {
    let text = format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: x, uid: u}}, status: {{conditions: \
         [{{type: {condition}, status: 'True', message: m}}]}}}}"
    );
    manifest::read("test", text.as_bytes()).unwrap().remove(0)
}

/// A workload, of which its pods tell more than it does.
fn set(ready: u8) -> Object {
    let text = format!(
        "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: x, uid: u}}, status: \
         {{replicas: 1, availableReplicas: {ready}, readyReplicas: {ready}}}}}"
    );
    manifest::read("test", text.as_bytes()).unwrap().remove(0)
}

fn pod(status: &str) -> Object {
    let text = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: x, uid: u}}, status: {{{status}}}}}"
    );
    manifest::read("test", text.as_bytes()).unwrap().remove(0)
}

fn waiting(says: &str) -> State {
    State::Waiting(says.to_owned())
}

fn ailment(kind: AilmentKind) -> Ailment {
    Ailment { kind, says: "m".to_owned() }
}

#[test]
fn what_is_met_is_met_at_once() {
    let wait = wait("ready", 0);
    let mut awaited = Awaited::new(at(0));
    assert_eq!(awaited.state(at(0), &wait), waiting("it is not seen yet"));
    awaited.see(at(1), &wait, Some(&thing("u", "False")));
    assert_eq!(awaited.state(at(1), &wait), waiting("m"));
    awaited.see(at(2), &wait, Some(&thing("u", "True")));
    assert_eq!(awaited.state(at(2), &wait), State::Met);
}

#[test]
fn stable_means_without_a_break() {
    let wait = wait("ready", 10);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &wait, Some(&thing("u", "True")));
    assert_eq!(awaited.state(at(10), &wait), State::Holding);
    assert_eq!(awaited.wakes(&wait), at(11));
    awaited.see(at(10), &wait, Some(&thing("u", "False")));
    assert_eq!(awaited.state(at(12), &wait), waiting("m"));
    awaited.see(at(13), &wait, Some(&thing("u", "True")));
    awaited.see(at(15), &wait, Some(&thing("u", "True")));
    assert_eq!(awaited.state(at(22), &wait), State::Holding);
    assert_eq!(awaited.because(at(22), &wait), "`ready` has held for 9s of 10s");
    assert_eq!(awaited.state(at(23), &wait), State::Met);
    // What is not stable in time is late.
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(95), &wait, Some(&thing("u", "True")));
    assert_eq!(awaited.state(at(100), &wait), State::Missed(Miss::TimedOut));
}

#[test]
fn existence_has_a_timeout_of_its_own() {
    let ready = wait("ready", 0);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &ready, None);
    assert_eq!(awaited.state(at(19), &ready), waiting("it is not there"));
    assert_eq!(awaited.wakes(&ready), at(20));
    assert_eq!(awaited.state(at(20), &ready), State::Missed(Miss::NotThere));
    awaited.see(at(19), &ready, Some(&thing("u", "False")));
    assert_eq!((awaited.state(at(50), &ready), awaited.wakes(&ready)), (waiting("m"), at(100)));
    awaited.see(at(60), &ready, None);
    assert_eq!(awaited.state(at(79), &ready), waiting("it was there, and is gone"));
    assert_eq!(awaited.state(at(80), &ready), State::Missed(Miss::NotThere));
    let create = wait("create", 0);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &create, None);
    assert_eq!(awaited.state(at(99), &create), waiting("it is not there"));
    assert_eq!(awaited.state(at(100), &create), State::Missed(Miss::TimedOut));
    awaited.see(at(99), &create, Some(&thing("u", "False")));
    assert_eq!(awaited.state(at(99), &create), State::Met);
}

#[test]
fn deleted_is_absent_or_another_life() {
    let wait = wait("delete", 0);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &wait, Some(&thing("one", "True")));
    assert_eq!(awaited.state(at(50), &wait), waiting("it is there, and nobody has deleted it"));
    let mut replaced = awaited.clone();
    replaced.see(at(2), &wait, Some(&thing("two", "True")));
    assert_eq!(replaced.state(at(2), &wait), State::Met);
    awaited.see(at(2), &wait, None);
    assert_eq!(awaited.state(at(2), &wait), State::Met);
    let unseen = Awaited::new(at(0));
    assert_eq!(unseen.state(at(100), &wait), State::Missed(Miss::TimedOut));
}

#[test]
fn causes_that_do_not_heal_end_it_after_a_grace() {
    let wait = wait("ready", 0);
    let mut awaited = Awaited::new(at(0));
    let unready = set(0);
    let says = "0 of 1 pods are available";
    awaited.see(at(1), &wait, Some(&unready));
    awaited.suffer(at(5), Some(ailment(AilmentKind::ImagePull)));
    awaited.see(at(6), &wait, Some(&unready));
    // The same cause in other words goes on counting; a look at the object
    // itself does not make it forgotten.
    let again = Ailment { kind: AilmentKind::ImagePull, says: "again".to_owned() };
    awaited.suffer(at(20), Some(again.clone()));
    assert_eq!((awaited.state(at(34), &wait), awaited.wakes(&wait)), (waiting(says), at(35)));
    let hopeless = State::Missed(Miss::Hopeless(again));
    assert_eq!(awaited.state(at(35), &wait), hopeless);
    awaited.suffer(at(30), None);
    assert_eq!(awaited.state(at(35), &wait), waiting(says));
    awaited.suffer(at(40), Some(ailment(AilmentKind::CrashLoop)));
    awaited.suffer(at(50), Some(ailment(AilmentKind::Config)));
    assert_eq!(awaited.state(at(79), &wait), waiting(says));
    awaited.see(at(60), &wait, Some(&set(1)));
    assert_eq!(awaited.state(at(90), &wait), State::Met);
}

#[test]
fn who_speaks_alone_is_healed_once_it_does_not_complain() {
    let wait = wait("ready", 0);
    let mut awaited = Awaited::new(at(0));
    let homeless = pod("phase: Pending, conditions: [{type: PodScheduled, status: 'False', \
         reason: Unschedulable, message: no node}]");
    let pulling = pod("phase: Pending, conditions: [{type: PodScheduled, status: 'True'}, \
         {type: Ready, status: 'False', message: pulling}]");
    awaited.see(at(1), &wait, Some(&homeless));
    assert_eq!(awaited.wakes(&wait), at(31));
    awaited.see(at(5), &wait, Some(&pulling));
    assert!(matches!(awaited.state(at(90), &wait), State::Waiting(_)));
    assert_eq!(awaited.wakes(&wait), at(100));
    // Back at once: it was never over.
    awaited.see(at(20), &wait, Some(&homeless));
    assert!(matches!(awaited.state(at(31), &wait), State::Missed(Miss::Hopeless(_))));
}

#[test]
fn what_comes_and_goes_is_not_over() {
    let wait = wait("ready", 0);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &wait, Some(&thing("u", "False")));
    awaited.suffer(at(5), Some(ailment(AilmentKind::CrashLoop)));
    awaited.suffer(at(20), None);
    assert_eq!(awaited.state(at(36), &wait), waiting("m"));
    awaited.suffer(at(37), Some(ailment(AilmentKind::CrashLoop)));
    let hopeless = State::Missed(Miss::Hopeless(ailment(AilmentKind::CrashLoop)));
    assert_eq!(awaited.state(at(37), &wait), hopeless);
    // After a long calm it begins anew.
    awaited.suffer(at(38), None);
    awaited.suffer(at(69), Some(ailment(AilmentKind::CrashLoop)));
    assert_eq!(awaited.state(at(98), &wait), waiting("m"));
}

#[test]
fn what_has_given_up_for_good_gets_no_grace() {
    let failed = |goal: &str| {
        let wait = wait(goal, 0);
        let mut awaited = Awaited::new(at(0));
        awaited.see(at(1), &wait, Some(&job("Failed")));
        awaited.state(at(1), &wait)
    };
    let hopeless = Ailment { kind: AilmentKind::Finished, says: "m".to_owned() };
    assert_eq!(failed("ready"), State::Missed(Miss::Hopeless(hopeless.clone())));
    assert_eq!(failed("condition=Complete"), State::Missed(Miss::Hopeless(hopeless)));
    assert_eq!(failed("condition=Failed"), State::Met);
    assert!(matches!(failed("field=status.x=1"), State::Waiting(_)));
}

#[test]
fn without_a_grace_only_the_timeout_ends_it() {
    let mut wait = wait("ready", 0);
    let terms = Terms { grace: None, ..*wait.terms() };
    wait = Wait::new(wait.goal().clone(), terms);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &wait, Some(&job("Failed")));
    assert!(matches!(awaited.state(at(99), &wait), State::Waiting(_)));
    assert_eq!(awaited.state(at(100), &wait), State::Missed(Miss::TimedOut));
}

#[test]
fn a_job_that_is_done_and_cleared_away_has_been_ready() {
    let wait = wait("ready", 10);
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &wait, Some(&job("Complete")));
    awaited.see(at(5), &wait, None);
    assert_eq!(awaited.state(at(11), &wait), State::Met);
    // Anything else that goes has not stayed ready.
    let mut awaited = Awaited::new(at(0));
    awaited.see(at(1), &wait, Some(&thing("u", "True")));
    awaited.see(at(5), &wait, None);
    assert_eq!(awaited.state(at(11), &wait), waiting("it was there, and is gone"));
}
