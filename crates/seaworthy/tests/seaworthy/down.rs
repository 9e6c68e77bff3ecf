//! `down` asks before it removes, and does not call a cluster removed that it
//! does not know.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::rehearsal::Stage;
use crate::workplace::{Ran, Workplace};

/// A cluster in a simulated project, and a folder of somebody who can reach the
/// project and has the cluster's file, but not its state.
struct Elsewhere {
    stage: Stage,
    place: Workplace,
    reach: Vec<String>,
}

impl Elsewhere {
    fn new() -> Self {
        let stage = Stage::new();
        let (exit, text) = stage.rehearse(&["--keep", "--speed", "200", "--until", "network"]);
        assert_eq!(exit, 0, "{text}");
        let known = stage.place.path().join(".seaworthy/demo.rehearsal-1");
        let world: Value =
            serde_json::from_slice(&fs::read(known.join("world.json")).unwrap()).unwrap();
        let place = Workplace::new();
        fs::copy(known.join("cluster.yaml"), place.path().join("cluster.yaml")).unwrap();
        place.write("token", world["token"].as_str().unwrap());
        let authority = known.join("cloud-ca.pem").display().to_string();
        let endpoint = world["endpoint"].as_str().unwrap();
        let reach =
            ["--cloud-endpoint", endpoint, "--cloud-ca", &authority, "--token-file", "token"];
        let reach = reach.map(str::to_owned).to_vec();
        Self { stage, place, reach }
    }

    fn command(&self, args: &[&str]) -> Command {
        let reach = self.reach.iter().map(String::as_str);
        self.place.command(["down"].into_iter().chain(args.iter().copied()).chain(reach))
    }

    fn down(&self, args: &[&str]) -> Ran {
        let reach = self.reach.iter().map(String::as_str);
        self.place.run(["down"].into_iter().chain(args.iter().copied()).chain(reach))
    }

    /// How many resources the cluster has.
    fn left(&self) -> String {
        let ran = self.stage.place.run(["down", "--rehearsal", "--dry-run"]);
        ran.stdout.lines().last().unwrap_or_default().to_owned()
    }

    fn id(&self) -> String {
        let state = self.stage.place.path().join(".seaworthy/demo.rehearsal-1/cluster.json");
        let file: Value = serde_json::from_slice(&fs::read(state).unwrap()).unwrap();
        file["id"].as_str().unwrap().to_owned()
    }
}

const ALL: &str = "6 to remove, nothing was removed";

#[test]
fn down_without_the_state_of_a_cluster_refuses_and_names_the_ways_on() {
    let cluster = Elsewhere::new();
    let id = cluster.id();
    for args in [&["--yes"][..], &["--dry-run"]] {
        let ran = cluster.down(args);
        assert_eq!(ran.exit, 6, "{ran}");
        let words = "there is no state of demo in .seaworthy/demo, and 6 resources in this \
                     project carry its name";
        assert!(ran.stderr.contains(words), "{ran}");
        let line = ran.stderr.lines().find(|line| line.contains("? network"));
        assert!(line.is_some_and(|it| it.ends_with(&format!("carries the id {id}"))), "{ran}");
        assert!(ran.stderr.contains("`--state-dir DIRECTORY`"), "{ran}");
        assert!(ran.stderr.contains(&format!("`seaworthy down --adopt-id {id} ")), "{ran}");
        assert!(!ran.to_string().contains("Removed"), "{ran}");
    }
    assert!(!cluster.place.path().join(".seaworthy").exists(), "nothing was made");

    let nobody = "00000000-0000-4000-8000-000000000001";
    let ran = cluster.down(&["--yes", "--adopt-id", nobody]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains(&format!("carries the cluster id {nobody}")), "{ran}");
    let ran = cluster.down(&["--adopt-id", &id]);
    assert_eq!(ran.exit, 2, "it has to be confirmed: {ran}");
    assert_eq!(cluster.left(), ALL);
    assert!(!cluster.place.path().join(".seaworthy").exists(), "nothing was made");

    let ran = cluster.down(&["--yes", "--adopt-id", &id]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(cluster.left(), "0 to remove, nothing was removed");
    let ran = cluster.down(&[]);
    assert_eq!(ran.exit, 0, "a second time needs no question: {ran}");
}

/// As after `up` in a fresh checkout, which has made an identity and was refused.
#[test]
fn down_with_the_state_of_another_cluster_of_that_name_refuses() {
    let cluster = Elsewhere::new();
    let state = cluster.place.path().join(".seaworthy/demo");
    fs::create_dir_all(&state).unwrap();
    let other = "00000000-0000-4000-8000-000000000001";
    fs::write(state.join("cluster.json"), format!(r#"{{"id":"{other}"}}"#)).unwrap();
    let ran = cluster.down(&["--yes"]);
    assert_eq!(ran.exit, 6, "{ran}");
    assert!(ran.stderr.contains(&format!("is of another demo, {other}, and 6 resources")), "{ran}");
    let id = cluster.id();
    let ran = cluster.down(&["--yes", "--adopt-id", &id]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("--state-dir .seaworthy-adopted"), "{ran}");
    assert_eq!(cluster.left(), ALL);
    let ran = cluster.down(&["--yes", "--adopt-id", &id, "--state-dir", ".seaworthy-adopted"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert_eq!(cluster.left(), "0 to remove, nothing was removed");
}

#[test]
fn down_asks_for_the_name_of_the_cluster() {
    let cluster = Elsewhere::new();
    let state = cluster.place.path().join(".seaworthy/demo");
    fs::create_dir_all(&state).unwrap();
    let known = cluster.stage.place.path().join(".seaworthy/demo.rehearsal-1/cluster.json");
    fs::copy(known, state.join("cluster.json")).unwrap();

    let ran = cluster.down(&[]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("removes 6 resources for good and needs a confirmation"), "{ran}");
    assert!(ran.stderr.contains("`seaworthy down"), "{ran}");
    assert!(ran.stderr.contains("--yes` does it without asking"), "{ran}");
    for (answer, exit) in [("prod\n", 2), ("\n", 2)] {
        let (ended, said) = in_terminal(cluster.command(&[]), answer);
        assert_eq!(ended, exit, "{said}");
        assert!(said.contains("network         demo"), "{said}");
        assert!(said.contains("Type the cluster's name, demo, to go on:"), "{said}");
        assert!(said.contains("not confirmed: nothing was changed"), "{said}");
    }
    assert_eq!(cluster.left(), ALL);
    let (ended, said) = in_terminal(cluster.command(&[]), "demo\n");
    assert_eq!(ended, 0, "{said}");
    assert_eq!(cluster.left(), "0 to remove, nothing was removed");
}

/// Runs a command with a terminal to ask on, and returns how it ended and what
/// was to be seen.
fn in_terminal(mut command: Command, answer: &str) -> (i32, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name).unwrap();
    command.stdin(theirs.try_clone().unwrap()).stderr(theirs).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut ours = File::from(ours);
    ours.write_all(answer.as_bytes()).unwrap();
    let mut seen = Vec::new();
    // Reading fails, rather than ends, when the other side is closed.
    let _ = ours.read_to_end(&mut seen);
    (child.wait().unwrap().code().unwrap(), String::from_utf8_lossy(&seen).replace('\r', ""))
}
