//! One run against a simulated world, in the weather that was asked for.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use events::journal::{self, Durability};
use events::{Event, Observer, RunOutcome, What};
use tokio::sync::watch;

use super::{Effects, Weather, World};
use crate::{Cancel, Chance, Engine, Opening, Session, StateFolder, Until};

/// A run that is over, one way or another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voyage {
    /// How it ended; none where its process died.
    pub outcome: Option<RunOutcome>,
    /// How many records its journal has.
    pub records: u64,
    /// How many calls it meant to send.
    pub intents: u64,
    /// How many effects it had in the world.
    pub effects: u64,
}

/// How the run under way is crashed or stopped.
struct Helm {
    crash: watch::Sender<bool>,
    cancel: Cancel,
    weather: Weather,
    log: Arc<Log>,
}

/// What was seen of the run under way.
#[derive(Debug, Default)]
struct Log {
    intents: AtomicU64,
    /// The record after which the process died; zero where it did not.
    fatal_record: AtomicU64,
}

/// Runs the world's plan once, in a new process as far as the code can tell.
///
/// # Panics
///
/// Where the run cannot be opened or its journal not be written: a law that
/// cannot be tried is a broken law.
pub fn sail<W: World>(world: &W, state: &Path, weather: Weather) -> Voyage {
    let runtime = world.time().runtime();
    let (crash, log) = (watch::Sender::new(false), Arc::default());
    let helm = Helm { crash, cancel: Cancel::new(), weather, log };
    let effects = Effects::new(weather.crash_after_effect, helm.crash.clone());
    // The flusher is held at the record after which the process dies, until
    // the runtime is gone: nothing of the dead process runs on.
    let (keep_held, release) = mpsc::channel();
    let (folder, runs) = open(state);
    let chance = Chance::seeded(runs as u64 + 1);
    let run_outcome = runtime.block_on(async {
        let clock = world.time().clock(runs);
        let session = Session::open(&folder, opening(), clock, &chance).expect("the run opens");
        session.ledger.recorder().set_witness(helm.witness(release));
        let run_id = session.run;
        let engine = Engine {
            session,
            chance: chance.clone(),
            cancel: helm.cancel.clone(),
            backoff: world.backoff(),
        };
        let plan = world.plan(folder.cluster());
        let work = world.work(effects.clone());
        let run = engine.run(plan, &Until::TheEnd, work);
        let mut crash = helm.crash.subscribe();
        let outcome = tokio::select! {
            biased;
            _ = crash.wait_for(|crashed| *crashed) => None,
            finished = run => Some(finished.expect("the journal is written").outcome),
        };
        (run_id, outcome)
    });
    drop(keep_held);
    drop(runtime);
    let (run, outcome) = run_outcome;
    let journal = folder.journal(run);
    match helm.log.fatal_record.load(Ordering::SeqCst) {
        0 => {}
        record => cut(&journal, record),
    }
    let records = journal::verify(&journal).map_or(0, |chain| chain.lines as u64 - 1);
    let intents = helm.log.intents.load(Ordering::SeqCst);
    Voyage { outcome, records, intents, effects: effects.count() }
}

// === impl Helm ===

impl Helm {
    fn witness(&self, release: mpsc::Receiver<()>) -> Observer {
        let (weather, crash, cancel) = (self.weather, self.crash.clone(), self.cancel.clone());
        let log = Arc::clone(&self.log);
        Box::new(move |event: &Event| {
            let record = event.seq.0;
            if weather.stop_after_record == Some(record) {
                cancel.ask();
            }
            if log.take(event, weather) {
                log.fatal_record.store(record, Ordering::SeqCst);
                crash.send_replace(true);
                let _ = release.recv();
                // Ends the flusher without a word, as a dead process would.
                std::panic::resume_unwind(Box::new("crashed"));
            }
        })
    }
}

// === impl Log ===

impl Log {
    /// Takes an event down, and returns whether the process dies after it.
    fn take(&self, event: &Event, weather: Weather) -> bool {
        let is_intent = matches!(event.what, What::Intent { .. });
        let intents = self.intents.fetch_add(u64::from(is_intent), Ordering::SeqCst) + 1;
        weather.crash_after_record == Some(event.seq.0)
            || is_intent && weather.crash_after_intent == Some(intents)
    }
}

/// Opens the state folder, and counts the runs before this one.
fn open(state: &Path) -> (StateFolder, usize) {
    let folder = StateFolder::open(state, &Chance::seeded(0)).expect("the state folder opens");
    let runs = folder.runs().expect("the state folder lists its runs").len();
    (folder, runs)
}

fn opening() -> Opening {
    Opening {
        pid: 1,
        host: "law".to_owned(),
        command: "up".to_owned(),
        durability: Durability::Unsynced,
        observers: Vec::new(),
    }
}

/// Leaves just the records that were on disk when the process died, and for
/// every other crash the torn beginning of the next one.
///
/// Records of one flush reach the disk together, and nothing acts on any of
/// them before all are there; so a disk that kept only the first few of them is
/// a state that a crash can leave.
fn cut(journal: &Path, records: u64) {
    let bytes = fs::read(journal).expect("the journal is there");
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let whole = usize::try_from(records).expect("records fit in memory") + 1;
    let mut kept: Vec<u8> = lines.by_ref().take(whole).flatten().copied().collect();
    if records.is_multiple_of(2) {
        let next = lines.next().unwrap_or(b"{\"prev\":\"torn");
        kept.extend(&next[..next.len() / 2]);
    }
    fs::write(journal, kept).expect("the journal can be cut");
}
