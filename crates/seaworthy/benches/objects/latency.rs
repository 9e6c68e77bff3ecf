//! How long after an event a wait for it ends: from the request that makes the
//! event until the waiting process is gone; and what a process weighs that waits.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rig::Kubectl;

use crate::measure::weight;
use crate::raw::Hand;

/// So many waits stand at once, and end one after another.
const BATCH: usize = 10;

/// So many batches; a hundredth of the waits must be one at least.
const BATCHES: usize = 10;

/// So long a process has to start and to watch.
const START: Duration = Duration::from_secs(3);

/// How long after an event waits ended.
pub(crate) struct Latency {
    /// Sorted.
    all: Vec<Duration>,
    /// The most memory that any of the processes held, in MiB.
    peak: f64,
}

impl Latency {
    /// Measures a contestant: `wait` makes its command for the name of a map
    /// whose key `k` is going to be `v`.
    pub(crate) fn of(
        namespace: &str,
        kubectl: &Kubectl,
        hand: &Hand,
        wait: impl Fn(&str) -> Command,
    ) -> Self {
        kubectl.run(&["create", "namespace", namespace]).unwrap();
        let mut all = Vec::new();
        let mut peak: f64 = 0.0;
        for batch in 0..BATCHES {
            let names: Vec<String> = (0..BATCH).map(|n| format!("w-{batch}-{n}")).collect();
            for name in &names {
                hand.set(namespace, name, "no");
            }
            let start = |name: &String| start(&mut wait(name));
            let mut waiting: Vec<Child> = names.iter().map(start).collect();
            thread::sleep(START);
            for (name, child) in names.iter().zip(&mut waiting) {
                peak = weight(child).unwrap_or(0.0).max(peak);
                let event = Instant::now();
                hand.set(namespace, name, "v");
                let ended = child.wait().unwrap();
                all.push(event.elapsed());
                assert!(ended.success(), "a wait has failed: {ended}");
            }
        }
        all.sort_unstable();
        Self { all, peak }
    }

    /// What the heaviest process weighed, as a part of another's.
    pub(crate) fn weight_ratio(&self, other: &Self) -> f64 {
        self.peak / other.peak
    }

    /// What the heaviest process weighed, in MiB.
    pub(crate) fn peak(&self) -> f64 {
        self.peak
    }

    /// The time that so many of a hundred waits do not exceed, in milliseconds.
    pub(crate) fn percentile(&self, of_a_hundred: usize) -> f64 {
        let place = (self.all.len() * of_a_hundred).div_ceil(100).saturating_sub(1);
        self.all[place].as_secs_f64() * 1000.0
    }
}

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
