//! What hundreds of nodes cost: `cargo xtask bench talos`.
//!
//! Prints how long 200 simulated nodes take from maintenance mode to proven
//! administration, as a ratio of 200 bare TLS handshakes with the same nodes
//! in the same run, which both sides bring to an end; what memory all of it
//! takes; and how long looks at 200 addresses take of which half never answer.
//! A host that has other things to do disturbs either side, so there are some
//! rounds, each with nodes of its own, and the round in the middle counts.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

#[path = "../../tests/fleet/fleet.rs"]
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

use fleet::{Fleet, MEMORY, NODES, memory};

/// How often as long as the bare handshakes the whole may take.
const GOAL: f64 = 5.0;
const DEADLINE: Duration = Duration::from_secs(2);
const ROUNDS: u8 = 5;

/// What one round took.
struct Round {
    configured: Took,
    bare: Took,
}

/// What one side took: by the clock, and of all processors together, which
/// nobody else on the host can disturb.
struct Took {
    wall: Duration,
    work: Duration,
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
    println!(
        "  maintenance to proven administrator  {:.2} s",
        middle.configured.wall.as_secs_f64()
    );
    println!("  bare TLS handshakes                  {:.2} s", middle.bare.wall.as_secs_f64());
    println!(
        "  ratio                                {:.1} of {} (goal {GOAL:.0})",
        middle.ratio(),
        ratios.join(", ")
    );
    let work = |of: fn(&Round) -> &Took| -> f64 {
        rounds.iter().map(|round| of(round).work.as_secs_f64()).sum()
    };
    let (configured, bare) = (work(|round| &round.configured), work(|round| &round.bare));
    println!(
        "  processors' time, all rounds         {configured:.2} s to {bare:.2} s: {:.1}",
        configured / bare
    );
    println!(
        "  memory of nodes and clients          {} MB, {most} MB at most (goal {MEMORY} MB)",
        now - before
    );
    looks(&last.unwrap()).await;
}

impl Round {
    async fn run(fleet: &Fleet) -> Self {
        let configured = Took::by(fleet.configure()).await;
        let bare = Took::by(fleet.shake_hands()).await;
        Self { configured, bare }
    }

    fn ratio(&self) -> f64 {
        self.configured.wall.as_secs_f64() / self.bare.wall.as_secs_f64()
    }
}

impl Took {
    async fn by(task: impl Future<Output = ()>) -> Self {
        let (began, before) = (Instant::now(), work());
        task.await;
        Self { wall: began.elapsed(), work: work().saturating_sub(before) }
    }
}

/// Returns how long this process has kept processors busy.
fn work() -> Duration {
    /// The kernel counts in ticks of this length.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u32>().unwrap());
    TICK * ticks.sum::<u32>()
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
