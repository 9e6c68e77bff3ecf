//! How the objects of a run's probes are told from all others.

use events::RunId;
use serde_json::{Value, json};

/// The mark of one probe of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The run.
    pub run: RunId,
    /// The probe.
    pub kind: ProbeKind,
}

/// The probes that put objects into the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// A volume is bound, written and read.
    Storage,
    /// Pods talk to each other across nodes.
    Datapath,
    /// A sealed secret is opened.
    Seal,
}

impl Mark {
    /// The label with the run's id.
    pub const RUN: &'static str = "seaworthy.dev/run";
    /// The label with the probe's name.
    pub const PROBE: &'static str = "seaworthy.dev/probe";

    /// Returns the name of the probe's namespace.
    pub fn namespace(&self) -> String {
        format!("seaworthy-{}-{}", self.kind.as_str(), self.run).to_lowercase()
    }

    /// Returns the labels of all that the probe makes.
    pub fn labels(&self) -> Value {
        json!({ Self::RUN: self.run.to_string(), Self::PROBE: self.kind.as_str() })
    }

    /// Returns a selector for what this probe of this run has made.
    pub fn selector(&self) -> String {
        format!("{}={},{}={}", Self::RUN, self.run, Self::PROBE, self.kind.as_str())
    }

    /// Returns the namespace, in which only harmless pods are allowed.
    pub fn home(&self) -> Value {
        let mut labels = self.labels();
        for what in ["enforce", "warn"] {
            labels[format!("pod-security.kubernetes.io/{what}")] = json!("restricted");
        }
        let metadata = json!({ "name": self.namespace(), "labels": labels });
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata })
    }

    pub(super) fn object(&self, kind: &str, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": kind,
            "metadata": { "name": name, "namespace": self.namespace(), "labels": self.labels() },
            "spec": spec,
        })
    }
}

impl ProbeKind {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Datapath => "datapath",
            Self::Seal => "seal",
        }
    }
}
