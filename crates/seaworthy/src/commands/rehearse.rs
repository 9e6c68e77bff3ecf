//! `rehearse`: the whole way up in a simulated world, through the real clients.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use events::{Code, Plan, Role, private};
use lifecycle::{Ground, Invocation, quoted};
use report::terminal::say;
use sim::admin::Question;
use sim::world::fault::{Expected, FAULTS, Fault};
use spec::plan::Stage;
use spec::{CloudKind, Cluster};

use super::sim::{ask, named, struck};
use super::{down, palette, read_cluster, state_dir, up};
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::rehearsed::Rehearsed;
use crate::running;
use crate::standing::{self, Reach, WORLD, pause};
use crate::ui::Ui;

/// Rehearse bringing a cluster up, in a simulated world
///
/// The same stages, clients and gates as `up`, over real sockets and real TLS,
/// against a simulated cloud with simulated Talos nodes and a simulated
/// Kubernetes on them. Needs no account and costs nothing.
#[derive(Args, Debug)]
pub(crate) struct RehearseArgs {
    /// The cluster file [default: a cluster of 3 + 2 named demo]
    file: Option<PathBuf>,

    /// Let something go wrong, and see how it is told (can be repeated)
    #[arg(long = "fault", value_name = "NAME", value_parser = named)]
    faults: Vec<&'static Fault>,

    /// List what can be made to go wrong
    #[arg(long, exclusive = true)]
    list_faults: bool,

    /// Go only so far, with all that this stage needs
    #[arg(long, value_name = "STAGE", value_parser = Stage::parse)]
    until: Option<Stage>,

    /// Leave the world standing, to look at it with kubectl
    #[arg(long)]
    keep: bool,

    /// Take down the cluster in the world that was left standing
    #[arg(long, conflicts_with_all = ["keep", "until", "faults"])]
    down: bool,

    /// How many simulated seconds pass in a real one
    #[arg(long, value_name = "FACTOR", default_value_t = 30)]
    speed: u32,
}

pub(crate) fn run(args: &RehearseArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    if args.list_faults {
        return list(ui);
    }
    let (cluster, bytes) = read(args, ui)?;
    can_be_simulated(&cluster)?;
    let file = args.file.clone().unwrap_or_default();
    let state = state_dir(shared.state_dir.as_ref(), &file);
    let (folder, standing) = standing::place(&state, cluster.name.as_str())?;
    let rehearsed = Rehearsed { folder, cluster, bytes };
    let called = args.invocation(shared);
    if args.down {
        return take_down(&rehearsed, standing, &called, ui);
    }
    rehearsed.keep_file()?;
    let stood = standing.is_some();
    let reach = match standing {
        Some(reach) => {
            strike(&reach, &args.faults)?;
            reach
        }
        None => begin(&rehearsed, args)?,
    };
    let mut target = rehearsed.target(&reach)?.called_as(called.clone());
    if let Some(file) = &args.file {
        target.furnish(file, &rehearsed.bytes)?;
    }
    let mut order = up::order(target, args.until)?;
    "rehearse".clone_into(&mut order.plan.command);
    order.plan.rerun = Some(called.rehearse(&args.options()));
    let told = running::run(order, ui).map(|_| ());
    end(&rehearsed, args, &called, &reach, stood, told, ui)
}

impl RehearseArgs {
    /// Returns how commands mean this rehearsal.
    fn invocation(&self, shared: &Shared) -> Invocation {
        let (file, state_dir) = (self.file.clone(), shared.state_dir.clone());
        Invocation { file, rehearsal: true, state_dir, ..Invocation::default() }
    }

    /// Returns the options that a rehearsal which goes on is given again.
    fn options(&self) -> String {
        let until = self.until.map(|stage| format!("--until {}", stage.as_str()));
        let keep = self.keep.then(|| "--keep".to_owned());
        until.into_iter().chain(keep).collect::<Vec<_>>().join(" ")
    }
}

/// Machines have addresses of their own: a rehearsal would talk to the real ones.
fn can_be_simulated(cluster: &Cluster) -> Result<(), CommandError> {
    match cluster.cloud.kind() {
        CloudKind::Hetzner => Ok(()),
        other => {
            let message = format!("a cluster on {} cannot be rehearsed", other.as_str());
            Err(CommandError::say(Exit::Usage, message)
                .hint("there is a simulator of Hetzner Cloud only; nothing was done"))
        }
    }
}

/// Reads the cluster file, or the one that is built in.
fn read(args: &RehearseArgs, ui: &Ui) -> Result<(Cluster, Vec<u8>), CommandError> {
    if let Some(file) = &args.file {
        return read_cluster(file, ui);
    }
    let cluster = spec::read("the built-in cluster file", DEMO.as_bytes()).into_cluster();
    let cluster = cluster
        .map_err(|_| CommandError::say(Exit::Internal, "the built-in cluster file is wrong"))?;
    Ok((cluster, DEMO.as_bytes().to_vec()))
}

/// The cluster that is rehearsed where no file is named.
const DEMO: &str = include_str!("demo.yaml");

