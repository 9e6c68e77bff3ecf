//! What holds for every gate: nothing that was not seen is healthy.

use addons::gate::{Answer, Purpose};
use events::{Failure, Verdict};

use crate::world::{World, gates};

fn is_ready(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Ready { .. })
}

#[test]
fn every_gate_is_ready_where_all_is_well() {
    for (name, gate) in gates() {
        let verdict = World::well().judged_by(&*gate);
        let Verdict::Ready { evidence } = &verdict else { panic!("{name}: {verdict:?}") };
        assert!(!evidence.summary.is_empty() && !evidence.facts.is_empty(), "{name}");
    }
}

#[test]
fn what_could_not_be_looked_at_is_blind_and_what_only_explains_is_not() {
    let mut crossed = 0;
    for (name, gate) in gates() {
        for need in gate.needs() {
            let look = need.look.to_string();
            let mut world = World::well();
            world.0.insert(look.clone(), Err(Failure::transient("connection refused")));
            let failed = world.judged_by(&*gate);
            world.0.remove(&look);
            let unasked = world.judged_by(&*gate);
            // Flux, csi and others share looks: the stricter purpose counts.
            let decides = gate
                .needs()
                .iter()
                .any(|other| other.look == need.look && other.purpose == Purpose::Decides);
            for verdict in [failed, unasked] {
                if decides {
                    assert!(matches!(verdict, Verdict::Blind { .. }), "{name} {look}: {verdict}");
                } else {
                    assert!(is_ready(&verdict), "{name} {look}: {verdict}");
                }
                crossed += 1;
            }
        }
    }
    println!("{crossed} blind looks");
    assert!(crossed > 60);
}

#[test]
fn what_is_absent_or_empty_is_never_ready() {
    let mut crossed = 0;
    for (name, gate) in gates() {
        for need in gate.needs().into_iter().filter(|need| need.purpose == Purpose::Decides) {
            let look = need.look.to_string();
            // A cluster without releases is well.
            if look == "helmreleases" {
                continue;
            }
            for nothing in [Answer::Absent, Answer::Objects(Vec::new())] {
                let verdict = World::well().set(&look, nothing).judged_by(&*gate);
                assert!(!is_ready(&verdict), "{name} without {look}: {verdict}");
                crossed += 1;
            }
        }
    }
    println!("{crossed} absences");
    assert!(crossed > 30);
}

#[test]
fn an_object_without_its_status_is_never_ready() {
    let mut crossed = 0;
    for (name, gate) in gates() {
        for need in gate.needs().into_iter().filter(|need| need.purpose == Purpose::Decides) {
            let look = need.look.to_string();
            let world = World::well();
            let count = match &world.0[&look] {
                Ok(Answer::Objects(objects)) => objects.len(),
                Ok(Answer::Object(object)) if object.get("status").is_some() => 1,
                _ => 0,
            };
            let is_told_by_spec = look == "csinodes" || (look == "nodes" && name != "ccm");
            for i in (0..count).filter(|_| !is_told_by_spec) {
                let spoiled = world.clone().change(&look, |value| {
                    let object = if value.is_array() { &mut value[i] } else { value };
                    object.as_object_mut().unwrap().remove("status").unwrap();
                });
                let verdict = spoiled.judged_by(&*gate);
                assert!(!is_ready(&verdict), "{name} {look} {i}: {verdict}");
                crossed += 1;
            }
        }
    }
    println!("{crossed} statuses");
    assert!(crossed > 20);
}

#[test]
fn an_answer_of_another_shape_is_blind() {
    for (name, gate) in gates() {
        for need in gate.needs().into_iter().filter(|need| need.purpose == Purpose::Decides) {
            let look = need.look.to_string();
            let misfit = match World::well().0[&look] {
                Ok(Answer::Routes(_)) => Answer::Text(String::new()),
                _ => Answer::Routes(Vec::new()),
            };
            let verdict = World::well().set(&look, misfit).judged_by(&*gate);
            assert!(matches!(verdict, Verdict::Blind { .. }), "{name} {look}: {verdict}");
        }
    }
}
