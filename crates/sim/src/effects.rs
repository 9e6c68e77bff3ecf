//! Every change of the simulated world, in order, before its answer leaves, and
//! how often clients asked for anything at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The effects of all the parts of one simulated world; clones share it.
///
/// A part calls [`happened`](Self::happened) after it changed something and
/// before it answers. That is the moment that matters to a client that dies:
/// the world has changed, and nobody has been told.
#[derive(Clone, Debug)]
pub struct Effects {
    log: Arc<Mutex<Log>>,
    count: Arc<watch::Sender<u64>>,
}

/// One change that a client asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Which part of the world: `hetzner`, `talos`, `kube`.
    pub part: &'static str,
    /// The call, without ids: `POST /servers`, `MachineService/Bootstrap`.
    pub call: String,
    /// What it changed, as the part names it.
    pub subject: String,
}

/// What becomes of the answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It goes out.
    Send,
    /// It gets lost: the connection is to be cut without a byte of it.
    Lose,
}

/// How often what happened. Nothing of it is told to clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Calls that arrived, by part and call, whatever came of them.
    pub requests: BTreeMap<String, BTreeMap<String, u64>>,
    /// Changes that clients asked for, by part and call.
    pub effects: BTreeMap<String, BTreeMap<String, u64>>,
    /// Answers that were cut off.
    pub answers_lost: u64,
    /// Calls that were refused as too many.
    pub rate_limited: u64,
}

#[derive(Debug, Default)]
struct Log {
    effects: Vec<Effect>,
    counters: Counters,
    /// Answers to lose, by number of the effect, counted from one.
    lose: Vec<u64>,
    /// Answers to lose once, by the beginning of the call.
    lose_next: Vec<String>,
}

impl Default for Effects {
    fn default() -> Self {
        Self { log: Arc::default(), count: Arc::new(watch::Sender::new(0)) }
    }
}

impl Effects {
    /// Takes note of a change and says whether its answer goes out.
    pub fn happened(&self, effect: Effect) -> Answer {
        let mut log = self.log();
        let named = log.lose_next.iter().position(|call| effect.call.starts_with(call.as_str()));
        tally(&mut log.counters.effects, effect.part, &effect.call);
        log.effects.push(effect);
        let number = log.effects.len() as u64;
        let lost = log.lose.contains(&number) | named.map(|at| log.lose_next.remove(at)).is_some();
        log.counters.answers_lost += u64::from(lost);
        drop(log);
        self.count.send_replace(number);
        if lost { Answer::Lose } else { Answer::Send }
    }

    /// Loses the answer to the effect with this number, counted from one.
    pub fn lose(&self, number: u64) {
        self.log().lose.push(number);
    }

    /// Loses the answer to the next call that begins so.
    pub fn lose_next(&self, call: &str) {
        self.log().lose_next.push(call.to_owned());
    }

    /// Lets the answers to calls that begin so go out again.
    pub fn lose_none(&self, call: &str) {
        self.log().lose_next.retain(|lost| lost != call);
    }

    /// Takes note of a call that arrived.
    pub fn asked(&self, part: &str, call: &str) {
        tally(&mut self.log().counters.requests, part, call);
    }

    /// Takes note of a call that was refused as one too many.
    pub fn limited(&self) {
        self.log().counters.rate_limited += 1;
    }

    /// Returns how often what happened so far.
    pub fn counters(&self) -> Counters {
        self.log().counters.clone()
    }

    /// Returns all effects so far.
    pub fn all(&self) -> Vec<Effect> {
        self.log().effects.clone()
    }

    /// Tells how many effects there are, now and whenever one is added.
    pub fn count(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tally(counts: &mut BTreeMap<String, BTreeMap<String, u64>>, part: &str, call: &str) {
    *counts.entry(part.to_owned()).or_default().entry(call.to_owned()).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(call: &str) -> Effect {
        Effect { part: "hetzner", call: call.to_owned(), subject: "demo".to_owned() }
    }

    #[test]
    fn answers_are_lost_by_number_and_by_call() {
        let effects = Effects::default();
        effects.lose(2);
        effects.lose_next("POST /servers");
        assert_eq!(effects.happened(effect("POST /networks")), Answer::Send);
        assert_eq!(effects.happened(effect("POST /firewalls")), Answer::Lose);
        assert_eq!(effects.happened(effect("POST /servers")), Answer::Lose);
        assert_eq!(effects.happened(effect("POST /servers")), Answer::Send, "only the next one");
        assert_eq!(*effects.count().borrow(), 4);
        assert_eq!(effects.all()[0], effect("POST /networks"));
        effects.lose_next("POST /servers");
        effects.lose_none("POST /servers");
        assert_eq!(effects.happened(effect("POST /servers")), Answer::Send, "it was mended");
    }

    #[test]
    fn everything_is_counted() {
        let effects = Effects::default();
        effects.lose(1);
        effects.asked("hetzner", "POST /networks");
        effects.happened(effect("POST /networks"));
        effects.asked("hetzner", "GET /networks");
        effects.limited();
        let counters = effects.counters();
        assert_eq!(counters.requests["hetzner"].len(), 2);
        assert_eq!(counters.effects["hetzner"]["POST /networks"], 1);
        assert_eq!((counters.answers_lost, counters.rate_limited), (1, 1));
    }
}
