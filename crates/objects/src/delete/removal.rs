//! Whether a deletion gets on, told from a row of looks.

use std::time::Duration;

use super::{Doomed, Gone, Impatience, Look, Milestone, Patience, Remains, Waiting};
use crate::{ApiError, LookErrors};

/// So many milestones tell the story, of which so many tell how it began; a
/// deletion of thousands of objects has more.
const MILESTONES: usize = 30;
const BEGINNING: usize = 5;

/// A deletion that is being waited for. Pure: looks and times go in.
#[derive(Clone, Debug)]
pub struct Removal {
    doomed: Doomed,
    patience: Patience,
    gone: Option<Gone>,
    remains: Option<Remains>,
    lowest: Lowest,
    last_progress: Duration,
    milestones: Vec<Milestone>,
    pub(super) errors: LookErrors,
}

/// The least that was left so far: only less is progress. Texts change with
/// every try, and a controller that fails again and again gets nowhere.
#[derive(Clone, Debug, Default)]
struct Lowest {
    content: Option<u64>,
    dependents: Option<usize>,
}

/// How a deletion stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalState {
    /// It is over.
    Gone(Gone),
    /// Something has changed within the patience: go on waiting.
    Progressing(Waiting),
    /// Nothing has changed for longer, it takes too long, or it is refused.
    Stuck(Waiting),
}

// === impl Removal ===

impl Removal {
    /// Begins to wait.
    pub fn new(doomed: Doomed, patience: Patience) -> Self {
        Self {
            doomed,
            patience,
            gone: None,
            remains: None,
            lowest: Lowest::default(),
            last_progress: Duration::ZERO,
            milestones: Vec::new(),
            errors: LookErrors::default(),
        }
    }

    /// Returns what is to go.
    pub fn doomed(&self) -> &Doomed {
        &self.doomed
    }

    /// Takes in a look, `waited` after the beginning.
    pub fn observe(&mut self, waited: Duration, look: Result<Look, ApiError>) -> RemovalState {
        match look {
            Ok(look) => self.see(waited, look),
            Err(error) => self.errors.add(&error),
        }
        self.state(waited)
    }

    pub(super) fn see(&mut self, waited: Duration, look: Look) {
        self.errors.end_row();
        match look {
            Look::Gone(gone) => self.gone = self.gone.or(Some(gone)),
            Look::There(remains) => {
                let moved = self.progress(&remains);
                // The first look shows how things are, not that they move; the
                // time before it was no patience of ours either.
                if self.remains.is_none() || !moved.is_empty() {
                    self.last_progress = waited;
                }
                let milestones = moved.into_iter().map(|what| Milestone { at: waited, what });
                self.milestones.extend(milestones);
                self.shorten_the_story();
                self.lowest.take(&remains);
                self.remains = Some(remains);
            }
        }
    }

    /// Keeps how it began and where it is now.
    fn shorten_the_story(&mut self) {
        let surplus = self.milestones.len().saturating_sub(MILESTONES);
        if surplus > 0 {
            self.milestones.drain(BEGINNING..BEGINNING + surplus);
        }
    }

    /// Returns what is less than it was at the last look.
    fn progress(&self, now: &Remains) -> Vec<String> {
        let Some(before) = &self.remains else { return Vec::new() };
        let mut moved = Vec::new();
        if now.marked && !before.marked {
            moved.push("marked for deletion".to_owned());
        }
        let gone =
            |one: &&super::Finalizer| now.finalizers.iter().all(|left| left.name != one.name);
        let finalizers = before.finalizers.iter().filter(gone);
        moved.extend(finalizers.map(|one| format!("finalizer {} removed", one.name)));
        if let Some(left) =
            now.content.filter(|left| self.lowest.content.is_some_and(|l| *left < l))
        {
            moved.push(format!("{left} objects left in it"));
        }
        let left = now.dependents.len();
        if self.lowest.dependents.is_some_and(|lowest| left < lowest) {
            moved.push(format!("{left} dependents left"));
        }
        moved
    }

    /// Returns how it stands at a moment.
    pub(super) fn state(&self, waited: Duration) -> RemovalState {
        if let Some(gone) = self.gone {
            return RemovalState::Gone(gone);
        }
        let (end, impatience) = self.patience.ends(self.last_progress);
        let ended = if self.errors.are_final() {
            Some(Impatience::Refused)
        } else {
            (waited >= end).then_some(impatience)
        };
        let waiting = Waiting {
            doomed: self.doomed.clone(),
            waited,
            quiet: waited.saturating_sub(self.last_progress),
            remains: self.remains.clone(),
            milestones: self.milestones.clone(),
            content: Vec::new(),
            errors: self.errors.clone(),
            ended,
        };
        match ended {
            Some(_) => RemovalState::Stuck(waiting),
            None => RemovalState::Progressing(waiting),
        }
    }

    /// Returns what is left, as far as it was seen.
    pub(super) fn remains(&self) -> Option<&Remains> {
        self.remains.as_ref()
    }

    /// Returns whether it is over or stuck, without the story.
    pub(super) fn is_settled(&self, waited: Duration) -> bool {
        self.gone.is_some() || self.errors.are_final() || waited >= self.wakes()
    }

    /// Returns when it is stuck if nothing happens until then.
    pub(super) fn wakes(&self) -> Duration {
        self.patience.ends(self.last_progress).0
    }
}

impl Lowest {
    fn take(&mut self, remains: &Remains) {
        let content = [self.content, remains.content].into_iter().flatten().min();
        self.content = content;
        let dependents = Some(remains.dependents.len()).filter(|left| *left > 0);
        self.dependents = [self.dependents, dependents].into_iter().flatten().min();
    }
}

#[cfg(test)]
mod tests;
