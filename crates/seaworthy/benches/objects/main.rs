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

mod goals;
mod harness;
mod latency;
mod measure;
mod raw;
mod table;

use std::path::Path;
use std::process::Command;

use goals::{Bound, Goals};
use harness::{Harness, Manifest, seaworthy};
use latency::Latency;
use measure::Cost;
use raw::{Hand, Work};
use table::Table;

/// The first argument of the process that is the raw client.
const RAW: &str = "raw-client";

/// So many objects, unless `SEAWORTHY_BENCH_OBJECTS` says otherwise.
const OBJECTS: usize = 1000;

/// So many objects are looked over for drift.
const DRIFT: usize = 10_000;

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
    let mut goals = Goals::default();
    if is_wanted("wait") {
        wait(&harness, &mut goals);
    }
    if is_wanted("drift") {
        drift(&harness, &mut table, &mut goals);
    }
    compare(&table, &mut goals);
    println!("{table}{goals}load of the machine at the end: {}", load());
}

/// Whether a piece of work is to be measured: all are, unless
/// `SEAWORTHY_BENCH_WORK` names some, such as `create,wait`.
fn is_wanted(work: &str) -> bool {
    let wanted = std::env::var("SEAWORTHY_BENCH_WORK");
    wanted.map_or(true, |wanted| wanted.split(',').any(|one| one == work))
}

fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

fn raw_client(work: Work, kubeconfig: &Path, list: &Path) {
    let objects: Vec<serde_json::Value> =
        serde_json::from_slice(&std::fs::read(list).unwrap()).unwrap();
    let count = objects.len();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let good = runtime.block_on(raw::run(kubeconfig, objects, work));
    assert_eq!(good, count, "the raw client's requests are all answered well");
}

/// One round: each contestant creates, applies again, compares and deletes.
fn sail(harness: &Harness, round: usize, table: &mut Table) {
    let there = |who: &str| harness.namespace(&format!("{who}-{round}"));
    let (raw, ours) = (there("raw"), there("seaworthy"));
    // Whoever comes first may find a server that is still warming up.
    if round.is_multiple_of(2) {
        limit(harness, &raw, table);
        apply(harness, &ours, table);
    } else {
        apply(harness, &ours, table);
        limit(harness, &raw, table);
    }
    let kubectl = there("kubectl");
    let server_side = ["apply", "--server-side"];
    table.add("create", "kubectl", kubectl.kubectl(harness, &server_side));
    table.add("no-op", "kubectl", kubectl.kubectl(harness, &server_side));
    if is_wanted("diff") {
        table.add("diff", "seaworthy", ours.ours(harness, &["diff"]));
        let diff = ["diff", "--server-side"];
        table.add("diff", "kubectl", kubectl.kubectl(harness, &diff));
    }
    if is_wanted("delete") {
        table.add("delete", "seaworthy", ours.ours(harness, &["delete"]));
        assert_eq!(harness.versions(&ours.namespace), "", "all are gone");
    }
    if round == 0 {
        // It takes minutes: kubectl sends five requests in a second while it waits.
        if is_wanted("delete") {
            table.add("delete", "kubectl", kubectl.kubectl(harness, &["delete"]));
        }
        helm(harness, &there("helm"), table);
        kapp(harness, &there("kapp"), table);
    }
}

fn limit(harness: &Harness, raw: &Manifest, table: &mut Table) {
    table.add("create", "limit", raw.raw(harness, Work::Apply));
    table.add("no-op", "limit", raw.raw(harness, Work::Apply));
    table.add("delete", "limit", raw.raw(harness, Work::Delete));
}

fn apply(harness: &Harness, ours: &Manifest, table: &mut Table) {
    table.add("create", "seaworthy", ours.ours(harness, &["apply"]));
    let before = harness.versions(&ours.namespace);
    assert_eq!(before.split_whitespace().count(), harness.count(), "all are there");
    table.add("no-op", "seaworthy", ours.ours(harness, &["apply"]));
    assert_eq!(harness.versions(&ours.namespace), before, "nothing was changed");
}

