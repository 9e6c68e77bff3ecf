//! `cargo xtask bench voyage`: what a rehearsal costs, and how near `up` comes
//! to its critical path.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rig::say::say;
use serde_json::Value;

use super::critical_path::critical_path;
use crate::cargo;

/// The speed of `rehearse` where nothing else is asked for.
const USUAL_SPEED: u32 = 30;

/// Slow enough that what this machine computes hardly counts as simulated time.
const CAREFUL_SPEED: u32 = 5;

/// One rehearsal, measured.
struct Measured {
    wall: Duration,
    simulated: Duration,
    critical: Duration,
    /// The most memory that the two processes had, in KiB.
    ours: u64,
    world: u64,
}

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    say("Building", "seaworthy, in the release profile");
    let status = cargo().args(["build", "--release", "--package", "seaworthy"]).status()?;
    if !status.success() {
        return Err("seaworthy does not build".into());
    }
    let scratch = tempfile::tempdir()?;
    let usual = rehearse(scratch.path(), 2, USUAL_SPEED)?;
    usual.print("3 + 2 at the usual speed");
    println!("  wall {:.1} s (aim 15 s)", usual.wall.as_secs_f64());
    let total = (usual.ours + usual.world) / 1024;
    println!("  memory of both {total} MB (limit 300 MB)");
    let small = rehearse(scratch.path(), 1, CAREFUL_SPEED)?;
    small.print("3 + 1, slowly");
    let large = rehearse(scratch.path(), 50, CAREFUL_SPEED)?;
    large.print("3 + 50, slowly");
    let over = large.simulated.as_secs_f64() / large.critical.as_secs_f64();
    println!("  3 + 50 over its critical path: {over:.3} (goal 1.05)");
    let over = large.simulated.as_secs_f64() / small.simulated.as_secs_f64();
    println!("  3 + 50 over 3 + 1: {over:.3}");
    Ok(())
}

impl Measured {
    fn print(&self, what: &str) {
        println!("{what}");
        println!(
            "  {:.1} s simulated, critical path {:.1} s; memory {} MB + {} MB for the world",
            self.simulated.as_secs_f64(),
            self.critical.as_secs_f64(),
            self.ours / 1024,
            self.world / 1024,
        );
    }
}

fn rehearse(scratch: &Path, workers: u32, speed: u32) -> Result<Measured, Box<dyn Error>> {
    say("Rehearsing", format!("3 + {workers} at speed {speed}"));
    let folder = scratch.join(format!("{workers}-{speed}"));
    fs::create_dir(&folder)?;
    fs::write(folder.join("cluster.yaml"), cluster_file(workers))?;
    let began = Instant::now();
    let child = seaworthy(&folder, &["--keep", "--speed", &speed.to_string()]).spawn()?;
    let (status, ours, world) = watch(child, &folder)?;
    let wall = began.elapsed();
    // The world is ended whatever came of the run.
    let ended = seaworthy(&folder, &["--down"]).status()?;
    if !status.success() || !ended.success() {
        return Err(format!("3 + {workers} was not proven ({status}, then {ended})").into());
    }
    let (plan, report) = read(&folder)?;
    let elapsed = Duration::from_millis(report["elapsed_ms"].as_u64().unwrap_or_default());
    let critical = critical_path(&plan, &report).ok_or("the report lacks a unit of the plan")?;
    let critical = Duration::from_millis(critical) * speed;
    Ok(Measured { wall, simulated: elapsed * speed, critical, ours, world })
}

fn seaworthy(folder: &Path, args: &[&str]) -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(root_target, PathBuf::from);
    let mut command = Command::new(target.join("release/seaworthy"));
    command.arg("rehearse").arg("cluster.yaml").args(args).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn root_target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")
}

/// Waits for the run, and takes note of the most memory that it and its world had.
fn watch(mut child: Child, folder: &Path) -> Result<(ExitStatus, u64, u64), Box<dyn Error>> {
    let (mut ours, mut world) = (0, 0);
    loop {
        ours = peak(u64::from(child.id())).unwrap_or(ours);
        world = world_of(folder).and_then(peak).unwrap_or(world);
        if let Some(status) = child.try_wait()? {
            return Ok((status, ours, world));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the most memory that a process ever had, in KiB.
fn peak(process: u64) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn world_of(folder: &Path) -> Option<u64> {
    let text = fs::read(state(folder).join("world.json")).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?["pid"].as_u64()
}

fn state(folder: &Path) -> PathBuf {
    folder.join(".seaworthy/bench.rehearsal-1")
}

/// Reads the plan and the report of the run that went up, which is the first.
fn read(folder: &Path) -> Result<(Value, Value), Box<dyn Error>> {
    let runs = fs::read_dir(state(folder).join("runs"))?;
    let mut runs: Vec<PathBuf> = runs.flatten().map(|entry| entry.path()).collect();
    runs.sort();
    let run = runs.first().ok_or("there is no run")?;
    let journal = fs::read_to_string(run.join("journal.jsonl"))?;
    let first: Value = serde_json::from_str(journal.lines().nth(1).unwrap_or_default())?;
    let report = serde_json::from_slice(&fs::read(run.join("report.json"))?)?;
    Ok((first["event"]["what"]["plan"].clone(), report))
}

fn cluster_file(workers: u32) -> String {
    format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: bench }}
spec:
  cloud:
    hetzner: {{ location: fsn1, network: 10.0.0.0/16 }}
  talos: {{ version: v1.14.1 }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{ count: 3, type: cax11 }}
  pools:
    - {{ name: workers, count: {workers}, type: cax21 }}
  addons:
    cilium: {{}}
    hcloud-ccm: {{}}
    hcloud-csi: {{}}
    sealed-secrets: {{}}
    flux: {{ repository: \"https://git.example.com/fleet.git\", branch: main, path: clusters/bench }}
"
    )
}
