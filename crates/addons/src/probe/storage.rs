//! A volume that is written, and read by another container.

use events::RunId;
use serde_json::{Value, json};

use super::{Mark, ProbeKind};
use crate::manifest::restricted;

/// The objects that prove a storage class.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The run that probes.
    pub run: RunId,
    /// The class to prove.
    pub storage_class: String,
    /// The size, which clouds have a least one for.
    pub size: String,
    /// An image with a shell.
    pub image: String,
}

impl Storage {
    /// The name of the claim and of the pod.
    pub const NAME: &'static str = "probe";

    /// Returns what it is found by.
    pub fn mark(&self) -> Mark {
        Mark { run: self.run, kind: ProbeKind::Storage }
    }

    /// Returns the objects in the order in which they are made.
    pub fn objects(&self) -> Vec<Value> {
        let mark = self.mark();
        vec![
            mark.home(),
            mark.object("PersistentVolumeClaim", Self::NAME, &self.claim()),
            mark.object("Pod", Self::NAME, &self.pod()),
        ]
    }

    fn claim(&self) -> Value {
        json!({
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": self.storage_class,
            "resources": { "requests": { "storage": self.size } },
        })
    }

    /// It succeeds only if what one container wrote another one reads.
    fn pod(&self) -> Value {
        let word = self.run;
        let write = format!("echo {word} > /volume/probe && sync");
        let read = format!("test \"$(cat /volume/probe)\" = {word}");
        json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "securityContext": { "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532 },
            "initContainers": [self.container("write", &write)],
            "containers": [self.container("read", &read)],
            "volumes": [{ "name": "volume", "persistentVolumeClaim": { "claimName": Self::NAME } }],
        })
    }

    fn container(&self, name: &str, script: &str) -> Value {
        json!({
            "name": name,
            "image": self.image,
            "command": ["/bin/sh", "-ec", script],
            "securityContext": restricted(),
            "volumeMounts": [{ "name": "volume", "mountPath": "/volume" }],
        })
    }
}