fn helm(harness: &Harness, manifest: &Manifest, table: &mut Table) {
    let Some(helm) = rig::need::binary("helm").filter(|_| is_wanted("peers")) else { return };
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
    let Some(kapp) = rig::need::binary("kapp").filter(|_| is_wanted("peers")) else { return };
    let run = || -> Cost {
        let mut command = Command::new(&kapp);
        command.args(["deploy", "--app", "bench", "--yes", "--namespace"]).arg(&manifest.namespace);
        command.arg("--kubeconfig").arg(harness.kubeconfig()).arg("-f").arg(&manifest.yaml);
        measure::run(&mut command)
    };
    table.add("create", "kapp", run());
    table.add("no-op", "kapp", run());
}

/// From an event until the process that waited for it is gone.
fn wait(harness: &Harness, goals: &mut Goals) {
    let hand = Hand::new(harness.kubeconfig());
    let goal = "--for=jsonpath={.data.k}=v";
    let ours = Latency::of("wait-seaworthy", harness.admin(), &hand, |name| {
        let mut command = seaworthy(harness.kubeconfig());
        command.args(["wait", &format!("configmap/{name}"), goal, "-n", "wait-seaworthy"]);
        command
    });
    let theirs = Latency::of("wait-kubectl", harness.admin(), &hand, |name| {
        let map = format!("configmap/{name}");
        harness.kubectl(&["wait", &map, goal, "-n", "wait-kubectl", "--timeout=60s"])
    });
    for (who, latency) in [("seaworthy", &ours), ("kubectl", &theirs)] {
        let (half, most) = (latency.percentile(50), latency.percentile(99));
        let peak = latency.peak();
        println!("  wait     {who:<10} p50 {half:.1} ms, p99 {most:.1} ms, {peak:.0} MiB");
    }
    let ratio = ours.percentile(50) / theirs.percentile(50);
    goals.add("wait: event to exit, p50, of kubectl", Some(ratio), "×", Bound::AtMost(1.0));
    let most = ours.percentile(99);
    goals.add("wait: event to exit, p99", Some(most), "ms", Bound::AtMost(50.0));
    let weight = ours.weight_ratio(&theirs);
    goals.add("wait, memory of kubectl's", Some(weight), "×", Bound::AtMost(0.5));
}

/// Many objects that nobody has touched: what a look at all of them costs.
fn drift(harness: &Harness, table: &mut Table, goals: &mut Goals) {
    let many = harness.namespace_of("drift", DRIFT);
    many.ours(harness, &["apply"]);
    table.add("drift", "seaworthy", many.ours(harness, &["drift"]));
    let proxy = harness.counting();
    many.ours_by(proxy.kubeconfig(), &["drift"]);
    let counts = proxy.counts().borrow().clone();
    let (lists, asked) = (counts.of("list", "configmaps"), counts.of("patch", "configmaps"));
    println!("  drift    {lists} pages listed, {asked} objects asked about");
    goals.add(
        "drift: objects asked about",
        u32::try_from(asked).ok().map(f64::from),
        "",
        Bound::AtMost(0.0),
    );
    let peak = table.peak("drift", "seaworthy");
    goals.add("drift: memory", peak, "MiB", Bound::AtMost(300.0));
}

fn compare(table: &Table, goals: &mut Goals) {
    let of_limit = |work| table.ratio(work, "seaworthy", "limit");
    let faster = |work| table.ratio(work, "kubectl", "seaworthy");
    goals.add("create, of the limit", of_limit("create"), "×", Bound::AtMost(1.25));
    goals.add("no-op, of the limit", of_limit("no-op"), "×", Bound::AtMost(1.0));
    goals.add("no-op, faster than kubectl", faster("no-op"), "×", Bound::AtLeast(8.0));
    goals.add("diff, faster than kubectl", faster("diff"), "×", Bound::AtLeast(8.0));
    goals.add("delete, of the limit", of_limit("delete"), "×", Bound::AtMost(1.5));
    for (what, work) in [
        ("create, memory of kubectl's", "create"),
        ("no-op, memory of kubectl's", "no-op"),
        ("diff, memory of kubectl's", "diff"),
        ("delete, memory of kubectl's", "delete"),
    ] {
        let weight = table.weight_ratio(work, "seaworthy", "kubectl");
        goals.add(what, weight, "×", Bound::AtMost(0.5));
    }
}
