//! What hundreds of nodes cost: `cargo xtask bench talos`.
//!
//! Prints how long 200 simulated nodes take from maintenance mode to proven
//! administration, as a ratio of 200 bare TLS handshakes with the same nodes
//! in the same run, what memory all of it takes, and how long looks at 200
//! addresses take of which half never answer. A host that has other things to
//! do disturbs either side, so there are some rounds, each with nodes of its
//! own, and the round in the middle counts.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod fleet;
#[path = "../../tests/talos/permits.rs"]
mod permits;
#[path = "../../tests/talos/sample.rs"]
mod sample;

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use talos::probe::{Mode, probe};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;

use fleet::Fleet;

const NODES: usize = 200;
/// How often as long as the bare handshakes the whole may take.
const GOAL: f64 = 5.0;
/// How much memory all nodes and their clients may take, in MB.
const MEMORY: u64 = 400;
const DEADLINE: Duration = Duration::from_secs(2);
const ROUNDS: u8 = 5;

/// What one round took.
struct Round {
    configured: Duration,
    bare: Duration,
}

#[tokio::main]
async fn main() {
    let before = memory("VmRSS:");
    let mut rounds = Vec::new();
    let mut last = None;
    for network in 0..ROUNDS {
        // The nodes of the round before are gone by then.
        drop(last.take());
        let fleet = Fleet::start(network, NODES).await;
        rounds.push(Round::run(&fleet).await);
        last = Some(fleet);
    }
    let (now, most) = (memory("VmRSS:"), memory("VmHWM:"));
    rounds.sort_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    let ratios: Vec<_> = rounds.iter().map(|round| format!("{:.1}", round.ratio())).collect();
    let middle = &rounds[rounds.len() / 2];
    println!("{NODES} simulated nodes, all at once");
    println!("  maintenance to proven administrator  {:.2} s", middle.configured.as_secs_f64());
    println!("  bare TLS handshakes                  {:.2} s", middle.bare.as_secs_f64());
    println!(
        "  ratio                                {:.1} of {} (goal {GOAL:.0})",
        middle.ratio(),
        ratios.join(", ")
    );
    println!(
        "  memory of nodes and clients          {} MB, {most} MB at most (goal {MEMORY} MB)",
        now - before
    );
    looks(&last.unwrap()).await;
}

impl Round {
    async fn run(fleet: &Fleet) -> Self {
        let began = Instant::now();
        fleet.configure().await;
        let configured = began.elapsed();
        let began = Instant::now();
        fleet.shake_hands().await;
        Self { configured, bare: began.elapsed() }
    }

    fn ratio(&self) -> f64 {
        self.configured.as_secs_f64() / self.bare.as_secs_f64()
    }
}

/// Half of the addresses are nodes, half accept and say nothing.
async fn looks(fleet: &Fleet) {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = (silent.local_addr().unwrap(), silent);
    let nodes = fleet.addresses().take(NODES / 2);
    let all: Vec<SocketAddr> = nodes.chain([silent.0].into_iter().cycle()).take(NODES).collect();
    let began = Instant::now();
    let mut looks: JoinSet<_> = all.into_iter().map(|it| probe(it, None, DEADLINE)).collect();
    let mut configured = 0;
    while let Some(sighting) = looks.join_next().await {
        configured += usize::from(matches!(sighting.unwrap().mode, Mode::Configured(_)));
    }
    println!("looks at {NODES} addresses, half of them silent");
    println!(
        "  {:.2} s with a deadline of {:.0} s; {configured} configured",
        began.elapsed().as_secs_f64(),
        DEADLINE.as_secs_f64()
    );
}

/// Returns what the kernel says about this process's memory, in MB.
fn memory(what: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
