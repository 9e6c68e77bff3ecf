//! `cargo xtask rig`: real components for tests.

mod talos;

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use rig::builder::{BuildError, Found, find, obtain};
use rig::component::{Component, catalogue};
use rig::node::POD_IMAGE;
use rig::say::{about, brief, say};
use rig::settings::Settings;
use rig::talos::Shape;
use rig::{ControlPlane, Kubectl, Node, janitor, run};

use crate::report;

/// Find or build the real components that tests use, or start them.
#[derive(Debug, Args)]
pub(crate) struct Rig {
    #[command(subcommand)]
    command: Option<RigCommand>,
    /// Build up to this tier: 1 is a control plane, 2 adds a node and tools, 3
    /// is Talos.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    tier: u8,
}

#[derive(Debug, Subcommand)]
enum RigCommand {
    /// Start a control plane and print the path of its kubeconfig.
    Up {
        /// Add a node and run a pod on it (needs root).
        #[arg(long)]
        node: bool,
        /// Show that it works and take it away at once.
        #[arg(long)]
        once: bool,
    },
    /// Start a real Talos cluster and print the folder of its files (needs
    /// root and Linux 6.13).
    Talos {
        /// How many control planes.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
        control_planes: u8,
        /// How many workers.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=20))]
        workers: u8,
        /// Leave the nodes in maintenance mode.
        #[arg(long)]
        bare: bool,
        /// Show that it works and take it away at once.
        #[arg(long)]
        once: bool,
    },
    /// Take away what runs that were killed have left.
    Clean,
}

impl Rig {
    pub(crate) fn run(self) -> ExitCode {
        match self.command {
            None => list(self.tier),
            Some(RigCommand::Up { node, once }) => up(node, once),
            Some(RigCommand::Talos { control_planes, workers, bare, once }) => {
                let shape =
                    Shape { control_planes: control_planes.into(), workers: workers.into() };
                talos::up(shape, bare, once)
            }
            Some(RigCommand::Clean) => clean(),
        }
    }
}

/// What became of the components that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Where each component is.
    pub(crate) found: Vec<(&'static Component, Found)>,
    /// The names of those that could not be had; the reason was said.
    pub(crate) missing: Vec<&'static str>,
}

/// Finds or builds components. One that fails does not keep the others from
/// being had.
pub(crate) fn prepare(wanted: impl Fn(&Component) -> bool) -> Outcome {
    let settings = Settings::get();
    let wanted: Vec<&Component> = catalogue().iter().filter(|c| wanted(c)).collect();
    announce(&wanted, settings);
    let mut outcome = Outcome::default();
    let mut said_that_go_is_missing = false;
    for (index, component) in wanted.iter().enumerate() {
        let place = format!("{} of {}", index + 1, wanted.len());
        match obtain(component, settings, &place) {
            Ok(found) => outcome.found.push((component, found)),
            Err(error) => {
                // The same for every component, so once is enough.
                let go_is_missing = matches!(error, BuildError::GoMissing { .. });
                if !(go_is_missing && said_that_go_is_missing) {
                    report(&error);
                }
                said_that_go_is_missing |= go_is_missing;
                outcome.missing.push(&component.name);
            }
        }
    }
    outcome
}

fn announce(wanted: &[&Component], settings: &Settings) {
    let absent = |component: &&&Component| !matches!(find(component, settings), Ok(Some(_)));
    let absent: Vec<&&Component> = wanted.iter().filter(absent).collect();
    if absent.is_empty() {
        return;
    }
    let seconds = absent.iter().map(|component| component.seconds).sum();
    let (count, all) = (absent.len(), wanted.len());
    let estimate = about(seconds);
    say("Preparing", format!("{count} of {all} components ({estimate} on two quiet cores)"));
    say("Cache", settings.cache.display().to_string());
}

