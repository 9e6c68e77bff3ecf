//! What a wait shows.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use events::{Because, Clock, NextStep};
use objects::{Goal, Met, Miss, Missed, ObjectId, Subject, Unmet, Wait, WaitEvent};
use report::terminal::Mishap;

use super::words::{state, subjects, verb, wish};
use super::{Awaited, Interrupted};
use crate::board::{Board, count, span};
use crate::ui::Ui;

/// So many of those that were missed are told of in full.
const EXPLAINED: usize = 3;
/// Of more than these, only those are told of that had to be waited for.
const FEW: usize = 10;
/// So much of a reason is told while the wait goes on, in characters.
const IN_SHORT: usize = 140;

/// Shows what is waited for, and how it ends.
pub(super) struct Shown<'a> {
    board: Board<'a>,
    goal: Goal,
    names: Names,
    /// Whether each one is told of, even those that were there from the start.
    few: bool,
    waited_for: BTreeSet<ObjectId>,
    met: BTreeSet<ObjectId>,
    troubles: BTreeSet<String>,
    /// How many looks failed.
    errors: u32,
    /// Who is meant by a name on the board.
    named: BTreeMap<String, ObjectId>,
}

/// How objects are called: with their namespace only where there are several.
enum Names {
    Short,
    Full,
}

impl<'a> Shown<'a> {
    pub(super) fn new(ui: &'a Ui, clock: Clock, wait: &Wait) -> Self {
        let (board, goal) = (Board::new(ui, clock), wait.goal().clone());
        Self {
            board,
            goal,
            names: Names::of(wait),
            few: wait.subjects().len() <= FEW,
            waited_for: BTreeSet::new(),
            met: BTreeSet::new(),
            troubles: BTreeSet::new(),
            errors: 0,
            named: BTreeMap::new(),
        }
    }

    pub(super) fn tick(&mut self) -> io::Result<()> {
        self.board.tick()
    }

    /// Says what is waited for, and for how long at most.
    pub(super) fn begin(&mut self, wait: &Wait) -> io::Result<()> {
        let who = subjects(wait.subjects());
        let terms = wait.terms();
        let stable = match terms.stable.as_secs() {
            0 => String::new(),
            _ => format!(", stable for {}", span(terms.stable).roughly()),
        };
        let words = format!(
            "for {who} {}{stable}, up to {}",
            wish(&self.goal),
            span(terms.timeout).roughly()
        );
        self.board.say("Waiting", &words)
    }

    pub(super) fn event(&mut self, event: &WaitEvent) -> io::Result<()> {
        match event {
            WaitEvent::Waiting { id, because } => {
                let name = id.as_ref().map_or(String::new(), |id| self.names.name(id));
                if let Some(id) = id {
                    self.met.remove(id);
                    self.waited_for.insert(id.clone());
                    self.named.insert(name.clone(), id.clone());
                }
                self.board.wait_for(&name, &in_short(because))?;
            }
            WaitEvent::Holding { id, stable } => {
                let name = self.names.name(id);
                let words = format!(
                    "{}, has to stay so for {}",
                    state(&self.goal),
                    span(*stable).roughly()
                );
                if self.few || self.waited_for.contains(id) {
                    self.named.insert(name.clone(), id.clone());
                    self.board.wait_for(&name, &words)?;
                }
            }
            WaitEvent::Met { id, after } => {
                let name = self.names.name(id);
                self.board.done(&name);
                self.board.done("");
                if self.met.insert(id.clone()) && (self.few || self.waited_for.contains(id)) {
                    self.board.say(verb(&self.goal), &format!("{name} after {}", span(*after)))?;
                }
            }
            // What fails fails many times in a row; once is enough to know.
            WaitEvent::Trouble { error, .. } => {
                self.errors += 1;
                let words = clipped(&error.to_string());
                if self.troubles.insert(words.clone()) {
                    self.board.say("Trouble", &words)?;
                }
            }
        }
        self.board.sum(format!("{} {}", self.met.len(), state(&self.goal)));
        Ok(())
    }

    /// Says that all is well, where there was more than one to wait for.
    pub(super) fn met(&mut self, met: &Met) -> io::Result<()> {
        self.board.end()?;
        if met.objects.len() == 1 {
            return Ok(());
        }
        let words = match met.objects.len() {
            0 => "there is nothing to wait for".to_owned(),
            many => format!(
                "all {} are {} after {}",
                count(many, "object"),
                state(&self.goal),
                span(met.after)
            ),
        };
        self.board.say("Done", &words)
    }

