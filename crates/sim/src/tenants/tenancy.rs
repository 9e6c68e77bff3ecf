//! All tenants of one cluster.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::inside::Inside;
use super::seal::{self, Seals};
use super::{Cloud, Knobs, api_services, cilium, cloud_controller, flux, storage};
use crate::Tempo;
use crate::kube::{Key, Kube};

/// The tenants of one cluster; clones share it.
#[derive(Clone)]
pub struct Tenants {
    pub(super) kube: Kube,
    pub(super) cloud: Arc<dyn Cloud>,
    knobs: Arc<watch::Sender<Knobs>>,
    seals: Arc<Seals>,
    tempo: Tempo,
}

impl Tenants {
    /// The tenants of a cluster whose nodes are servers of a cloud.
    pub fn new(kube: Kube, cloud: Arc<dyn Cloud>, knobs: Knobs, tempo: Tempo) -> Self {
        let (seals, knobs) = (Arc::<Seals>::default(), Arc::new(watch::Sender::new(knobs)));
        let turns = std::sync::atomic::AtomicUsize::default();
        let inside = Inside { seals: Arc::clone(&seals), knobs: knobs.subscribe(), turns };
        kube.host(Arc::new(inside));
        Self { kube, cloud, knobs, seals, tempo }
    }

    /// Turns the knobs.
    pub fn turn(&self, turn: impl FnOnce(&mut Knobs)) {
        self.knobs.send_modify(turn);
    }

    /// Lets all of them work until the future is dropped.
    pub async fn run(&self) {
        let (kube, cloud, seals) = (&self.kube, &*self.cloud, &*self.seals);
        let knobs = || self.knobs.borrow().clone();
        tokio::join!(
            self.follow(cilium::FOLLOWED, cilium::REACTION, || cilium::pass(kube)),
            self.follow(cloud_controller::FOLLOWED, cloud_controller::REACTION, || {
                cloud_controller::pass(kube, cloud, &knobs());
            }),
            self.follow(storage::FOLLOWED, storage::REACTION, || storage::pass(kube, cloud)),
            self.follow(seal::STARTED_BY, Duration::ZERO, || seals.start(kube, &knobs())),
            self.follow(seal::FOLLOWED, seal::REACTION, || seals.pass(kube, &knobs())),
            self.follow(flux::FOLLOWED, flux::REACTION, || flux::fetch(kube, &knobs())),
            self.follow(flux::FOLLOWED, flux::REACTION, || flux::apply(kube, &knobs())),
            self.follow(api_services::FOLLOWED, api_services::REACTION, || {
                api_services::pass(kube);
            }),
        );
    }

    /// Takes a pass whenever an object of some kinds, or a knob, has changed,
    /// after the time that a tenant needs to see it and to act.
    async fn follow(&self, kinds: &[Key], reaction: Duration, mut pass: impl FnMut()) {
        let mut revision = self.kube.revision();
        let mut knobs = self.knobs.subscribe();
        let (mut told, mut turned) = (0, true);
        loop {
            revision.borrow_and_update();
            let (concerned, newest) = self.kube.any_since(told, kinds, |_| true);
            told = newest;
            if concerned || turned {
                self.tempo.pass(reaction).await;
                pass();
            }
            turned = tokio::select! {
                Ok(()) = revision.changed() => false,
                Ok(()) = knobs.changed() => true,
                else => return,
            };
        }
    }
}

impl fmt::Debug for Tenants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenants").field("tempo", &self.tempo).finish_non_exhaustive()
    }
}
