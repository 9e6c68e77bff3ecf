//! What a configured node runs: trustd, etcd, the kubelet, the static pods.

use std::{future, sync::Arc};

use super::{EtcdPhase, Machine, Stage, StaticPods, bring_up::LifeError, stamped};
use crate::talos::{
    Etcd, MachineConfig,
    cluster::Membership,
    services::{ServiceState, Services},
};

/// What etcd and the kubelet say while they wait for the container runtime.
const RUNTIME_MISSING: &str = "Waiting for service \"cri\" to be \"up\"";
/// What etcd says of a disk that is too slow for it.
const SLOW_DISK: &str =
    "{\"level\":\"warn\",\"msg\":\"slow fdatasync\",\"expected-duration\":\"1s\"}";

/// What a node was called in the cluster that it was part of earlier, and where
/// it was.
const FORMER_NAME: &str = "former-1";
const FORMER_ADDRESS: &str = "10.99.0.1";

impl Machine {
    /// Runs what the configuration asks for, without end.
    pub(super) async fn run(
        self: &Arc<Self>,
        config: &Arc<MachineConfig>,
    ) -> Result<(), LifeError> {
        let control_plane = config.is_control_plane();
        self.change(|state| {
            state.services.set("cri", ServiceState::Preparing, "Running pre state");
            state.services.set("kubelet", ServiceState::Waiting, RUNTIME_MISSING);
            if control_plane {
                state.services.set("etcd", ServiceState::Waiting, RUNTIME_MISSING);
                state.services.set(
                    "trustd",
                    ServiceState::Waiting,
                    "Waiting for time sync, network",
                );
            }
        });
        self.meet_the_others();
        self.pass(self.settings.delays.runtime).await;
        self.change(|state| {
            state.services.healthy("cri");
            state.bootstrap_allowed = true;
        });
        if control_plane {
            tokio::join!(
                self.watch_the_others(),
                self.boot_to_its_end(&["cri", "kubelet", "etcd", "trustd"]),
                self.trustd(config),
                self.etcd(),
                self.kubelet(config),
                self.static_pods(config)
            );
        } else {
            let boot = self.boot_to_its_end(&["cri", "kubelet"]);
            tokio::join!(self.watch_the_others(), boot, self.kubelet(config));
        }
        Ok(())
    }

    /// The boot sequence ends once all services were up. A bootstrap makes etcd
    /// finish for a moment, so that the sequence need not wait for more of it;
    /// it still waits for the kubelet, whose image may take long.
    async fn boot_to_its_end(&self, services: &[&str]) {
        self.state_is(|state| state.services.were_up(services)).await;
        self.change(|state| {
            // One that stops meanwhile does not run any more.
            if state.stage == Stage::Booting {
                state.stage = Stage::Running;
            }
        });
    }

    fn meet_the_others(&self) {
        let (cluster, peer) = (self.state().cluster.clone(), self.peer());
        if let (Some(cluster), Some(peer)) = (cluster, peer) {
            cluster.enter(&self.facts, peer);
        }
    }

