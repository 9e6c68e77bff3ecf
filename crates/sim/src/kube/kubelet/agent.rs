//! The kubelet's loop: it joins, and then follows its pods.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::volumes::ATTACHMENTS;
use super::{NodeSettings, Trouble};
use crate::Tempo;
use crate::kube::Kube;
use crate::kube::api::{DeleteOptions, Write};
use crate::kube::controllers::{NODES, PODS};
use crate::kube::object::{is_terminating, name, namespace, uid};

/// How long a kubelet takes from its start to its registration.
const JOIN: Duration = Duration::from_secs(8);
/// How long a pod's images take to be pulled.
const PULL: Duration = Duration::from_secs(6);
/// How long a pod's processes take to start and to answer their probes.
const START: Duration = Duration::from_secs(3);
/// How long a pod takes to end after it was asked to.
const STOP: Duration = Duration::from_secs(2);
/// How long the pod of a job works.
const WORK: Duration = Duration::from_secs(2);
/// How often the node's lease is renewed, in real time as leases are.
pub(super) const LEASE: Duration = Duration::from_secs(10);
/// How soon a renewal that failed is tried again.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// The agent of one node.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) kube: Kube,
    pub(super) node: NodeSettings,
    pub(super) tempo: Tempo,
    pub(super) trouble: watch::Receiver<Trouble>,
    /// The last number of the newest pod's address.
    pub(super) addresses: u8,
    /// The version up to which it has looked.
    pub(super) told: u64,
    /// What is under way: when it is over, and for which pod.
    pub(super) under_way: Vec<(Instant, String, Step)>,
}

/// What a pod goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Its images are pulled and its sandbox is made.
    Start,
    /// Its processes come up.
    BecomeReady,
    /// The work of a job is done.
    Complete,
    /// Its processes end.
    Stop,
}

impl Step {
    fn takes(self) -> Duration {
        match self {
            Self::Start => PULL,
            Self::BecomeReady => START,
            Self::Complete => WORK,
            Self::Stop => STOP,
        }
    }
}

impl Kube {
    /// Runs the kubelet of a node until the future is dropped.
    pub async fn run_kubelet(
        &self,
        node: NodeSettings,
        tempo: Tempo,
        mut trouble: watch::Receiver<Trouble>,
    ) {
        if trouble.wait_for(|trouble| !trouble.never_registers).await.is_err() {
            // Nobody is left who could let it register.
            return std::future::pending().await;
        }
        let join = trouble.borrow().slowed(JOIN);
        tempo.pass(join).await;
        let (kube, under_way) = (self.clone(), Vec::new());
        let mut agent = Agent { kube, node, tempo, trouble, addresses: 1, told: 0, under_way };
        agent.register();
        agent.follow().await;
    }
}

impl Agent {
    async fn follow(&mut self) {
        let mut revision = self.kube.revision();
        let mut lease = Instant::now() + self.renew_lease();
        loop {
            revision.borrow_and_update();
            let due = self.finish_steps();
            if self.is_concerned() || due {
                self.look();
                continue;
            }
            let steps = self.under_way.iter().map(|(end, ..)| *end);
            let next = steps.min().unwrap_or(lease).min(lease);
            tokio::select! {
                changed = revision.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                Ok(()) = self.trouble.changed() => self.told = 0,
                () = tokio::time::sleep_until(next) => {}
            }
            if lease <= Instant::now() {
                lease = Instant::now() + self.renew_lease();
            }
        }
    }

    /// Says whether anything has happened to this node, its pods or their
    /// volumes since the last look.
    fn is_concerned(&mut self) -> bool {
        let mine = |object: &Value| {
            object["spec"]["nodeName"] == self.node.name.as_str() || name(object) == self.node.name
        };
        let (concerned, told) = self.kube.any_since(self.told, &[PODS, NODES, ATTACHMENTS], mine);
        self.told = told;
        concerned
    }

    /// Starts what the pods of this node need next.
    fn look(&mut self) {
        self.report_readiness();
        for pod in self.pods() {
            if self.under_way.iter().any(|(_, of, step)| {
                of == uid(&pod) && (*step == Step::Stop || !is_terminating(&pod))
            }) {
                continue;
            }
            if let Some(step) = self.next_step(&pod) {
                let end =
                    Instant::now() + self.tempo.real(self.trouble.borrow().slowed(step.takes()));
                self.under_way.retain(|(_, of, _)| of != uid(&pod));
                self.under_way.push((end, uid(&pod).to_owned(), step));
            }
        }
        self.report_storage();
    }

    /// Does what is due, and says whether anything was.
    fn finish_steps(&mut self) -> bool {
        let now = Instant::now();
        let (due, left) =
            std::mem::take(&mut self.under_way).into_iter().partition(|(end, ..)| *end <= now);
        self.under_way = left;
        let due: Vec<(Instant, String, Step)> = due;
        let any = !due.is_empty();
        for (_, of, step) in due {
            let pod = self.pods().into_iter().find(|pod| uid(pod) == of);
            if let Some(pod) = pod {
                self.take(&pod, step);
            }
        }
        any
    }

    fn take(&mut self, pod: &Value, step: Step) {
        match step {
            Step::Start => self.start(pod),
            Step::BecomeReady => self.become_ready(pod),
            Step::Complete => self.complete(pod),
            Step::Stop => self.forget(pod),
        }
    }

    /// Takes a pod away that has ended.
    fn forget(&self, pod: &Value) {
        let Ok(place) = self.kube.place(&PODS, namespace(pod), name(pod)) else { return };
        let at_once = DeleteOptions { grace: Some(0), ..DeleteOptions::default() };
        // It may have gone meanwhile, which is what is wanted.
        let _ = self.kube.delete(&place, &at_once, &Write::by("kubelet"));
    }

    /// Returns the pods that are on this node.
    pub(super) fn pods(&self) -> Vec<Arc<Value>> {
        let mut pods = self.kube.all(&PODS, "");
        pods.retain(|pod| pod["spec"]["nodeName"] == self.node.name.as_str());
        pods
    }
}
