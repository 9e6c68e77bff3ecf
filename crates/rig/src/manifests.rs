//! Manifests that people really install, rendered from their own modules.
//!
//! Each is one YAML text with everything in it but the namespace of a chart,
//! which Helm never writes. Certificates in it are new each time.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::builder::copy_writable;
use crate::component::component;
use crate::need;

/// Cilium on one node, as Talos wants it.
const CILIUM_VALUES: &str = "\
ipam: {mode: kubernetes}
kubeProxyReplacement: true
k8sServiceHost: 127.0.0.1
k8sServicePort: 7445
cgroup: {autoMount: {enabled: false}, hostRoot: /sys/fs/cgroup}
operator: {replicas: 1}
";

/// The parts of Flux that `flux install` brings unless told otherwise.
const FLUX_PARTS: [&str; 5] = [
    "policies",
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
];

/// Returns Cilium with its operator, for the namespace `kube-system`.
#[track_caller]
pub fn cilium() -> Option<String> {
    let (chart, folder) = (need::binary("cilium-chart")?, folder());
    let values = folder.path().join("values.yaml");
    write(&values, CILIUM_VALUES);
    let mut helm = helm("cilium", &chart, "kube-system")?;
    Some(printed(helm.arg("--include-crds").arg("--values").arg(values)))
}

/// Returns cert-manager with its definitions, for the namespace `cert-manager`.
#[track_caller]
pub fn cert_manager() -> Option<String> {
    let (chart, folder) = (need::binary("cert-manager-chart")?, folder());
    copy(&chart, folder.path());
    // The version is only written into the chart when it is published.
    let version = &component("cert-manager-chart").expect("it was found just now").version;
    let about = folder.path().join("Chart.yaml");
    write(&about, &read(&about).replace("ersion: v0.0.0", &format!("ersion: {version}")));
    let mut helm = helm("cert-manager", folder.path(), "cert-manager")?;
    Some(printed(helm.args(["--set", "crds.enabled=true"])))
}

/// Returns the four controllers of Flux with their definitions and their
/// namespace, `flux-system`.
#[track_caller]
pub fn flux() -> Option<String> {
    let (files, folder) = (need::binary("flux-manifests")?, folder());
    let kubectl = need::binary("kubectl")?;
    let here = folder.path();
    copy(&files, here);
    // What belongs to the whole cluster carries the name of the installation.
    let roles = here.join("roles");
    fs::create_dir(&roles).unwrap_or_else(|error| panic!("{}: {error}", roles.display()));
    write(&roles.join("rbac.yaml"), &read(&here.join("rbac.yaml")));
    write(&roles.join("kustomization.yaml"), "nameSuffix: -flux-system\nresources: [rbac.yaml]\n");
    write(
        &here.join("namespace.yaml"),
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n  \
         labels: {app.kubernetes.io/part-of: flux}\n",
    );
    let parts: Vec<String> = FLUX_PARTS.iter().map(|part| format!("{part}.yaml")).collect();
    let resources = format!("[namespace.yaml, roles, {}]", parts.join(", "));
    let whole = format!("namespace: flux-system\nresources: {resources}\n");
    write(&here.join("kustomization.yaml"), &whole);
    Some(printed(Command::new(kubectl).arg("kustomize").arg(here)))
}

#[track_caller]
fn helm(release: &str, chart: &Path, namespace: &str) -> Option<Command> {
    let mut helm = Command::new(need::binary("helm")?);
    let kubernetes = &component("kube-apiserver").expect("the catalogue has it").version;
    helm.args(["template", release]).arg(chart).args(["--namespace", namespace]);
    helm.args(["--kube-version", kubernetes]);
    Some(helm)
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn copy(from: &Path, to: &Path) {
    copy_writable(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("a folder to render in: {error}"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
