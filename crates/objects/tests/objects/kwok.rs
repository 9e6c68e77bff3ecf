//! A control plane with a node on which pods pretend to run.

use std::fs;
use std::process::{Child, Command, Stdio};

use rig::{ControlPlane, need};
use tempfile::TempDir;

/// A control plane of the test's own, with kwok and one node. What becomes of
/// a pod stands in its label `fate`: `ready` (also without the label), `image`,
/// `crash`, `done`, `fail` or `never`.
pub(crate) struct Yard {
    pub(crate) plane: ControlPlane,
    kwok: Child,
    _folder: TempDir,
}

impl Yard {
    #[track_caller]
    pub(crate) fn open() -> Option<Self> {
        let kwok = need::binary("kwok")?;
        let plane = need::control_plane()?;
        let folder = tempfile::tempdir().unwrap();
        let stages = folder.path().join("stages.yaml");
        fs::write(&stages, stages_text()).unwrap();
        // The shell ends it when this process does, however it ends.
        let script = "\"$0\" \"$@\" </dev/null & child=$!; read wait; kill $child; wait $child";
        let log = fs::File::create(folder.path().join("kwok.log")).unwrap();
        let kwok = Command::new("sh")
            .args(["-c", script])
            .arg(kwok)
            .arg(format!("--kubeconfig={}", plane.access().kubeconfig().display()))
            .arg(format!("--config={}", stages.display()))
            .arg("--manage-all-nodes=true")
            .arg("--server-address=127.0.0.1:0")
            .arg("--node-lease-duration-seconds=40")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let yard = Self { plane, kwok, _folder: folder };
        // A kubelet would set the labels, and real workloads select by them.
        let node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: pretender\n  \
                    labels: {kubernetes.io/os: linux, kubernetes.io/hostname: pretender}\n";
        yard.plane.kubectl().apply(node).unwrap();
        let ready = ["wait", "node/pretender", "--for=condition=Ready", "--timeout=60s"];
        yard.plane.kubectl().run(&ready).unwrap();
        Some(yard)
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        drop(self.kwok.stdin.take());
        let _ = self.kwok.wait();
    }
}

fn stages_text() -> String {
    let node = stage(
        "node",
        "Node",
        "matchExpressions: [{key: '.status.phase', operator: 'NotIn', values: ['Running']}]",
        "statusTemplate: |
      phase: Running
      allocatable: {cpu: 1k, memory: 1Ti, pods: 1M}
      capacity: {cpu: 1k, memory: 1Ti, pods: 1M}
      conditions:
      - {type: Ready, status: \"True\", reason: KubeletReady, message: pretends}",
    );
    let running = "phase: Running
      conditions:
      - {type: Initialized, status: \"True\"}
      - {type: Ready, status: \"True\"}
      - {type: ContainersReady, status: \"True\"}
      containerStatuses:
      {{ range .spec.containers }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: true, restartCount: 0, state: {running: {startedAt: {{ Now | Quote }}}}}
      {{ end }}
      {{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) .metadata.uid .metadata.name .metadata.namespace }}
      podIP: {{ index . 0 | Quote }}
      podIPs: [{ip: {{ index . 0 | Quote }}}]
      {{ end }}";
    let waiting = |reason: &str, last: &str| {
        format!(
            "phase: Pending
      conditions:
      - {{type: Ready, status: \"False\", reason: ContainersNotReady}}
      containerStatuses:
      {{{{ range .spec.containers }}}}
      - {{name: {{{{ .name | Quote }}}}, image: {{{{ .image | Quote }}}}, ready: false, restartCount: 3, state: {{waiting: {{reason: {reason}, message: as told}}}}{last}}}
      {{{{ end }}}}"
        )
    };
    let ended = |phase: &str, code: u8| {
        format!(
            "phase: {phase}
      containerStatuses:
      {{{{ range .spec.containers }}}}
      - {{name: {{{{ .name | Quote }}}}, image: {{{{ .image | Quote }}}}, ready: false, restartCount: 0, state: {{terminated: {{exitCode: {code}, reason: Ended}}}}}}
      {{{{ end }}}}"
        )
    };
    let fates = [
        ("ready", running.to_owned()),
        ("image", waiting("ImagePullBackOff", "")),
        (
            "crash",
            waiting("CrashLoopBackOff", ", lastState: {terminated: {exitCode: 3, reason: Error}}"),
        ),
        ("done", ended("Succeeded", 0)),
        ("fail", ended("Failed", 1)),
    ];
    let pods = fates.iter().map(|(fate, status)| {
        let selector = format!(
            "matchExpressions: [{{key: '.metadata.deletionTimestamp', operator: DoesNotExist}}, \
             {{key: '.status.phase', operator: In, values: [Pending]}}, \
             {{key: '.status.containerStatuses', operator: DoesNotExist}}, \
             {{key: '.metadata.labels.fate // \"ready\"', operator: In, values: [{fate}]}}]"
        );
        stage(
            &format!("pod-{fate}"),
            "Pod",
            &selector,
            &format!("statusTemplate: |\n      {status}"),
        )
    });
    let delete = stage(
        "pod-delete",
        "Pod",
        "matchExpressions: [{key: '.metadata.deletionTimestamp', operator: Exists}]",
        "delete: true",
    );
    let all: Vec<String> = [node].into_iter().chain(pods).chain([delete]).collect();
    all.join("---\n")
}

fn stage(name: &str, kind: &str, selector: &str, next: &str) -> String {
    format!(
        "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {{name: {name}}}\nspec:\n  \
         resourceRef: {{apiGroup: v1, kind: {kind}}}\n  selector:\n    {selector}\n  next:\n    {next}\n"
    )
}
