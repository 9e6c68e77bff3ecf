//! Simulated worlds that several commands want at once, that died, or whose
//! files were left by others.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::rehearsal::{Stage, told};
use crate::workplace::Workplace;

/// The shortest rehearsal that there is.
const SHORT: [&str; 4] = ["--speed", "200", "--until", "preflight"];

/// Returns the commands that a text tells to try.
fn commands(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).map(|it| it.strip_prefix("Try it ").unwrap_or(it));
    lines.filter(|it| it.starts_with("seaworthy ")).map(str::to_owned).collect()
}

fn rehearsals(place: &Workplace) -> Vec<String> {
    let entries = fs::read_dir(place.path().join(".seaworthy")).unwrap();
    let mut names: Vec<_> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn rehearse_five_times_at_once_makes_one_world() {
    let stage = Stage::new();
    let args: Vec<&str> = SHORT.iter().copied().chain(["--keep"]).collect();
    let children: Vec<_> = (0..5).map(|_| stage.command(&args).spawn().unwrap()).collect();
    let ends: Vec<_> =
        children.into_iter().map(|child| told(&child.wait_with_output().unwrap())).collect();
    // One that comes late finds the world of the first, and goes on in it.
    assert!(ends.iter().any(|(exit, _)| *exit == 0), "{ends:?}");
    for (_, text) in ends.iter().filter(|(exit, _)| *exit != 0) {
        assert!(
            text.contains(
                "error: another run holds .seaworthy/demo.rehearsal-1/lock: `seaworthy rehearse"
            ),
            "{text}"
        );
    }
    assert!(ends.iter().all(|(exit, _)| [0, 2].contains(exit)), "{ends:?}");
    assert_eq!(rehearsals(&stage.place), ["demo.rehearsal-1"]);
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 0, "{text}");
}

#[test]
fn rehearse_leaves_the_world_of_a_run_under_way_alone() {
    let stage = Stage::new();
    let mut first = stage.start_until(10);
    for args in [&["--down"][..], &["--fault", "lb-no-healthy-target"], &[]] {
        let (exit, text) = stage.rehearse(args);
        assert_eq!(exit, 2, "{text}");
        assert!(text.contains(&format!("process {}", first.id())), "{text}");
    }
    for args in [&["up", "--rehearsal"][..], &["down", "--rehearsal"]] {
        let ran = stage.place.run(args);
        assert_eq!(ran.exit, 2, "{ran}");
    }
    assert_eq!(first.wait().unwrap().code(), Some(0));
}

/// The process that a file names may be anybody's by now.
#[test]
fn rehearse_signals_no_process_that_it_did_not_start() {
    let stage = Stage::new();
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let folder = stage.place.path().join(".seaworthy/demo.rehearsal-1");
    fs::create_dir_all(&folder).unwrap();
    let left = json!({ "pid": other.id(), "endpoint": "https://127.0.0.1:9", "token": "t",
        "authority": "", "speed": 30, "admin": folder.join("world.sock") });
    fs::write(folder.join("world.json"), left.to_string()).unwrap();
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("no rehearsed world of demo stands"), "{text}");
    let (exit, text) = stage.rehearse(&SHORT);
    assert_eq!(exit, 0, "{text}");
    assert_eq!(rehearsals(&stage.place), ["demo.rehearsal-1", "demo.rehearsal-2"]);
    assert!(other.try_wait().unwrap().is_none(), "it still runs");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn rehearse_prints_commands_that_mean_its_own_cluster() {
    let stage = Stage::new();
    let demo = include_str!("../../src/commands/demo.yaml");
    let file = stage.place.write("my prod.yaml", demo.replacen("name: demo", "name: prod", 1));
    let file = file.display().to_string();
    let args: Vec<&str> = SHORT.iter().copied().chain(["--keep"]).collect();
    assert_eq!(stage.rehearse(&args).0, 0);
    let of_prod: Vec<&str> = [file.as_str()].into_iter().chain(args).collect();
    let (exit, text) = stage.rehearse(&of_prod);
    assert_eq!(exit, 0, "{text}");
    let commands = commands(&text);
    assert!(commands.len() >= 2, "{text}");
    for command in commands.iter().rev() {
        let ran = shell(&stage.place, command);
        assert!(ran.0 == 0, "{command}: {}", ran.1);
    }
    assert!(commands[0].contains("--down"), "{text}");
    let (exit, text) = shell(&stage.place, "seaworthy status --rehearsal");
    assert_eq!(exit, 0, "demo stands as before: {text}");
    assert!(text.contains("demo: "), "{text}");
}

