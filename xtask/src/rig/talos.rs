//! `cargo xtask rig talos`: a real Talos cluster to look at.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use rig::janitor::Leftover;
use rig::say::{brief, say};
use rig::talos::{Host, Shape, Talos, TalosCluster};

use super::{prepare, wait_for_signal};
use crate::report;

/// Builds what is missing, starts the nodes and waits for Ctrl-C.
pub(super) fn up(shape: Shape, bare: bool, once: bool) -> ExitCode {
    if let Some(obstacle) = Host::obstacle() {
        eprintln!("error: {obstacle}");
        return ExitCode::FAILURE;
    }
    let parts = rig::talos::parts();
    let outcome = prepare(|c| c.tier == 1 || parts.contains(&c.name.as_str()));
    if let Some(name) = outcome.missing.first() {
        eprintln!("error: nothing was started, since {name} is missing");
        return ExitCode::FAILURE;
    }
    let shown = if bare { show_nodes(shape, once) } else { show_cluster(shape, once) };
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(error.as_ref()),
    }
}

fn show_nodes(shape: Shape, once: bool) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let mut talos = Talos::start()?;
    for place in 1..=shape.control_planes + shape.workers {
        let node = talos.add(&format!("node-{place}"))?;
        println!("{}", node.address());
    }
    say("Started", format!("Talos in maintenance mode in {}", brief(began.elapsed())));
    let (talosctl, first) = (talos.talosctl().binary().display(), talos.nodes()[0].address());
    say("Try", format!("{talosctl} get machinestatus --insecure -n {first}"));
    say("Registry", format!("http://{}", talos.registry().host()));
    hold(once)?;
    ended(&talos.end())
}

fn show_cluster(shape: Shape, once: bool) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let Shape { control_planes, workers } = shape;
    say("Starting", format!("Talos, {control_planes} control planes and {workers} workers"));
    let cluster = TalosCluster::start(shape)?;
    say("Ready", format!("all nodes in {}", brief(began.elapsed())));
    println!("{}", cluster.folder().display());
    eprint!("{}", cluster.kubectl().run(&["get", "nodes,pods", "-A", "-o", "wide"])?);
    let (talosctl, folder) =
        (cluster.talos().talosctl().binary().display(), cluster.folder().display());
    let first = cluster.control_planes()[0].address();
    say(
        "Try",
        format!("{talosctl} --talosconfig {folder}/talosconfig -e {first} -n {first} health"),
    );
    hold(once)?;
    ended(&cluster.end())
}

fn hold(once: bool) -> std::io::Result<()> {
    if once {
        return Ok(());
    }
    wait_for_signal()
}

fn ended(left: &[Leftover]) -> Result<(), Box<dyn Error>> {
    for leftover in left {
        say("Left", leftover.to_string());
    }
    if left.is_empty() {
        say("Gone", "all of it");
        return Ok(());
    }
    Err("not everything went away; `cargo xtask rig clean` tries again".into())
}
