//! Deleting in waves, and seeing each of them through.

use std::cell::RefCell;
use std::collections::HashSet;

use objects::set::Means;
use objects::{
    Cluster, Deleted, Doomed, ForceHolders, Impatience, NotRemoved, Propagation, RemovalEvent,
    RemovalTerms, Removed, Waiting,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;

use super::force;
use super::shown::Shown;
use crate::board::FRAME;
use crate::command_error::CommandError;
use crate::reading::not_awaited;
use crate::running::Signals;

/// By what means and on which terms objects go.
pub(super) struct Work {
    pub(super) cluster: Cluster,
    pub(super) means: Means,
    pub(super) propagation: Propagation,
    pub(super) terms: RemovalTerms,
    pub(super) waits: bool,
    pub(super) force: Option<ForceHolders>,
}

/// A namespace has finalizers of two kinds, each with a door of its own.
const ROUNDS: usize = 3;

/// What comes of a wave.
enum Ended {
    Gone,
    Stuck(Box<NotRemoved>),
    Interrupted,
}

impl Work {
    pub(super) async fn delete(
        self,
        waves: Vec<Vec<Doomed>>,
        mut signals: Signals,
        mut shown: Shown<'_>,
    ) -> Result<(), CommandError> {
        let mut waves = waves.into_iter();
        for wave in waves.by_ref() {
            if self.waits {
                match self.see_through(wave.clone(), &mut signals, &mut shown).await? {
                    Ended::Gone => {}
                    Ended::Stuck(stuck) => shown.stuck(&stuck)?,
                    Ended::Interrupted => {
                        shown.interrupted()?;
                        shown.unfinished(wave)?;
                    }
                }
            } else {
                self.send_all(wave, &mut signals, &mut shown).await?;
            }
            if !shown.goes_on() {
                break;
            }
        }
        shown.left(waves.flatten())?;
        shown.end()
    }

    /// Deletes a wave, and forces what is stuck where that is wished.
    async fn see_through(
        &self,
        wave: Vec<Doomed>,
        signals: &mut Signals,
        shown: &mut Shown<'_>,
    ) -> Result<Ended, CommandError> {
        let mut ended = self.remove(wave, signals, shown).await?;
        for _ in 0..ROUNDS {
            let (Ended::Stuck(not_removed), Some(holders)) = (&ended, self.force) else { break };
            let forcing = self.force_all(&not_removed.stuck, holders, signals, shown);
            let Some(forced) = forcing.await? else { return Ok(Ended::Interrupted) };
            if forced.is_empty() {
                break;
            }
            let rest = not_removed.stuck.iter().filter(|one| !forced.contains(&one.doomed));
            let mut rest: Vec<Waiting> = rest.cloned().collect();
            ended = self.remove(forced, signals, shown).await?;
            match &mut ended {
                Ended::Gone if rest.is_empty() => {}
                Ended::Gone => {
                    let after = self.means.clock.elapsed();
                    let not_removed = NotRemoved { stuck: rest, gone: Vec::new(), after };
                    return Ok(Ended::Stuck(Box::new(not_removed)));
                }
                Ended::Stuck(not_removed) => not_removed.stuck.append(&mut rest),
                Ended::Interrupted => {}
            }
        }
        Ok(ended)
    }

    /// Forces one after the other, and returns whom; none where a signal kept
    /// the rest from it. What was sent is waited for.
    async fn force_all(
        &self,
        stuck: &[Waiting],
        holders: ForceHolders,
        signals: &mut Signals,
        shown: &mut Shown<'_>,
    ) -> Result<Option<Vec<Doomed>>, CommandError> {
        let (mut forced, mut stopped) = (Vec::new(), false);
        for waiting in stuck.iter().filter(|one| one.ended != Some(Impatience::Refused)) {
            let doomed = &waiting.doomed;
            let forcing = force::force(&self.cluster, &self.means, doomed, holders);
            let mut forcing = std::pin::pin!(forcing);
            let answer = loop {
                tokio::select! {
                    answer = &mut forcing => break answer,
                    () = self.means.clock.sleep(FRAME) => shown.tick()?,
                    signal = signals.next() => {
                        if stopped {
                            return Err(not_awaited());
                        }
                        shown.stopping(signal)?;
                        stopped = true;
                    }
                }
            };
            match answer {
                Ok(finalizers) => {
                    shown.forced(&doomed.id, &finalizers)?;
                    forced.push(doomed.clone());
                }
                Err(error) => shown.not_forced(&doomed.id, &error),
            }
            if stopped {
                return Ok(None);
            }
        }
        Ok(Some(forced))
    }

    async fn remove(
        &self,
        wave: Vec<Doomed>,
        signals: &mut Signals,
        shown: &mut Shown<'_>,
    ) -> Result<Ended, CommandError> {
        let clock = self.means.clock;
        let (under_way, asked) = (TaskTracker::new(), RefCell::new(HashSet::new()));
        let (tell, mut told) = mpsc::unbounded_channel::<RemovalEvent>();
        let mut tell = |event| drop(tell.send(event));
        let ended: Option<Result<Removed, Box<NotRemoved>>> = {
            // Every request is a task of its own: nothing here drops one.
            let send = |doomed: Doomed| {
                asked.borrow_mut().insert(doomed.uid.clone());
                under_way.track_future(self.send(doomed))
            };
            let removing = self.cluster.remove(wave, self.terms, clock, send, &mut tell);
            let mut removing = std::pin::pin!(removing);
            loop {
                tokio::select! {
                    ended = &mut removing => break Some(ended),
                    Some(event) = told.recv() => shown.event(&event)?,
                    () = clock.sleep(FRAME) => shown.tick()?,
                    signal = signals.next() => {
                        shown.stopping(signal)?;
                        break None;
                    }
                }
            }
        };
        while let Ok(event) = told.try_recv() {
            shown.event(&event)?;
        }
        shown.asked_for(asked.into_inner());
        match ended {
            Some(Ok(_)) => Ok(Ended::Gone),
            Some(Err(not_removed)) => Ok(Ended::Stuck(not_removed)),
            None => {
                let all_answered = async {
                    under_way.close();
                    under_way.wait().await;
                };
                tokio::select! {
                    () = all_answered => Ok(Ended::Interrupted),
                    _ = signals.next() => Err(not_awaited()),
                }
            }
        }
    }

    /// Asks for deletions, as many at once as the terms allow, and no more. A
    /// signal keeps the rest from being sent; what was sent is waited for.
    async fn send_all(
        &self,
        wave: Vec<Doomed>,
        signals: &mut Signals,
        shown: &mut Shown<'_>,
    ) -> Result<(), CommandError> {
        let mut sending = JoinSet::new();
        let mut wave = wave.into_iter();
        loop {
            while sending.len() < self.terms.in_flight
                && !shown.is_interrupted()
                && let Some(doomed) = wave.next()
            {
                let send = self.send(doomed.clone());
                sending.spawn(async move { (doomed, send.await) });
            }
            tokio::select! {
                answer = sending.join_next() => match answer {
                    Some(answer) => {
                        let (doomed, answer) = answer.map_err(std::io::Error::other)?;
                        shown.asked(&doomed.id, &answer)?;
                    }
                    None => return Ok(shown.left(wave)?),
                },
                _ = signals.next() => {
                    if shown.is_interrupted() {
                        return Err(not_awaited());
                    }
                    shown.interrupted()?;
                }
            }
        }
    }

    fn send(
        &self,
        doomed: Doomed,
    ) -> impl Future<Output = Result<Deleted, events::Failure>> + Send + use<> {
        let (cluster, means, propagation) =
            (self.cluster.clone(), self.means.clone(), self.propagation);
        async move {
            let (permit, receipt) = means.permit(Cluster::delete_call(&doomed));
            let answer = cluster.delete(permit, &doomed, propagation).await;
            means.close(receipt, &answer);
            answer.map_err(|error| error.failure())
        }
    }
}
