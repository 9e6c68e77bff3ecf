//! Switching a node on and off, restarting and wiping it.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use talos_proto::machine::sequence_event::Action;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{EtcdPhase, Machine, Stage};
use crate::talos::{Cluster, Etcd, cluster::Membership};

/// What a reset wipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::talos) struct Wipe {
    /// The configuration.
    pub(in crate::talos) state: bool,
    /// The data of etcd.
    pub(in crate::talos) ephemeral: bool,
    /// Whether the node leaves etcd first.
    pub(in crate::talos) graceful: bool,
}

/// What a node does once it has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::talos) enum Afterwards {
    Restart,
    Halt,
}

impl Machine {
    /// Returns what is cancelled when the present life ends.
    pub(in crate::talos) fn present_life(&self) -> CancellationToken {
        self.life.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins a new life, unless there is one.
    pub(super) fn power_on(self: &Arc<Self>) {
        if self.state().stage != Stage::Off {
            return;
        }
        self.begin();
    }

    /// Ends the present life at once.
    pub(super) fn power_off(&self) {
        self.end(Stage::Off);
    }

    /// Takes the machine away for good, with its disk.
    pub(super) fn destroy(&self) {
        self.wipe(Wipe { state: true, ephemeral: true, graceful: false });
        self.end(Stage::Off);
    }

    /// Stops in an orderly way because of a call, wipes what is to be wiped,
    /// and goes on.
    pub(in crate::talos) fn stop(
        self: &Arc<Self>,
        actor: &str,
        stage: Stage,
        wipe: Option<Wipe>,
        afterwards: Afterwards,
    ) {
        let machine = Arc::clone(self);
        self.chronicle.because_of(actor);
        let name = stage.sequence();
        let now = self.settings.clock.now();
        self.chronicle.sequence(now, name, Action::Start);
        self.change(|state| state.stage = stage);
        self.chronicle.stops_everything(now);
        tokio::spawn(async move { machine.stop_and_go_on(wipe, afterwards, stage).await });
    }

    async fn stop_and_go_on(self: Arc<Self>, wipe: Option<Wipe>, then: Afterwards, stage: Stage) {
        self.pass(self.settings.delays.accept).await;
        let now = self.settings.clock.now();
        self.chronicle.sequence(now, stage.sequence(), Action::Stop);
        let server = self.server().take();
        if let Some(server) = server {
            server.stop().await;
        }
        if let Some(wipe) = wipe {
            self.wipe(wipe);
        }
        if self.state().stage == Stage::Off {
            // Somebody pulled the plug meanwhile.
            return;
        }
        self.end(stage);
        let life = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        over(life).await;
        if then == Afterwards::Halt || !self.surroundings.restarts(&self.facts) {
            self.change(|state| state.stage = Stage::Off);
            self.surroundings.powered_off(&self.facts);
            return;
        }
        self.pass(self.settings.delays.restart).await;
        if self.state().stage == stage {
            self.begin();
        }
    }

    fn wipe(&self, wipe: Wipe) {
        if let (Some(cluster), Some(member)) = self.belongs_to() {
            match wipe {
                Wipe { graceful: true, .. } => cluster.change_etcd(member, Etcd::remove),
                Wipe { ephemeral: true, .. } => cluster.change_etcd(member, Etcd::wipe),
                _ => {}
            }
        }
        self.change(|state| {
            if wipe.state {
                state.config = None;
                state.staged = None;
            }
            if wipe.ephemeral {
                state.etcd = EtcdPhase::Empty;
            }
        });
    }

    /// Begins a new life in a task of its own.
    fn begin(self: &Arc<Self>) {
        let life = CancellationToken::new();
        *self.life.lock().unwrap_or_else(PoisonError::into_inner) = life.clone();
        self.chronicle.forget();
        self.chronicle.sequence(self.settings.clock.now(), "boot", Action::Start);
        self.change(|state| {
            state.stage = Stage::Booting;
            state.boots += 1;
        });
        let machine = Arc::clone(self);
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let former = task.take();
        *task = Some(tokio::spawn(async move {
            over(former).await;
            let lived = life.run_until_cancelled(machine.live()).await;
            if let Some(Err(error)) = lived {
                machine.change(|state| state.failure = Some(error.to_string()));
            }
        }));
    }

    /// Ends the present life: nothing listens, and the others notice.
    fn end(&self, stage: Stage) {
        self.life.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        drop(self.server().take());
        let (cluster, member) = self.belongs_to();
        if let Some(cluster) = cluster {
            cluster.leave(&self.facts);
            if let Some(member) = member {
                cluster.change_etcd(member, |etcd, id| etcd.set_running(id, false));
            }
            self.surroundings.kubernetes_down(&self.facts);
        }
        self.change(|state| state.stop(stage));
    }

    fn belongs_to(&self) -> (Option<Cluster>, Option<Membership>) {
        let now = self.state();
        (now.cluster.clone(), now.member())
    }

    /// Breaks every connection for a while.
    pub(super) fn drop_connections_for(self: &Arc<Self>, length: Duration) {
        let machine = Arc::clone(self);
        if let Some(server) = &*self.server() {
            server.refuse(true);
        }
        tokio::spawn(async move {
            machine.settings.tempo.pass(length).await;
            if let Some(server) = &*machine.server() {
                server.refuse(false);
            }
        });
    }
}

/// Waits until nothing is left of a life that was told to end: whoever begins
/// the next one, on this machine or on another, may need its ports.
async fn over(life: Option<JoinHandle<()>>) {
    if let Some(life) = life {
        let _ = life.await;
    }
}
