//! Rehearsals with the real binary: killed, stopped and resumed, with a world
//! that stands in a process of its own meanwhile.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::workplace::Workplace;

/// What a cluster of 3 + 2 consists of: five servers, a network, a firewall, a
/// load balancer, an SSH key and two placement groups.
const ITEMS: &str = "11 to remove";

/// How far the rehearsals go.
const LAST: &str = "proof";

/// A folder in which one cluster is rehearsed; its world ends with it.
pub(crate) struct Stage {
    pub(crate) place: Workplace,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { place: Workplace::new() }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(["rehearse"]);
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn rehearse(&self, args: &[&str]) -> (i32, String) {
        told(&self.command(args).output().unwrap())
    }

    /// Asks the world on its owner's side: exit code, data, words.
    fn sim(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.place.command(["sim"]).args(args).output().unwrap();
        let (exit, words) = told(&output);
        (exit, String::from_utf8_lossy(&output.stdout).into_owned(), words)
    }

    /// Starts it, and waits until its journal holds so many events.
    pub(crate) fn start_until(&self, events: usize) -> Child {
        let before = self.journals().len();
        let mut child = self.command(&["--speed", "200", "--until", LAST]).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            let journals = self.journals();
            let newest = journals.last().filter(|_| journals.len() > before);
            let text = newest.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
            if text.matches('\n').count() > events {
                break;
            }
            pause();
        }
        child
    }

    /// The journals of all rehearsals, oldest first.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        let within = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let rehearsals = within(self.place.path().join(".seaworthy"));
        let mut runs: Vec<_> = rehearsals.flat_map(|it| within(it.path().join("runs"))).collect();
        runs.sort_by_key(fs::DirEntry::file_name);
        runs.into_iter().map(|run| run.path().join("journal.jsonl")).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let folders = fs::read_dir(self.place.path().join(".seaworthy"));
        for folder in folders.into_iter().flatten().flatten() {
            let world = folder.path().join("world.json").display().to_string();
            let mut end = self.place.command(["sim", "end", "--world", &world]);
            let _ = end.stderr(Stdio::null()).status();
        }
    }
}

pub(crate) fn told(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "another process is waited for")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

#[test]
fn a_rehearsal_that_is_killed_and_stopped_goes_on() {
    let stage = Stage::new();
    let (kills, stops) = (20, 5);
    for point in 0..kills {
        let mut child = stage.start_until(3 + point * 11);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for point in 0..stops {
        let child = stage.start_until(20 + point * 40);
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let _ = kill_process(pid, Signal::INT);
        let (exit, text) = told(&child.wait_with_output().unwrap());
        assert!(matches!(exit, 0 | 5), "{exit}: {text}");
    }
    let (exit, text) = stage.rehearse(&["--keep", "--until", LAST]);
    assert_eq!(exit, 0, "{text}");
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains(ITEMS), "exactly one of everything: {text}");
    assert!(text.contains("Removed demo"), "{text}");
    println!("killed at {kills} points, stopped at {stops}, and resumed");
}

#[test]
fn machines_are_not_touched_by_a_rehearsal() {
    let place = Workplace::new();
    place.write("cluster.yaml", include_str!("../../../spec/tests/bases/machines.yaml"));
    let ran = place.run(["rehearse", "cluster.yaml"]);
    assert_eq!(ran.exit, 2, "{ran}");
    let words = "error: a cluster on machines cannot be rehearsed";
    assert!(ran.stderr.contains(words), "{ran}");
    assert!(!place.path().join(".seaworthy").exists());
}

#[test]
fn a_fault_is_told_and_nothing_is_left() {
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--speed", "200", "--fault", "lb-no-healthy-target"]);
    assert_eq!(exit, 3, "{text}");
    assert!(text.contains("error[SW0307]: the load balancer has no healthy target"), "{text}");
    assert!(text.contains("this was a rehearsal: nothing real was made"), "{text}");
    assert!(!text.contains("goes on from here"), "its world has ended: {text}");
    assert!(!stage.place.path().join(".seaworthy/demo.rehearsal-1/world.json").exists());
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("no rehearsed world of demo stands"), "{text}");
}

