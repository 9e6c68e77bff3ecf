//! The table of `up` keeps the laws of the engine, and the names of the cluster file.

use engine::laws::{Harbour, keep_all};
use events::{ClusterId, Plan};
use lifecycle::up::{self, Circumstances, TABLE};
use spec::CloudKind;
use spec::init::{Answers, cluster_file};
use spec::plan::Stage;

fn plan(control_planes: &str, workers: &str) -> Plan {
    let mut answers = Answers::new(CloudKind::Hetzner);
    answers.answer("control-planes", control_planes).unwrap();
    answers.answer("workers", workers).unwrap();
    let text = cluster_file(&answers).unwrap();
    let cluster = spec::read("cluster.yaml", text.as_bytes()).into_cluster().unwrap();
    let id = ClusterId::new(1);
    up::plan(&spec::Plan::of(&cluster, id), id, "laws", &Circumstances::default())
}

fn keep(control_planes: &str, workers: &str) {
    let folder = tempfile::tempdir().unwrap();
    let kept = keep_all(|| Harbour::calm(plan(control_planes, workers)), folder.path()).unwrap();
    println!("up {control_planes}+{workers}: {kept}");
    assert!(kept.records > 100 && kept.effects > 15 && kept.failures > 15, "{kept}");
}

#[test]
fn a_single_node_keeps_the_laws() {
    keep("1", "0");
}

#[test]
fn three_and_two_keep_the_laws() {
    keep("3", "2");
}

#[test]
fn every_stage_that_can_be_given_a_deadline_is_in_the_table_and_in_order() {
    let table: Vec<_> = TABLE.iter().map(|stage| stage.name).collect();
    let names: Vec<_> = Stage::all().iter().map(|stage| stage.as_str()).collect();
    assert_eq!(table, names);
}

#[test]
fn a_deadline_of_the_cluster_file_holds_for_every_check_of_its_stage() {
    let mut answers = Answers::new(CloudKind::Hetzner);
    answers.answer("workers", "0").unwrap();
    let text = cluster_file(&answers).unwrap() + "  timeouts: { storage: 17m }\n";
    let cluster = spec::read("cluster.yaml", text.as_bytes()).into_cluster().unwrap();
    let id = ClusterId::new(1);
    let plan = up::plan(&spec::Plan::of(&cluster, id), id, "test", &Circumstances::default());
    let storage = plan.stage(&"storage".into()).unwrap();
    let deadlines: Vec<_> = storage.checks.iter().map(|check| check.deadline_ms).collect();
    assert_eq!(deadlines, [17 * 60_000, 17 * 60_000]);
}
