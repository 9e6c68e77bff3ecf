//! Random small tables in random weather: whatever is lost, refused or
//! crashed, a later run in fair weather ends proven, with one of everything.

use std::collections::BTreeMap;

use engine::laws::{Fault, Harbour, Weather, World as _, sail};
use events::{
    After, CheckKind, Class, ClusterId, Plan, PlannedCheck, PlannedNode, PlannedStage, Reach, Role,
    RunOutcome, Unit,
};
use proptest::prelude::*;

prop_compose! {
    fn nodes()(control_planes in 1..3_usize, workers in 0..3_usize) -> Vec<PlannedNode> {
        let node = |n, role| PlannedNode { name: format!("n{n}").into(), role };
        let roles = std::iter::repeat_n(Role::ControlPlane, control_planes)
            .chain(std::iter::repeat_n(Role::Worker, workers));
        roles.enumerate().map(|(n, role)| node(n, role)).collect()
    }
}

/// A stage as dice: what it works on, what it comes after, which checks it has.
type StageDice = (u8, Vec<(prop::sample::Index, u8)>, u8);

fn stage_dice() -> impl Strategy<Value = StageDice> {
    (0..3_u8, prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8), 0..3), 0..4_u8)
}

fn stage(number: usize, dice: &StageDice, nodes: &[PlannedNode]) -> PlannedStage {
    let (scope, after, checks) = dice;
    let reach = |dice| [Reach::Chain, Reach::ControlPlanes, Reach::All][usize::from(dice)];
    let after = after.iter().filter(|_| number > 0);
    let mut after: Vec<After> = after
        .map(|(index, dice)| After {
            stage: format!("s{}", index.index(number)).into(),
            on: reach(*dice),
        })
        .collect();
    after.dedup_by(|a, b| a.stage == b.stage);
    let on = |keep: fn(Role) -> bool| {
        let kept = nodes.iter().filter(|node| keep(node.role));
        Some(kept.map(|node| node.name.clone()).collect())
    };
    let nodes = match scope {
        0 => None,
        1 => on(|_| true),
        _ => on(|role| role == Role::ControlPlane),
    };
    let check = |name: &str, kind| PlannedCheck {
        name: name.into(),
        kind,
        deadline_ms: 600_000,
        poll_ms: 1_000,
        stable_ms: if *checks == 3 { 5_000 } else { 0 },
        fresh_ms: 3_600_000,
        required: true,
    };
    let all = [check("gate", CheckKind::Gate), check("probe", CheckKind::Probe)];
    let checks = all.into_iter().take(usize::from((*checks).min(2))).collect();
    PlannedStage { name: format!("s{number}").into(), after, nodes, checks }
}

fn plan() -> impl Strategy<Value = Plan> {
    (nodes(), prop::collection::vec(stage_dice(), 1..6)).prop_map(|(nodes, dice)| Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(0),
        title: String::new(),
        tool: "storms".to_owned(),
        stages: dice.iter().enumerate().map(|(n, dice)| stage(n, dice, &nodes)).collect(),
        nodes,
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    })
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::Refused(Class::Transient)),
        Just(Fault::Refused(Class::Conflict)),
        Just(Fault::Refused(Class::RateLimited { after_ms: Some(3_000) })),
        Just(Fault::Refused(Class::Permanent)),
        Just(Fault::LostCall),
        Just(Fault::LostAnswer),
    ]
}

/// Faults of the first calls of some units.
fn faults() -> impl Strategy<Value = Vec<(prop::sample::Index, u32, Fault)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 1..4_u32, fault()), 0..6)
}

fn weather() -> impl Strategy<Value = Weather> {
    prop_oneof![
        Just(Weather::FAIR),
        (1..120_u64).prop_map(Weather::crash_after_record),
        (1..20_u64).prop_map(Weather::crash_after_effect),
        (1..120_u64).prop_map(Weather::stop_after_record),
    ]
}

fn by_unit(
    plan: &Plan,
    faults: Vec<(prop::sample::Index, u32, Fault)>,
) -> BTreeMap<(Unit, u32), Fault> {
    let units: Vec<Unit> = plan.units().collect();
    if units.is_empty() {
        return BTreeMap::new();
    }
    faults
        .into_iter()
        .map(|(index, call, fault)| ((index.get(&units).clone(), call), fault))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_storm_ends(plan in plan(), faults in faults(), storm in prop::collection::vec(weather(), 0..4)) {
        let folder = tempfile::tempdir().unwrap();
        let harbour = Harbour::rough(plan.clone(), by_unit(&plan, faults));
        for weather in storm {
            sail(&harbour, folder.path(), weather);
        }
        // Each run can meet at most one refusal for good, and there are few of them.
        let mut outcome = None;
        for _ in 0..8 {
            outcome = sail(&harbour, folder.path(), Weather::FAIR).outcome;
            if outcome == Some(RunOutcome::Proven) {
                break;
            }
        }
        prop_assert_eq!(outcome, Some(RunOutcome::Proven));
        prop_assert_eq!(harbour.check(), Ok(()));
        let before = harbour.mutations();
        prop_assert_eq!(sail(&harbour, folder.path(), Weather::FAIR).outcome, Some(RunOutcome::Proven));
        prop_assert_eq!(harbour.mutations(), before, "a second run changes nothing");
    }
}