/// A run fails, what is broken is mended while the world stands, and the next
/// run goes on to the end.
#[test]
fn a_fault_that_is_mended_lets_the_rehearsal_go_on() {
    const FAULT: &str = "csi-missing-on-one-node";
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--keep", "--fault", FAULT]);
    assert_eq!(exit, 3, "{text}");
    assert!(text.contains("error[SW0431]"), "{text}");
    let world = ".seaworthy/demo.rehearsal-1/world.json";
    assert!(
        text.contains(&format!("seaworthy sim fault --mend {FAULT} --world {world}")),
        "{text}"
    );
    let faults = stage.sim(&["fault", "-o", "json"]).1;
    let faults: serde_json::Value = serde_json::from_str(&faults).unwrap();
    let struck = faults.as_array().unwrap().iter().filter(|it| it["struck"] == true);
    assert_eq!(struck.map(|it| it["name"].as_str().unwrap()).collect::<Vec<_>>(), [FAULT]);
    let (exit, _, text) = stage.sim(&["fault", "--mend", FAULT]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains(&format!("Mended {FAULT}")), "{text}");
    let (exit, _, text) = stage.sim(&["fault", "--mend", FAULT]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains(&format!("Unharmed {FAULT}")), "a second time changes nothing: {text}");
    let (exit, text) = stage.rehearse(&["--keep"]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("Proven demo"), "{text}");
    let counters: serde_json::Value =
        serde_json::from_str(&stage.sim(&["counters", "-o", "json"]).1).unwrap();
    assert_eq!(counters["effects"]["hetzner"]["POST /servers"], 5, "{counters}");
    assert_eq!(counters["effects"]["talos"]["MachineService/Bootstrap"], 1, "{counters}");
    let servers = stage.sim(&["servers"]).1;
    assert_eq!(servers.matches("running").count(), 5, "{servers}");
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 0, "{text}");
    let (exit, _, text) = stage.sim(&["counters"]);
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("no rehearsed world stands"), "{text}");
}

/// A judge that we did not write.
#[test]
fn kubectl_finds_its_way_in_a_kept_cluster() {
    let Some(kubectl) = rig::need::binary("kubectl") else { return };
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--keep", "--speed", "200"]);
    assert_eq!(exit, 0, "{text}");
    let app = stage.place.write("app.yaml", APP);
    let kubeconfig = stage.place.path().join(".seaworthy/demo.rehearsal-1/kubeconfig");
    let ask = |line: &str| {
        let line = line.replace("APP", &app.display().to_string());
        let mut command = Command::new(&kubectl);
        command.arg("--kubeconfig").arg(&kubeconfig).args(line.split_whitespace());
        let output = command.env("HOME", stage.place.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaint.is_empty(), "{line}: {said}{complaint}");
        said
    };
    assert_eq!(ask("get nodes --no-headers").matches(" Ready ").count(), 5);
    assert!(ask("describe node demo-cp-1").contains("ProviderID"));
    assert!(ask("get pods -A --no-headers").lines().all(|line| line.contains("Running")));
    ask("apply -f APP");
    ask("rollout status deployment/web --timeout=60s");
    ask("wait --for=condition=Available deployment/web --timeout=60s");
    assert!(ask("describe deployment web").contains("3 desired"));
    ask("delete -f APP --wait --timeout=60s");
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 0, "{text}");
}

const APP: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "example.com/web:1" }] }
"#;

#[test]
fn a_refusal_of_the_cloud_has_an_exit_code_of_its_own() {
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--speed", "200", "--fault", "server-type-sold-out"]);
    assert_eq!(exit, 4, "{text}");
    assert!(text.contains("error[SW0204]"), "{text}");
}

#[test]
fn a_teardown_that_is_stopped_says_how_it_goes_on() {
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--keep", "--speed", "200", "--until", "etcd"]);
    assert_eq!(exit, 0, "{text}");
    let runs = stage.journals().len();
    let child = stage.command(&["--down"]).spawn().unwrap();
    while stage.journals().len() == runs {
        pause();
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let (exit, text) = told(&child.wait_with_output().unwrap());
    assert_eq!(exit, 5, "{text}");
    let note = "what is left was not touched; `seaworthy rehearse --down` goes on from here";
    assert!(text.contains(note), "{text}");
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("Resuming run"), "{text}");
}

#[test]
fn a_fault_that_there_is_none_of_gets_the_nearest_name() {
    let stage = Stage::new();
    let (exit, text) = stage.rehearse(&["--fault", "lb-no-healthy-targets"]);
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("did you mean `lb-no-healthy-target`?"), "{text}");
}
