//! What runs in pods, for those who reach it through the API.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::Kube;

/// Something that runs in pods and answers.
pub trait Processes: Send + Sync {
    /// Answers a request to a port of a pod, if anything listens there.
    fn answer(
        &self,
        kube: &Kube,
        pod: &Value,
        port: u16,
        request: &PodRequest,
    ) -> Option<PodAnswer>;
}

/// A request to a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodRequest {
    /// The path, with its first slash.
    pub path: String,
    /// The parameters of the query.
    pub query: Vec<(String, String)>,
}

/// What a pod answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodAnswer {
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

/// All that runs in the pods of a cluster.
#[derive(Default)]
pub(crate) struct Hosted(Mutex<Vec<Arc<dyn Processes>>>);

impl PodRequest {
    /// Reads a path with a query, as it is written after a host's name.
    pub fn read(text: &str) -> Self {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let path = format!("/{}", path.trim_start_matches('/'));
        Self { path, query: super::wire::pairs(query) }
    }

    /// Returns a parameter of the query; empty where it is absent.
    pub fn query(&self, name: &str) -> &str {
        let found = self.query.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }
}

impl PodAnswer {
    /// A text.
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: body.into() }
    }
}

impl Kube {
    /// Lets something run in the pods.
    pub fn host(&self, processes: Arc<dyn Processes>) {
        self.hosted().0.lock().unwrap_or_else(PoisonError::into_inner).push(processes);
    }

    /// Asks what runs in a pod; nothing where nobody listens.
    pub fn ask(&self, pod: &Value, port: u16, request: &PodRequest) -> Option<PodAnswer> {
        if pod["status"]["phase"] != "Running" {
            return None;
        }
        let all = self.hosted().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.iter().find_map(|processes| processes.answer(self, pod, port, request))
    }
}

impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.lock().unwrap_or_else(PoisonError::into_inner).len();
        f.debug_tuple("Hosted").field(&count).finish()
    }
}
