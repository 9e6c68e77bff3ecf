//! The commands that a failed run prints are run as they are, in the world that it
//! left: they must work. A few faults are tried with every change; `cargo xtask faults
//! --commands` tries all.

use std::process::Command;

use sim::world::fault::{Expected, FAULTS, Fault};

use crate::rehearsal::Stage;
use crate::workplace::Workplace;

/// Faults whose next steps are of different kinds: a control plane that answers
/// directly, objects, and the cloud.
const FEW: &[&str] = &["coredns-crashing", "lb-no-healthy-target", "server-limit"];

/// A cluster that is there soon.
const SMALL: &str = "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: { name: small }
spec:
  cloud:
    hetzner: { location: fsn1, network: 10.0.0.0/16 }
  talos: { version: v1.14.1 }
  kubernetes: { version: v1.36.3 }
  controlPlane: { count: 1, type: cax11 }
  pools: [{ name: workers, count: 1, type: cax21 }]
  addons:
    cilium: {}
    hcloud-ccm: {}
    hcloud-csi: {}
    sealed-secrets: {}
    metrics-server: {}
    flux: { repository: \"https://git.example.com/fleet.git\", branch: main, path: clusters/small }
";

/// A next step, as it stands in the output.
struct Step {
    command: String,
    tells: String,
}

#[test]
fn printed_commands_work_in_the_world_that_a_failed_run_left() {
    let all = asked_for_all();
    let fails = |fault: &&Fault| fault.expected != Expected::Proven;
    let chosen = FAULTS.iter().filter(fails).filter(|it| all || FEW.contains(&it.name));
    let wrong: Vec<_> = chosen.flat_map(try_out).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what is wrong with the commands that a run with a fault prints.
fn try_out(fault: &Fault) -> Vec<String> {
    let stage = Stage::new();
    stage.place.write("small.yaml", SMALL);
    let (_, said) =
        stage.rehearse(&["small.yaml", "--keep", "--speed", "60", "--fault", fault.name]);
    let steps = steps(&said);
    if steps.iter().all(|step| step.command.starts_with("seaworthy explain SW")) {
        return vec![format!("{}: there is nothing to do but read\n{said}", fault.name)];
    }
    let path = programs(&stage.place);
    let tried = steps.iter().filter_map(|step| run(&stage.place, &path, step));
    tried.map(|wrong| format!("{}: {wrong}", fault.name)).collect()
}

/// Takes the steps out of the block of a cause: commands have single spaces.
fn steps(said: &str) -> Vec<Step> {
    let block = said.lines().skip_while(|line| !line.starts_with("  next "));
    let block = block.take_while(|line| line.starts_with("  next ") || line.starts_with("      "));
    let step = |line: &str| {
        let line = line.trim_start().trim_start_matches("next").trim_start();
        let (command, tells) = line.split_once("  ").unwrap_or((line, ""));
        Step { command: command.to_owned(), tells: tells.trim().to_owned() }
    };
    block.map(step).collect()
}

/// Puts the programs that commands name into a folder, as far as they are there.
fn programs(place: &Workplace) -> String {
    let folder = place.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let link = |from: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(from, folder.join(name)).unwrap();
    };
    link(env!("CARGO_BIN_EXE_seaworthy").as_ref(), "seaworthy");
    for name in ["kubectl", "talosctl"] {
        if let Some(binary) = rig::need::binary(name) {
            link(&binary, name);
        }
    }
    format!("{}:/usr/bin:/bin", folder.display())
}

/// Runs a step, and returns what is wrong with it.
fn run(place: &Workplace, path: &str, step: &Step) -> Option<String> {
    let program = step.command.split(' ').next()?;
    if !place.path().join("bin").join(program).exists() {
        return None;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", &step.command]).current_dir(place.path()).env_clear();
    let output = shell.env("PATH", path).env("HOME", place.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // What goes on meets the same fault; it must be the same cluster.
    let code = output.status.code();
    let goes_on = step.tells.starts_with("goes on");
    // A machine that does not answer is an answer.
    let probes = step.command.starts_with("seaworthy talos probe ");
    let works = code == Some(0) || ((goes_on || probes) && code == Some(1));
    let shows = !said.trim().is_empty() && said.contains(subject(&step.command));
    (!works || !shows).then(|| format!("`{}` ends with {code:?}: {said}", step.command))
}

/// Returns what the output of a command must be about, where the command names it.
fn subject(command: &str) -> &str {
    let words: Vec<_> = command.split(' ').collect();
    let after = |word: &str, by: usize| {
        let at = words.iter().position(|it| *it == word)?;
        words.get(at + by).copied()
    };
    let on_cluster = ["plan", "status", "up"].iter().any(|it| words.get(1) == Some(it));
    let named = after("explain", 1).or(after("describe", 2)).or(after("probe", 1));
    match named {
        Some(named) => named.rsplit('/').next().unwrap_or(named),
        None if on_cluster => "small",
        None => "",
    }
}

#[expect(clippy::disallowed_methods, reason = "a test is asked by its environment")]
fn asked_for_all() -> bool {
    std::env::var_os("SEAWORTHY_PRINTED_COMMANDS").is_some()
}
