//! Chaos: faults that come and go at random moments, and machines that lose power
//! or freeze. The same seed draws the same events; when they meet what a client
//! does depends on the client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, IteratorRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::World;
use super::fault::{Cast, FAULTS, Fault, Wound};
use crate::talos::Node;

/// The pause between two events, in simulated seconds.
const PAUSE: std::ops::Range<u64> = 5..60;

/// How long a machine stays without power or frozen, in simulated seconds.
const OUTAGE: std::ops::Range<u64> = 5..90;

/// So many faults at once leave a cluster something to do.
const MOST: usize = 2;

/// Chaos in a world, until it is dropped or calmed.
pub struct Chaos {
    world: Weak<World>,
    cast: Cast,
    running: JoinHandle<()>,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    events: Vec<String>,
    standing: BTreeMap<&'static str, Instant>,
}

/// What chaos does next.
enum Event {
    Inject(&'static Fault),
    Clear(&'static Fault),
    PowerOff(String, Duration),
    Freeze(String, Duration),
}

impl Chaos {
    /// Begins chaos in a world. It ends with the world.
    pub fn begin(world: &Arc<World>, cast: Cast, seed: u64) -> Self {
        let (world, log) = (Arc::downgrade(world), Arc::new(Mutex::new(Log::default())));
        let storm = storm(Weak::clone(&world), cast.clone(), seed, Arc::clone(&log));
        Self { world, cast, running: tokio::spawn(storm), log }
    }

    /// Returns the faults that are there, and for how long, in simulated time.
    pub fn standing(&self) -> Vec<(&'static str, Duration)> {
        let Some(world) = self.world.upgrade() else { return Vec::new() };
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let since =
            |(name, at): (&&'static str, &Instant)| (*name, world.tempo.simulated(at.elapsed()));
        log.standing.iter().map(since).collect()
    }

    /// Ends it, clears all faults, and returns what has happened.
    pub fn calm(self) -> Vec<String> {
        self.running.abort();
        if let Some(world) = self.world.upgrade() {
            for fault in FAULTS.iter().filter(|fault| world.faults().contains(fault.name)) {
                fault.mend(&world, &self.cast);
            }
            for name in self.cast.all() {
                world.turn(name, |knobs| knobs.cut_after_bytes = None);
                if let Some(node) = world.node(name) {
                    node.power_on();
                }
            }
        }
        std::mem::take(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner).events)
    }
}

impl Drop for Chaos {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn storm(world: Weak<World>, cast: Cast, seed: u64, log: Arc<Mutex<Log>>) {
    let mut rng = StdRng::seed_from_u64(seed);
    loop {
        let Some(tempo) = world.upgrade().map(|world| world.tempo) else { return };
        tempo.pass(Duration::from_secs(rng.random_range(PAUSE))).await;
        let Some(there) = world.upgrade() else { return };
        let Some(event) = draw(&there, &cast, &mut rng) else { continue };
        note(&log, &event);
        match event {
            Event::Inject(fault) => fault.strike(&there, &cast),
            Event::Clear(fault) => fault.mend(&there, &cast),
            Event::PowerOff(name, time) => {
                there.node(&name).inspect(Node::power_off);
                drop(there);
                tempo.pass(time).await;
                world.upgrade().and_then(|it| it.node(&name)).inspect(Node::power_on);
            }
            Event::Freeze(name, time) => {
                there.turn(&name, |knobs| knobs.cut_after_bytes = Some(0));
                drop(there);
                tempo.pass(time).await;
                world.upgrade().inspect(|it| it.turn(&name, |knobs| knobs.cut_after_bytes = None));
            }
        }
    }
}

/// Draws what happens next. What cannot be cleared is no part of it: the run that
/// comes after could not succeed.
fn draw(world: &World, cast: &Cast, rng: &mut StdRng) -> Option<Event> {
    let standing = world.faults();
    let heals: Vec<_> = FAULTS.iter().filter(|fault| fault.wound == Wound::Heals).collect();
    let time = Duration::from_secs(rng.random_range(OUTAGE));
    let node = cast.all().choose(rng)?.to_owned();
    Some(match rng.random_range(0..6) {
        0 => Event::PowerOff(node, time),
        1 => Event::Freeze(node, time),
        2 | 3 if standing.len() < MOST => Event::Inject(heals.choose(rng)?),
        _ => Event::Clear(FAULTS.iter().find(|fault| standing.contains(fault.name))?),
    })
}

fn note(log: &Mutex<Log>, event: &Event) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let line = match event {
        Event::Inject(fault) => {
            log.standing.entry(fault.name).or_insert_with(Instant::now);
            format!("inject {}", fault.name)
        }
        Event::Clear(fault) => {
            log.standing.remove(fault.name);
            format!("clear {}", fault.name)
        }
        Event::PowerOff(node, time) => format!("power off {node} for {} s", time.as_secs()),
        Event::Freeze(node, time) => format!("freeze {node} for {} s", time.as_secs()),
    };
    log.events.push(line);
}
