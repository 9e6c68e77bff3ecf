//! What commands on objects cost: `cargo xtask bench objects`.
//!
//! Everything happens on one control plane in one run: the limit is a raw
//! client with 32 requests in flight, the peers are kubectl, Helm and kapp.
//! Each contestant is a process of its own with a namespace of its own, and
//! takes turns with the others. Ratios are what counts: times depend on the
//! machine.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

mod harness;
mod measure;
mod raw;
mod table;

use std::path::Path;
use std::process::Command;

use harness::{Harness, Manifest};
use measure::Cost;
use raw::Work;
use table::Table;

/// The first argument of the process that is the raw client.
const RAW: &str = "raw-client";

/// So many objects, unless `SEAWORTHY_BENCH_OBJECTS` says otherwise.
const OBJECTS: usize = 1000;

/// How often each contestant has its turn; the fastest counts.
const ROUNDS: usize = 3;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, first, work, kubeconfig, list] = args.as_slice()
        && first == RAW
    {
        return raw_client(Work::named(work), Path::new(kubeconfig), Path::new(list));
    }
    let count = std::env::var("SEAWORTHY_BENCH_OBJECTS").ok();
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(OBJECTS);
    let harness = Harness::start(count);
    let mut table = Table::new(count);
    for round in 0..ROUNDS {
        sail(&harness, round, &mut table);
    }
    print!("{table}");
}

fn raw_client(work: Work, kubeconfig: &Path, list: &Path) {
    let objects: Vec<serde_json::Value> =
        serde_json::from_slice(&std::fs::read(list).unwrap()).unwrap();
    let count = objects.len();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let good = runtime.block_on(raw::run(kubeconfig, objects, work));
    assert_eq!(good, count, "the raw client's requests are all answered well");
}

/// One round: each contestant creates, applies again and deletes.
fn sail(harness: &Harness, round: usize, table: &mut Table) {
    let there = |who: &str| harness.namespace(&format!("{who}-{round}"));
    let raw = there("raw");
    table.add("create", "limit", raw.raw(harness, Work::Apply));
    table.add("no-op", "limit", raw.raw(harness, Work::Apply));
    table.add("delete", "limit", raw.raw(harness, Work::Delete));

    let ours = there("seaworthy");
    table.add("create", "seaworthy", ours.ours(harness, &["apply"]));
    let before = harness.versions(&ours.namespace);
    table.add("no-op", "seaworthy", ours.ours(harness, &["apply"]));
    assert_eq!(harness.versions(&ours.namespace), before, "nothing was changed");

    let kubectl = there("kubectl");
    let apply = ["apply", "--server-side"];
    table.add("create", "kubectl", kubectl.kubectl(harness, &apply));
    table.add("no-op", "kubectl", kubectl.kubectl(harness, &apply));
    if round == 0 {
        helm(harness, &there("helm"), table);
        kapp(harness, &there("kapp"), table);
    }
}

fn helm(harness: &Harness, manifest: &Manifest, table: &mut Table) {
    let Some(helm) = rig::need::binary("helm") else { return };
    let chart = harness.chart(manifest);
    let run = |verb: &str| -> Cost {
        let mut command = Command::new(&helm);
        command.arg(verb).arg("bench").arg(&chart).arg("--namespace").arg(&manifest.namespace);
        measure::run(command.arg("--kubeconfig").arg(harness.kubeconfig()))
    };
    table.add("create", "helm", run("install"));
    table.add("no-op", "helm", run("upgrade"));
}

fn kapp(harness: &Harness, manifest: &Manifest, table: &mut Table) {
    let Some(kapp) = rig::need::binary("kapp") else { return };
    let run = || -> Cost {
        let mut command = Command::new(&kapp);
        command.args(["deploy", "--app", "bench", "--yes", "--namespace"]).arg(&manifest.namespace);
        command.arg("--kubeconfig").arg(harness.kubeconfig()).arg("-f").arg(&manifest.yaml);
        measure::run(&mut command)
    };
    table.add("create", "kapp", run());
    table.add("no-op", "kapp", run());
}