/// Starts a world in a process of its own: it outlives this one.
fn begin(rehearsed: &Rehearsed, args: &RehearseArgs) -> Result<Reach, CommandError> {
    let log = rehearsed.folder.join("sim.log");
    let out = private::options().write(true).create(true).truncate(true).open(&log)?;
    let plan = spec::Plan::of(&rehearsed.cluster, events::ClusterId::NIL);
    let names = |role| {
        let of_role = plan.nodes.iter().filter(move |node| node.role == role);
        of_role.map(|node| node.name.clone()).collect::<Vec<_>>().join(",")
    };
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["sim", "--speed", &args.speed.to_string(), "--world"])
        .arg(rehearsed.folder.join(WORLD));
    command.args(["--control-planes", &names(Role::ControlPlane)]);
    command.args(["--workers", &names(Role::Worker), "--talos", &plan.talos.to_string()]);
    if let Some(source) = rehearsed.source()? {
        command.args(["--repository", &source.repository, "--revision", &source.revision]);
        let held =
            lifecycle::by_gitops(&plan).map_err(|error| CommandError::new(Exit::Usage, &error))?;
        let manifests = rehearsed.folder.join("repository.json");
        private::write(&manifests, serde_json::Value::from(held).to_string().as_bytes())?;
        command.arg("--manifests").arg(manifests);
    }
    for fault in &args.faults {
        command.args(["--fault", fault.name]);
    }
    // Ctrl-C is for the run, not for the world.
    command.process_group(0).stdin(Stdio::null());
    command.stdout(out.try_clone()?).stderr(out);
    let mut child = command.spawn()?;
    for _ in 0..200 {
        if let Some(reach) = standing::at(&rehearsed.folder.join(WORLD)) {
            return Ok(reach);
        }
        if child.try_wait()?.is_some() {
            break;
        }
        pause();
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    Err(CommandError::say(
        Exit::Internal,
        format!("the simulated world did not start: {}", said.trim()),
    ))
}

/// Ends the world, unless it is wanted, and says how to go on.
fn end(
    rehearsed: &Rehearsed,
    args: &RehearseArgs,
    called: &Invocation,
    reach: &Reach,
    stood: bool,
    told: Result<(), CommandError>,
    ui: &Ui,
) -> Result<(), CommandError> {
    let interrupted = matches!(&told, Err(error) if error.exit() == Exit::Interrupted);
    let mut err = ui.stderr();
    if interrupted {
        let (again, down) = (called.rehearse(&args.options()), called.rehearse("--down"));
        let words = format!("the world waits; `{again}` goes on, `{down}` ends it");
        say(palette(ui), "Standing", &words, &mut err)?;
        return told;
    }
    if !args.keep {
        reach.end();
        if told.is_err() || stood {
            let words = format!("the simulated world; `{}` leaves it", called.rehearse("--keep"));
            say(palette(ui), "Ended", &words, &mut err)?;
        }
        if told.is_ok() && ui.output() == Output::Text {
            say(palette(ui), "Try it", &called.rehearse("--keep"), &mut err)?;
            writeln!(err, "              {}", called.rehearse("--fault lb-no-healthy-target"))?;
        }
        return told;
    }
    say(palette(ui), "Standing", &format!("process {}", reach.pid), &mut err)?;
    say(palette(ui), "Try it", &called.rehearse("--down"), &mut err)?;
    writeln!(err, "              {}", called.on_cluster("status"))?;
    let world = quoted(&rehearsed.folder.join(WORLD).display().to_string());
    for fault in struck(reach).unwrap_or_default() {
        writeln!(err, "              seaworthy sim fault --mend {fault} --world {world}")?;
    }
    // Where the run failed early there is no cluster to look at.
    if let Ok(kubeconfig) = rehearsed.kubeconfig(reach) {
        let look = format!("kubectl --kubeconfig {} get nodes", kubeconfig.display());
        writeln!(err, "              {look}")?;
    }
    told
}

fn take_down(
    rehearsed: &Rehearsed,
    standing: Option<Reach>,
    called: &Invocation,
    ui: &Ui,
) -> Result<(), CommandError> {
    let Some(reach) = standing else {
        let _ = fs::remove_dir(&rehearsed.folder);
        return Err(standing::none_stands());
    };
    let target = rehearsed.target(&reach)?.called_as(called.clone());
    let Ground::Hetzner(hetzner) = target.site.ground.clone() else {
        return Err(CommandError::say(Exit::Internal, "only Hetzner is rehearsed"));
    };
    let mut order = down::order(target, hetzner);
    Plan::REHEARSED_TEARDOWN.clone_into(&mut order.plan.command);
    order.plan.rerun = Some(called.rehearse("--down"));
    let told = running::run(order, ui).map(|_| ());
    if told.is_ok() {
        reach.end();
    }
    told
}

/// Lets things go wrong in a world that stands already.
fn strike(reach: &Reach, faults: &[&'static Fault]) -> Result<(), CommandError> {
    for fault in faults {
        ask(reach, &Question::Strike { fault: fault.name.to_owned() })?;
    }
    Ok(())
}

fn list(ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        let record = |fault: &Fault| serde_json::json!({ "name": fault.name, "does": fault.does, "expected": expected(fault) });
        return Ok(ui.json(&FAULTS.iter().map(record).collect::<Vec<_>>())?);
    }
    let mut out = ui.stdout();
    for fault in FAULTS {
        writeln!(out, "{:<30} {} ({})", fault.name, fault.does, expected(fault))?;
    }
    Ok(())
}

/// Says what a run must make of a fault.
pub(crate) fn expected(fault: &Fault) -> String {
    match fault.expected {
        Expected::Proven => "ends proven".to_owned(),
        Expected::Failed { check, code } => format!("fails at {check} with {}", Code(code)),
        Expected::Refused { stage, code } => format!("is refused in {stage} with {}", Code(code)),
    }
}