fn list(tier: u8) -> ExitCode {
    let outcome = prepare(|component| component.tier <= tier);
    for (component, found) in &outcome.found {
        let whence = match found {
            Found::Given(_) => "given",
            Found::Cached(_) => "cached",
            Found::Installed(_) => "installed",
        };
        let Component { name, version, tier, .. } = component;
        println!("{name:<24} {version:<9} tier {tier}  {whence:<10} {}", found.path().display());
    }
    for name in &outcome.missing {
        println!("{name:<24} missing");
    }
    if outcome.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn up(node: bool, once: bool) -> ExitCode {
    let parts = ["kubelet", "rig-pod", "containerd"];
    let outcome = prepare(|c| c.tier == 1 || node && parts.contains(&c.name.as_str()));
    if let Some(name) = outcome.missing.first() {
        eprintln!("error: nothing was started, since {name} is missing");
        return ExitCode::FAILURE;
    }
    match show(node, once) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(error.as_ref()),
    }
}

fn show(with_node: bool, once: bool) -> Result<(), Box<dyn std::error::Error>> {
    let began = Instant::now();
    say("Starting", "etcd, kube-apiserver, kube-controller-manager, kube-scheduler");
    let plane = ControlPlane::start()?;
    let access = plane.access();
    say("Ready", format!("{} in {}", access.server(), brief(began.elapsed())));
    println!("{}", access.kubeconfig().display());
    let node = if with_node { Some(start_node(&plane)?) } else { None };
    hint(access.kubectl(), access.kubeconfig());
    if !once {
        wait_for_signal()?;
    }
    let began = Instant::now();
    let left = node.map(Node::end).unwrap_or_default();
    drop(plane);
    for leftover in &left {
        say("Left", leftover.to_string());
    }
    if !left.is_empty() {
        return Err("not everything went away; `cargo xtask rig clean` tries again".into());
    }
    say("Gone", format!("in {}", brief(began.elapsed())));
    Ok(())
}

fn start_node(plane: &ControlPlane) -> Result<Node, Box<dyn std::error::Error>> {
    let began = Instant::now();
    say("Starting", "containerd, kubelet");
    let node = Node::start(plane)?;
    say("Ready", format!("node {} in {}", node.name(), brief(began.elapsed())));
    let began = Instant::now();
    let image = format!("--image={POD_IMAGE}");
    let kubectl = plane.kubectl();
    kubectl.run(&[
        "run",
        "hello",
        &image,
        "--image-pull-policy=Never",
        "--port=8080",
        "--",
        "serve",
    ])?;
    await_running(kubectl)?;
    say("Running", format!("pod hello in {}", brief(began.elapsed())));
    eprint!("{}", kubectl.run(&["get", "nodes,pods", "-o", "wide"])?);
    Ok(node)
}

fn await_running(kubectl: &Kubectl) -> Result<(), Box<dyn std::error::Error>> {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        let phase = kubectl.run(&["get", "pod", "hello", "-o", "jsonpath={.status.phase}"])?;
        if phase == "Running" {
            return Ok(());
        }
        if Instant::now() > deadline {
            let why = kubectl.run(&["describe", "pod", "hello"])?;
            return Err(format!("the pod is {phase} after two minutes\n{why}").into());
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn hint(kubectl: &Kubectl, kubeconfig: &Path) {
    let kubectl = kubectl.binary().display();
    let kubeconfig = kubeconfig.display();
    say("Try", format!("{kubectl} --kubeconfig {kubeconfig} get namespaces"));
    say("", format!("{kubectl} --kubeconfig {kubeconfig} get --raw '/readyz?verbose'"));
}

/// Says that it waits once it hears: a Ctrl-C right after these words must not be lost.
fn wait_for_signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut pressed = signal(SignalKind::interrupt())?;
        let mut end = signal(SignalKind::terminate())?;
        say("Waiting", "for Ctrl-C, then all of it goes away");
        tokio::select! {
            _ = pressed.recv() => Ok(()),
            _ = end.recv() => Ok(()),
        }
    })
}

fn clean() -> ExitCode {
    let cleaning = janitor::clean(&run::runs_dir());
    for id in &cleaning.removed {
        say("Removed", format!("run {id}"));
    }
    for id in &cleaning.in_use {
        say("Kept", format!("run {id}, whose owner lives"));
    }
    for leftover in &cleaning.leftovers {
        say("Left", leftover.to_string());
    }
    if cleaning.removed.is_empty() && cleaning.in_use.is_empty() {
        say("Clean", "no run has left anything");
    }
    if cleaning.leftovers.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
