//! `rehearse`: the whole way up in a simulated world, through the real clients.

mod closing;

use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Args;
use engine::Claim;
use events::{Code, Plan, Role, private};
use lifecycle::{Ground, Invocation};
use report::terminal::say;
use serde_json::json;
use sim::admin::Question;
use sim::world::fault::{Expected, FAULTS, Fault};
use spec::plan::Stage;
use spec::{By, CloudKind, Cluster};

use super::sim::{ask, named, speed};
use super::{down, palette, read_cluster, state_dir, up};
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::referenced_files::ReferencedFiles;
use crate::rehearsal_claim::{self, ClaimedRehearsal, Cleaned};
use crate::rehearsed::Rehearsed;
use crate::running;
use crate::standing::{self, Reach, WORLD, pause};
use crate::ui::Ui;
use crate::world_file;

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

    /// Inject and clear faults at random moments, and cut power and network of nodes; the same
    /// SEED draws the same events
    #[arg(long, value_name = "SEED", conflicts_with_all = ["list_faults", "down", "clean"])]
    chaos: Option<u64>,

    /// List what can be made to go wrong
    #[arg(long, conflicts_with_all = ["file", "faults", "until", "keep", "down", "clean"])]
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

    /// Remove the folders of rehearsals that are over, with their reports and keys [default: of all
    /// clusters]
    #[arg(long, conflicts_with_all = ["keep", "until", "faults", "down"])]
    clean: bool,

    /// How many simulated seconds pass in a real one
    #[arg(long, value_name = "FACTOR", default_value_t = 30, value_parser = speed())]
    speed: u32,
}

/// A world, and the process that it runs in where this one has started it.
struct World {
    reach: Reach,
    child: Option<Child>,
}

pub(crate) fn run(args: &RehearseArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    if args.list_faults {
        return list(ui);
    }
    let file = args.file.clone().unwrap_or_default();
    let state = state_dir(shared.state_dir.as_ref(), &file);
    let called = args.invocation(shared);
    if args.clean {
        return clean(args, &state, &called, ui);
    }
    let (cluster, bytes) = read(args, ui)?;
    can_be_simulated(&cluster)?;
    let name = cluster.name.as_str();
    if args.down {
        let command = called.rehearse("--down");
        let claimed = rehearsal_claim::standing(&state, name, &command)?;
        let claimed = claimed.ok_or_else(|| standing::none_stands(Some(name), &called))?;
        return take_down(claimed, cluster, bytes, &called, ui);
    }
    let named = args.file.as_ref();
    let files = named.map(|file| ReferencedFiles::read(&cluster, file, &bytes)).transpose()?;
    let command = called.rehearse(&args.options());
    let ClaimedRehearsal { folder, claim, reach } =
        rehearsal_claim::standing_or_new(&state, name, &command)?;
    let rehearsed = Rehearsed { folder, cluster, bytes };
    rehearsed.keep_file()?;
    let stood = reach.is_some();
    let world = match reach {
        Some(reach) => {
            strike(&reach, &args.faults)?;
            World { reach, child: None }
        }
        None => begin(&rehearsed, args)?,
    };
    let told = bring_up(&rehearsed, files, args, &called, &world.reach, claim.clone(), ui);
    let ended = closing::end(&rehearsed, args, &called, world, stood, told, ui);
    // Whoever comes next finds no world that is about to end.
    drop(claim);
    ended?;
    closing::tell_of_old(&state, &rehearsed, &called, ui)
}

fn bring_up(
    rehearsed: &Rehearsed,
    files: Option<ReferencedFiles>,
    args: &RehearseArgs,
    called: &Invocation,
    reach: &Reach,
    claim: Claim,
    ui: &Ui,
) -> Result<(), CommandError> {
    let mut target = rehearsed.target(reach)?.called_as(called.clone());
    if let Some(files) = files {
        files.furnish(target.site_mut());
    }
    let mut order = up::order(target, args.until)?;
    "rehearse".clone_into(&mut order.plan.command);
    order.plan.rerun = Some(called.rehearse(&args.options()));
    order.claim = Some(claim);
    running::run(order, ui).map(|_| ())
}

impl RehearseArgs {
    /// Returns how commands mean this rehearsal.
    fn invocation(&self, shared: &Shared) -> Invocation {
        let (file, state_dir) = (self.file.clone(), shared.state_dir.clone());
        Invocation { file, rehearsal: true, state_dir, ..Invocation::default() }
    }

