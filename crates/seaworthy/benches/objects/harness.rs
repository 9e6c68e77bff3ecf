//! The contestants, on one control plane, with the same objects.

use std::path::{Path, PathBuf};
use std::process::Command;

use rig::{ControlPlane, FaultyProxy, Kubectl};
use serde_json::{Value, json};

use crate::measure::{self, Cost};
use crate::raw::Work;

/// A control plane, and as many `ConfigMaps` as are wanted in a namespace each.
pub(crate) struct Harness {
    plane: ControlPlane,
    folder: tempfile::TempDir,
    count: usize,
}

impl Harness {
    pub(crate) fn start(count: usize) -> Self {
        let plane = ControlPlane::start().unwrap_or_else(|error| panic!("{error}"));
        Self { plane, folder: tempfile::tempdir().unwrap(), count }
    }

    /// Makes a namespace, and the manifest of the objects in it.
    pub(crate) fn namespace(&self, name: &str) -> Manifest {
        self.namespace_of(name, self.count)
    }

    /// Makes a namespace, and the manifest of so many objects in it.
    pub(crate) fn namespace_of(&self, name: &str, count: usize) -> Manifest {
        self.plane.kubectl().run(&["create", "namespace", name]).unwrap();
        let object = |n: usize| {
            json!({ "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": format!("bench-{n:05}"), "namespace": name,
                    "labels": { "app": "bench" } },
                "data": { "text": "x".repeat(60), "number": n.to_string() } })
        };
        let objects: Vec<Value> = (0..count).map(object).collect();
        let write = |file: &str, text: String| {
            let path = self.folder.path().join(format!("{name}-{file}"));
            std::fs::write(&path, text).unwrap();
            path
        };
        let documents: Vec<String> = objects.iter().map(Value::to_string).collect();
        let yaml = write("all.yaml", documents.join("\n---\n"));
        let list = write("all.json", Value::from(objects).to_string());
        Manifest { namespace: name.to_owned(), yaml, list }
    }

    /// How many objects a namespace has, unless told otherwise.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        self.plane.access().kubeconfig()
    }

    pub(crate) fn kubectl(&self, args: &[&str]) -> Command {
        let mut command = self.plane.kubectl().command();
        command.args(args);
        command
    }

    pub(crate) fn admin(&self) -> &Kubectl {
        self.plane.kubectl()
    }

    /// A proxy that counts what is asked.
    pub(crate) fn counting(&self) -> FaultyProxy {
        FaultyProxy::start(self.plane.access()).unwrap()
    }

    /// The resource versions of all objects of a namespace, in one text.
    pub(crate) fn versions(&self, namespace: &str) -> String {
        let path = "jsonpath={.items[*].metadata.resourceVersion}";
        let args = ["-n", namespace, "get", "cm", "-l", "app=bench", "-o", path];
        self.plane.kubectl().run(&args).unwrap()
    }

    /// A chart that holds the objects, for Helm.
    pub(crate) fn chart(&self, manifest: &Manifest) -> PathBuf {
        let chart = self.folder.path().join(format!("{}-chart", manifest.namespace));
        std::fs::create_dir_all(chart.join("templates")).unwrap();
        let about = "apiVersion: v2\nname: bench\nversion: 1.0.0\n";
        std::fs::write(chart.join("Chart.yaml"), about).unwrap();
        std::fs::copy(&manifest.yaml, chart.join("templates/all.yaml")).unwrap();
        chart
    }
}

/// `seaworthy`, with a way to the API.
pub(crate) fn seaworthy(kubeconfig: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seaworthy"));
    command.env("KUBECONFIG", kubeconfig);
    command
}

/// Objects of one namespace, in the forms that the contestants read.
pub(crate) struct Manifest {
    pub(crate) namespace: String,
    pub(crate) yaml: PathBuf,
    list: PathBuf,
}

impl Manifest {
    /// The raw client.
    pub(crate) fn raw(&self, harness: &Harness, work: Work) -> Cost {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(super::RAW).arg(work.name()).arg(harness.kubeconfig()).arg(&self.list);
        measure::run(&mut command)
    }

    /// `seaworthy` with a command on the manifest.
    pub(crate) fn ours(&self, harness: &Harness, args: &[&str]) -> Cost {
        self.ours_by(harness.kubeconfig(), args)
    }

    /// `seaworthy` with a command on the manifest, by another way to the API.
    pub(crate) fn ours_by(&self, kubeconfig: &Path, args: &[&str]) -> Cost {
        let mut command = seaworthy(kubeconfig);
        measure::run(command.args(args).arg("-f").arg(&self.yaml))
    }

    /// `kubectl` with a command on the manifest.
    pub(crate) fn kubectl(&self, harness: &Harness, args: &[&str]) -> Cost {
        measure::run(harness.kubectl(args).arg("-f").arg(&self.yaml))
    }
}
