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

/// Nobody waits longer for an answer, in seconds.
const LONGEST: &str = "60";

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
    // One member of etcd is never missing, nor apart from others.
    let control_planes = if fault.name.starts_with("etcd-") { "count: 3" } else { "count: 1" };
    stage.place.write("small.yaml", SMALL.replacen("count: 1", control_planes, 1));
    let (_, said) =
        stage.rehearse(&["small.yaml", "--keep", "--speed", "60", "--fault", fault.name]);
    let commands = commands(&said);
    if commands.iter().all(|it| it.starts_with("seaworthy explain SW")) {
        return vec![format!("{}: there is nothing to do but read\n{said}", fault.name)];
    }
    let path = programs(&stage.place);
    let tried = commands.iter().filter_map(|it| run(&stage.place, &path, it));
    tried.map(|wrong| format!("{}: {wrong}", fault.name)).collect()
}

/// Takes the commands out of the next steps of a cause: they have single spaces.
fn commands(said: &str) -> Vec<String> {
    let block = said.lines().skip_while(|line| !line.starts_with("  next "));
    let block = block.take_while(|line| line.starts_with("  next ") || line.starts_with("      "));
    let command = |line: &str| {
        let line = line.trim_start().trim_start_matches("next").trim_start();
        line.split("  ").next().unwrap_or_default().to_owned()
    };
    block.map(command).collect()
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

/// Runs a command, and returns what is wrong with it.
fn run(place: &Workplace, path: &str, command: &str) -> Option<String> {
    let program = command.split(' ').next()?;
    if !place.path().join("bin").join(program).exists() {
        return None;
    }
    let mut shell = Command::new("timeout");
    shell.args([LONGEST, "sh", "-c", command]).current_dir(place.path()).env_clear();
    let output = shell.env("PATH", path).env("HOME", place.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let code = output.status.code();
    let works = code == Some(0) || is_an_answer(command, code);
    // What does not wait has nothing to say.
    let says = !said.trim().is_empty() || command.ends_with("--wait=false");
    let shows = says && said.contains(subject(command));
    (!works || !shows).then(|| format!("`{command}` ends with {code:?}: {said}"))
}

/// Says whether a command that ends otherwise has shown what it promised: it looks at
/// what is broken, or tries it again.
fn is_an_answer(command: &str, code: Option<i32>) -> bool {
    let looks = ["plan", "talos probe", "up"].map(|name| format!("seaworthy {name} "));
    let looks = looks.iter().any(|begin| command.starts_with(begin));
    let tries = command.contains(" image pull ");
    // Codes of ours that are no answer are those of wrong usage and of a panic.
    (looks && matches!(code, Some(1 | 3 | 4))) || (tries && code == Some(1))
}

/// Returns what the output of a command must be about, where the command names it.
fn subject(command: &str) -> &str {
    let words: Vec<_> = command.split(' ').collect();
    let after = |word: &str, by: usize| {
        let at = words.iter().position(|it| *it == word)?;
        words.get(at + by).copied()
    };
    let on_cluster = ["plan", "status", "up"].iter().any(|it| words.get(1) == Some(it));
    let probed = after("talos", 2).filter(|_| words.get(2) == Some(&"probe"));
    let named = after("explain", 1).or(after("describe", 2)).or(probed);
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