    /// Returns the options that a rehearsal which goes on is given again: its
    /// world knows its faults and its speed.
    fn options(&self) -> String {
        let until = self.until.map(|stage| format!("--until {}", stage.as_str()));
        let keep = self.keep.then(|| "--keep".to_owned());
        until.into_iter().chain(keep).collect::<Vec<_>>().join(" ")
    }

    /// Returns the options that make a new world go wrong in the same way, and
    /// leave it standing.
    fn options_to_keep(&self) -> String {
        let faults = self.faults.iter().map(|fault| format!(" --fault {}", fault.name));
        let chaos = self.chaos.map(|seed| format!(" --chaos {seed}"));
        format!("--keep{}", faults.chain(chaos).collect::<String>())
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

/// How often a world that was started is looked at before it is given up: a
/// loaded machine may take its time.
const LOOKS: usize = 1200;

/// Starts a world in a process of its own: it outlives this one.
fn begin(rehearsed: &Rehearsed, args: &RehearseArgs) -> Result<World, CommandError> {
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
        let held = lifecycle::addon_objects(&plan, By::Gitops, None)
            .map_err(|error| CommandError::new(Exit::Usage, &error))?;
        let manifests = rehearsed.folder.join("repository.json");
        private::write(&manifests, serde_json::Value::from(held).to_string().as_bytes())?;
        command.arg("--manifests").arg(manifests);
    }
    for fault in &args.faults {
        command.args(["--fault", fault.name]);
    }
    // A world needs nothing of the environment, least of all real credentials.
    command.env_clear();
    if let Some(seed) = args.chaos {
        command.args(["--chaos", &seed.to_string()]);
    }
    // Ctrl-C is for the run, not for the world.
    command.process_group(0).stdin(Stdio::null());
    command.stdout(out.try_clone()?).stderr(out);
    let mut child = command.spawn()?;
    for _ in 0..LOOKS {
        if let Some(reach) = world_file::read(&rehearsed.folder.join(WORLD)) {
            return Ok(World { reach, child: Some(child) });
        }
        if child.try_wait()?.is_some() {
            break;
        }
        pause();
    }
    // Where it has ended already there is nothing to end.
    let _ = child.kill();
    let _ = child.wait();
    let said = fs::read_to_string(&log).unwrap_or_default();
    Err(CommandError::say(
        Exit::Internal,
        format!("the simulated world did not start: {}", said.trim()),
    ))
}

fn take_down(
    claimed: ClaimedRehearsal,
    cluster: Cluster,
    bytes: Vec<u8>,
    called: &Invocation,
    ui: &Ui,
) -> Result<(), CommandError> {
    let ClaimedRehearsal { folder, claim, reach } = claimed;
    let rehearsed = Rehearsed { folder, cluster, bytes };
    let reach = reach.expect("the world of a standing rehearsal runs");
    let target = rehearsed.target(&reach)?.called_as(called.clone());
    let Ground::Hetzner(hetzner) = target.site.ground.clone() else {
        return Err(CommandError::say(Exit::Internal, "only Hetzner is rehearsed"));
    };
    let mut order = down::order(target, hetzner);
    Plan::REHEARSED_TEARDOWN.clone_into(&mut order.plan.command);
    order.plan.rerun = Some(called.rehearse("--down"));
    order.claim = Some(claim.clone());
    running::run(order, ui)?;
    reach.end(None)?;
    drop(claim);
    Ok(())
}

/// Removes what rehearsals have left that are over.
fn clean(
    args: &RehearseArgs,
    state: &Path,
    called: &Invocation,
    ui: &Ui,
) -> Result<(), CommandError> {
    let named = args.file.as_ref().map(|file| read_cluster(file, ui)).transpose()?;
    let name = named.as_ref().map(|(cluster, _)| cluster.name.as_str());
    let Cleaned { removed, left } =
        rehearsal_claim::clean(state, name, &called.rehearse("--clean"))?;
    if ui.output() == Output::Json {
        let left: Vec<_> =
            left.iter().map(|(folder, why)| json!({ "folder": folder, "because": why })).collect();
        return Ok(ui.json(&json!({ "removed": removed, "left": left }))?);
    }
    let mut err = ui.stderr();
    for folder in &removed {
        say(palette(ui), "Removed", &folder.display().to_string(), &mut err)?;
    }
    for (folder, why) in &left {
        say(palette(ui), "Left", &format!("{}: {why}", folder.display()), &mut err)?;
    }
    let words = match removed.len() {
        1 => "1 rehearsal".to_owned(),
        count => format!("{count} rehearsals"),
    };
    Ok(say(palette(ui), "Cleaned", &words, &mut err)?)
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