/// Gives a command to a shell, as people paste it.
fn shell(place: &Workplace, command: &str) -> (i32, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_seaworthy"));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(place.path()).env_clear().stdin(Stdio::null());
    shell.env("PATH", binary.parent().unwrap()).env("HOME", place.path());
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap(), said + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn rehearse_clean_removes_what_is_over_and_leaves_what_runs() {
    let stage = Stage::new();
    for _ in 0..3 {
        assert_eq!(stage.rehearse(&SHORT).0, 0);
    }
    let args: Vec<&str> = SHORT.iter().copied().chain(["--keep"]).collect();
    let (exit, text) = stage.rehearse(&args);
    assert_eq!(exit, 0, "{text}");
    let note = "3 earlier rehearsals lie in .seaworthy, with reports and keys; \
                `seaworthy rehearse --clean` removes them";
    assert!(text.contains(note), "{text}");
    let (exit, text) = stage.rehearse(&["--clean"]);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("demo.rehearsal-4: its world runs"), "{text}");
    assert!(text.contains("Cleaned 3 rehearsals"), "{text}");
    assert_eq!(rehearsals(&stage.place), ["demo.rehearsal-4"]);
    let (exit, text) = stage.rehearse(&["--down"]);
    assert_eq!(exit, 0, "{text}");
}

#[test]
fn sim_leaves_files_alone_that_are_not_its_own() {
    let place = Workplace::new();
    place.write("notes.txt", "mine");
    let ran = place.run(["sim", "--world", "notes.txt"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("notes.txt is a file that no world has written"), "{ran}");
    place.write("world.sock", "mine");
    let ran = place.run(["sim"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("world.sock: it is no socket"), "{ran}");
    assert_eq!([place.read("notes.txt"), place.read("world.sock")], ["mine", "mine"]);
}

#[test]
fn rehearse_takes_its_flags_in_any_order() {
    let place = Workplace::new();
    for args in
        [["rehearse", "--list-faults", "-o", "json"], ["rehearse", "-o", "json", "--list-faults"]]
    {
        let ran = place.run(args);
        assert!(ran.exit == 0 && ran.stdout.starts_with('['), "{ran}");
    }
    for args in [&["rehearse", "--speed", "0"][..], &["sim", "--speed", "0"]] {
        let ran = place.run(args);
        assert_eq!(ran.exit, 2, "{ran}");
        assert!(ran.stderr.contains("invalid value '0' for '--speed <FACTOR>'"), "{ran}");
    }
    assert!(!place.path().join(".seaworthy").exists());
}

/// Whoever rehearses may have a real token at hand; the simulator has no use for it.
#[cfg(target_os = "linux")]
#[test]
fn rehearse_keeps_the_environment_from_the_simulator() {
    let stage = Stage::new();
    let mut command = stage.command(&["--keep", "--speed", "200", "--until", "preflight"]);
    let (exit, text) = told(&command.env("HCLOUD_TOKEN", "a-real-token").output().unwrap());
    assert_eq!(exit, 0, "{text}");
    let world = stage.place.read(".seaworthy/demo.rehearsal-1/world.json");
    let world: serde_json::Value = serde_json::from_str(&world).unwrap();
    let given = fs::read(format!("/proc/{}/environ", world["pid"])).unwrap();
    assert_eq!(String::from_utf8_lossy(&given), "");

    let ran = stage.place.run(["sim", "fault", "image-missing"]);
    assert!(ran.stderr.contains("Armed image-missing: "), "{ran}");
    assert!(ran.stderr.contains("it acts on servers that are ordered from now on"), "{ran}");
    let ran = stage.place.run(["sim", "fault", "egress-blocked"]);
    assert!(ran.stderr.contains("Struck egress-blocked: "), "{ran}");
}

/// A file that cannot be written whole leaves nothing: it may hold keys.
#[test]
fn rehearse_leaves_no_partial_files_on_a_full_disk() {
    let place = Workplace::new();
    let binary = env!("CARGO_BIN_EXE_seaworthy");
    let mut shell = Command::new("/bin/sh");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {binary} rehearse --until preflight");
    shell.args(["-c", &script]).current_dir(place.path()).env_clear().env("HOME", place.path());
    let (exit, text) = told(&shell.stdin(Stdio::null()).output().unwrap());
    assert_eq!(exit, 1, "{text}");
    for folder in [".seaworthy", ".seaworthy/demo.rehearsal-1"] {
        let entries = fs::read_dir(place.path().join(folder)).unwrap();
        let names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        assert!(names.iter().all(|it| !it.to_string_lossy().ends_with(".partial")), "{names:?}");
    }
}