    /// Keeps what the node says about the others up to date.
    async fn watch_the_others(&self) {
        let Some(cluster) = self.state().cluster.clone() else { return };
        let (mut cluster, mut knobs) = (cluster.changes(), self.knobs.subscribe());
        loop {
            self.tell_watchers();
            let changed = tokio::select! {
                changed = cluster.changed() => changed,
                changed = knobs.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    }

    async fn trustd(&self, config: &MachineConfig) {
        self.knobs_are(|knobs| !knobs.clock_out_of_sync).await;
        if let Err(error) = self.sign(config).await {
            self.change(|state| state.failure = Some(error.to_string()));
        }
    }

    async fn kubelet(&self, config: &Arc<MachineConfig>) {
        let volume = self.knobs.borrow().kubelet_volume.clone();
        if let Some(volume) = volume {
            let message = format!("Waiting for volumes /var/lib, {volume} to be mounted");
            self.change(|state| state.services.set("kubelet", ServiceState::Waiting, &message));
        }
        self.knobs_are(|knobs| knobs.kubelet_volume.is_none() && !knobs.clock_out_of_sync).await;
        self.change(|state| {
            state.services.set("kubelet", ServiceState::Preparing, "Running pre state");
        });
        self.knobs_are(|knobs| !knobs.no_registry).await;
        self.write(self.settings.delays.kubelet).await;
        self.change(|state| state.services.healthy("kubelet"));
        self.knobs_are(|knobs| !knobs.cut_off).await;
        self.surroundings.kubelet_up(&self.facts, &self.hostname(), config);
    }

    async fn etcd(&self) {
        self.knobs_are(|knobs| !knobs.clock_out_of_sync).await;
        self.change(|state| {
            state.services.set("etcd", ServiceState::Preparing, "Running pre state");
        });
        let member = match self.member_on_disk() {
            Some(member) => member,
            None => self.become_member().await,
        };
        self.change(|state| {
            state.services.set(
                "etcd",
                ServiceState::Running,
                "Started task etcd for container etcd",
            );
        });
        self.write(self.settings.delays.etcd_start).await;
        if self.knobs.borrow().disk_slowness > 1 {
            let line = stamped(self.settings.clock.now(), SLOW_DISK);
            self.chronicle.log("etcd", &line);
        }
        self.change_etcd(member, |etcd, id| etcd.set_running(id, true));
        self.weigh(member);
        self.change(|state| state.services.healthy("etcd"));
        self.write(self.settings.delays.etcd_learn).await;
        self.change_etcd(member, Etcd::promote);
        let mut knobs = self.knobs.subscribe();
        while knobs.changed().await.is_ok() {
            self.weigh(member);
        }
    }

    /// Tells all members whether this one has room left.
    fn weigh(&self, member: Membership) {
        let is_full = self.knobs.borrow().etcd_has_no_space;
        self.change_etcd(member, |etcd, id| etcd.set_full(id, is_full));
    }

    /// Returns the member that the data directory is of, where there is one.
    fn member_on_disk(&self) -> Option<Membership> {
        let state = self.state();
        let (hostname, address) = match state.etcd {
            EtcdPhase::Member(member) => return Some(member),
            EtcdPhase::Wedged => (self.hostname(), self.etcd_address()),
            _ if self.knobs.borrow().foreign_etcd => {
                (FORMER_NAME.to_owned(), FORMER_ADDRESS.to_owned())
            }
            _ => return None,
        };
        let member = state.cluster.as_ref()?.begin_etcd(&hostname, &address);
        self.change(|state| state.etcd = EtcdPhase::Member(member));
        Some(member)
    }

    /// Waits to be bootstrapped or to be taken in by the others, whichever
    /// comes first.
    async fn become_member(&self) -> Membership {
        tokio::select! {
            () = self.state_is(|state| matches!(state.etcd, EtcdPhase::Bootstrapping(_))) => {
                self.bootstrap().await
            }
            member = self.join() => member,
        }
    }

    /// Brings up the first member of a new etcd.
    async fn bootstrap(&self) -> Membership {
        let delays = &self.settings.delays;
        self.change(|state| {
            state.services.set("etcd", ServiceState::Finished, "Bootstrap requested");
            state.services.renew("etcd");
            state.services.set("etcd", ServiceState::Preparing, "Running pre state");
        });
        self.pull_image().await;
        if self.knobs.borrow().bootstrapped_twice {
            self.change(|state| {
                state.etcd = EtcdPhase::Wedged;
                state.services.set("etcd", ServiceState::Finished, "Bootstrap requested");
            });
        }
        self.write(delays.etcd_init).await;
        let (hostname, address) = (self.hostname(), self.etcd_address());
        let member = self.change(|state| {
            let cluster =
                state.cluster.as_ref().filter(|_| state.etcd == EtcdPhase::Initialising)?;
            let member = cluster.begin_etcd(&hostname, &address);
            state.etcd = EtcdPhase::Member(member);
            Some(member)
        });
        match member {
            Some(member) => member,
            // Wedged: only a restart helps.
            None => future::pending().await,
        }
    }

    /// Waits for etcd's image; whoever asks for a bootstrap again starts that
    /// over.
    async fn pull_image(&self) {
        loop {
            self.knobs_are(|knobs| !knobs.no_registry).await;
            let attempt = self.state().etcd;
            tokio::select! {
                () = self.write(self.settings.delays.etcd_image) => {}
                () = self.state_is(|state| state.etcd != attempt) => continue,
            }
            let settled = self.change(|state| {
                let same = state.etcd == attempt;
                if same {
                    state.etcd = EtcdPhase::Initialising;
                }
                same
            });
            if settled {
                return;
            }
        }
    }

    /// Joins the etcd of the others, once there is one.
    async fn join(&self) -> Membership {
        let Some(cluster) = self.state().cluster.clone() else { return future::pending().await };
        let mut changes = cluster.changes();
        loop {
            changes.mark_unchanged();
            self.knobs_are(|knobs| !knobs.cannot_join_etcd).await;
            let (hostname, address) = (self.hostname(), self.etcd_address());
            let alone = self.knobs.borrow().own_etcd && !cluster.etcds().is_empty();
            let member = self.change(|state| {
                let join = || {
                    if alone {
                        Some(cluster.begin_etcd(&hostname, &address))
                    } else {
                        cluster.join_etcd(&hostname, &address)
                    }
                };
                let member = (state.etcd == EtcdPhase::Empty).then(join).flatten()?;
                state.etcd = EtcdPhase::Member(member);
                Some(member)
            });
            if let Some(member) = member {
                return member;
            }
            if changes.changed().await.is_err() {
                future::pending::<()>().await;
            }
        }
    }

    fn change_etcd(&self, member: Membership, change: impl FnOnce(&mut Etcd, u64)) {
        let cluster = self.state().cluster.clone();
        if let Some(cluster) = cluster {
            cluster.change_etcd(member, change);
        }
    }

    async fn static_pods(&self, config: &Arc<MachineConfig>) {
        let sound =
            |services: &Services| services.is_healthy("etcd") && services.is_healthy("kubelet");
        self.state_is(|state| sound(&state.services)).await;
        self.change(|state| state.static_pods = StaticPods::Starting);
        self.knobs_are(|knobs| !knobs.no_static_pods).await;
        self.write(self.settings.delays.control_plane).await;
        self.surroundings.control_plane_up(&self.facts, config);
        self.change(|state| state.static_pods = StaticPods::Ready);
    }
}
