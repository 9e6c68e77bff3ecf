//! What pods answer when they are asked.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::Value;
use tokio::sync::watch;

use super::presence::{is_of, works};
use super::seal::{self, Seals};
use super::{Knobs, network};
use crate::kube::{Kube, PodAnswer, PodRequest, Processes};

/// All that listens in the pods of a cluster.
pub(super) struct Inside {
    pub(super) seals: Arc<Seals>,
    pub(super) knobs: watch::Receiver<Knobs>,
    /// Counts connections, so that the pods of a service take turns.
    pub(super) turns: AtomicUsize,
}

impl Processes for Inside {
    fn answer(&self, kube: &Kube, pod: &Value, port: u16, asked: &PodRequest) -> Option<PodAnswer> {
        if network::listens(pod, port) {
            let knobs = self.knobs.borrow().clone();
            return Some(network::answer(kube, &knobs, &self.turns, pod, asked));
        }
        if is_of(pod, seal::PODS) && port == 8080 && works(pod) {
            return Some(match asked.path.as_str() {
                "/healthz" => PodAnswer::text(200, "ok\n"),
                "/v1/cert.pem" => self.seals.certificate(kube, pod, &self.knobs.borrow()),
                _ => PodAnswer::text(404, "404 page not found\n"),
            });
        }
        None
    }
}