    /// Tells who has not got there, and why.
    pub(super) fn unmet(&mut self, unmet: &Unmet) -> io::Result<()> {
        self.board.end()?;
        let certain = unmet.missed.iter().filter(|one| one.why.is_some());
        let told: Vec<&Missed> = certain.take(EXPLAINED).collect();
        for missed in &told {
            let mishap = self.mishap(missed, unmet);
            self.board.mishap(&mishap)?;
        }
        let others: Vec<String> = unmet
            .missed
            .iter()
            .filter(|one| !told.contains(one))
            .map(|one| format!("{}: {}", self.called(one), in_short(&one.because)))
            .collect();
        for other in others {
            self.board.say("Also", &other)?;
        }
        let all = unmet.missed.len() + unmet.met.len();
        if all > 1 {
            let state = state(&self.goal);
            let words = format!(
                "{} of {all} objects are {state} after {}",
                unmet.met.len(),
                span(unmet.after)
            );
            self.board.say("Not met", &words)?;
        }
        Ok(())
    }

    fn called(&self, missed: &Missed) -> String {
        missed.id.as_ref().map_or("nobody".to_owned(), |id| self.names.name(id))
    }

    fn mishap(&self, missed: &Missed, unmet: &Unmet) -> Mishap {
        let (after, state) = (span(unmet.after), state(&self.goal));
        let Some(id) = &missed.id else {
            let message = format!("nothing to be {state} has come within {after}");
            return Mishap { message, because: lines(&missed.because), ..Mishap::default() };
        };
        let message = match &missed.why {
            Some(Miss::Hopeless(ailment)) => {
                format!("{id} does not get {state} by itself: {}", clipped(&ailment.says))
            }
            Some(Miss::NotThere) => return not_there(id, &missed.because.what, unmet),
            Some(Miss::Untold) => format!("nobody can tell whether {id} is {state}"),
            Some(Miss::Refused(_)) => format!("could not see whether {id} is {state}"),
            _ => format!("{id} is not {state} after {after}"),
        };
        let refused = matches!(missed.why, Some(Miss::Refused(_)));
        let next = missed.next().filter(|_| !refused).into_iter().collect();
        Mishap { message, because: lines(&missed.because), next, ..Mishap::default() }
    }

    /// Says what was still waited for.
    pub(super) fn interrupted(&mut self, after: Duration) -> io::Result<Interrupted> {
        let open = self.open();
        self.board.end()?;
        for Awaited { name, missing, .. } in &open {
            let words =
                if name.is_empty() { missing.clone() } else { format!("{name}: {missing}") };
            self.board.say("Awaited", &words)?;
        }
        let words = format!("after {}, {} {}", span(after), self.met.len(), state(&self.goal));
        let met = self.met.iter().cloned().collect();
        Ok(Interrupted { open, met, after, errors: self.errors, words })
    }

    fn open(&self) -> Vec<Awaited> {
        let awaited = |(name, missing): (&str, &str)| {
            let id = self.named.get(name).cloned();
            Awaited { id, name: name.to_owned(), missing: missing.to_owned() }
        };
        self.board.waiting().map(awaited).collect()
    }
}

// === impl Names ===

impl Names {
    fn of(wait: &Wait) -> Self {
        let mut namespaces: Vec<_> = wait
            .subjects()
            .iter()
            .map(|subject| match subject {
                Subject::One(id) => id.namespace.clone(),
                Subject::Each(scope) => scope.namespace().map(str::to_owned),
            })
            .collect();
        namespaces.dedup();
        let everywhere = |subject: &Subject| matches!(subject, Subject::Each(scope) if scope.namespace().is_none());
        if namespaces.len() == 1 && !wait.subjects().iter().any(everywhere) {
            Self::Short
        } else {
            Self::Full
        }
    }

    fn name(&self, id: &ObjectId) -> String {
        match self {
            Self::Short => format!("{}/{}", id.kind, id.name),
            Self::Full => id.to_string(),
        }
    }
}

/// What is missing, and what is closest to its cause, for a line that others
/// follow soon.
fn in_short(because: &Because) -> String {
    match because.chain.last() {
        Some(cause) => clipped(&format!("{} ← {cause}", because.what)),
        None => clipped(&because.what),
    }
}

fn clipped(words: &str) -> String {
    match words.char_indices().nth(IN_SHORT) {
        Some((cut, _)) => format!("{}…", &words[..cut]),
        None => words.to_owned(),
    }
}

/// All lines, each caused by the next. A chain down from the object itself
/// tells all there is.
fn lines(because: &Because) -> Vec<String> {
    let whole = because.chain.iter().any(|line| line.ends_with(&because.what));
    let what = (!whole).then(|| because.what.clone());
    what.into_iter().chain(because.chain.iter().cloned()).collect()
}

fn not_there(id: &ObjectId, what: &str, unmet: &Unmet) -> Mishap {
    let inside = id.namespace.as_ref().map(|name| format!(" -n {name}")).unwrap_or_default();
    let command = format!("kubectl{inside} get {}", id.kind);
    let tells =
        format!("lists those that are there; `--for {}` waits for it to come", Goal::Created);
    let message = match what {
        "it is not there" => format!("{id} is not there after {}", span(unmet.after)),
        gone => format!("{id} is not there after {}: {gone}", span(unmet.after)),
    };
    Mishap { message, next: vec![NextStep { command, tells }], ..Mishap::default() }
}
