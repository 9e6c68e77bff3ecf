//! `sim`, alone: the world itself.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use engine::Chance;
use ipnet::Ipv4Net;
use serde_json::Value;
use sim::admin::{self, Place};
use sim::world::World;
use sim::world::chaos::Chaos;
use sim::world::fault::{Cast, Fault};
use sim::{Clock, Tempo};
use tokio::signal::unix::{SignalKind, signal};

use super::{named, speed};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::runtime;
use crate::standing::Reach;
use crate::ui::Ui;
use crate::world_file::WorldFile;

/// What a world is made with.
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    /// Where to write what it takes to reach the world
    #[arg(long, value_name = "FILE", default_value = "world.json")]
    world: PathBuf,

    /// How many simulated seconds pass in a real one
    #[arg(long, value_name = "FACTOR", default_value_t = 30, value_parser = speed())]
    speed: u32,

    /// Let something go wrong; `rehearse --list-faults` lists what (can be repeated)
    #[arg(long = "fault", value_name = "NAME", value_parser = named)]
    faults: Vec<&'static Fault>,

    /// Inject and clear faults at random moments, drawn from this seed
    #[arg(long, value_name = "SEED")]
    chaos: Option<u64>,

    /// The names of the control planes that will be made, for faults
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide = true)]
    control_planes: Vec<String>,

    /// The names of the workers that will be made, for faults
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide = true)]
    workers: Vec<String>,

    /// A repository that Flux finds, with what its branch points at, such as `main@sha1:…`
    #[arg(long, value_name = "URL", requires = "revision")]
    repository: Option<String>,

    /// What the repository's branch points at
    #[arg(long, value_name = "BRANCH@sha1:COMMIT")]
    revision: Option<String>,

    /// The manifests that the repository holds, as a list in JSON
    #[arg(long, value_name = "FILE", requires = "repository")]
    manifests: Option<PathBuf>,

    /// The versions of Talos that the project holds snapshots of
    #[arg(long, value_name = "VERSION", value_delimiter = ',', default_value = "v1.14.1")]
    talos: Vec<String>,
}

pub(super) fn run(args: &ServeArgs, ui: &Ui) -> Result<(), CommandError> {
    let runtime = runtime::new()?;
    runtime.block_on(serve(args, ui))
}

async fn serve(args: &ServeArgs, ui: &Ui) -> Result<(), CommandError> {
    // First of all: it is held for as long as the world runs, and goes with it.
    let mut file = WorldFile::claim(&args.world)?;
    let chance = Chance::real();
    let (range, _guard) = free_range(&chance)?;
    let token = format!("{:032x}{:032x}", chance.bits(), chance.bits());
    let settings = sim::world::Settings {
        range,
        tempo: Tempo::times(args.speed),
        token: token.clone(),
        clock: Clock::real(),
        seed: 1,
        talos: args.talos.clone(),
        tenants: sim::tenants::Knobs {
            heads: heads(args),
            manifests: manifests(args)?.into_iter().collect(),
            ..Default::default()
        },
    };
    let world =
        World::start(settings).await.map_err(|error| CommandError::new(Exit::Internal, &error))?;
    let cast = Cast { control_planes: args.control_planes.clone(), workers: args.workers.clone() };
    for fault in &args.faults {
        fault.strike(&world, &cast);
    }
    let world = Arc::new(world);
    let _chaos = args.chaos.map(|seed| Chaos::begin(&world, cast.clone(), seed));
    let socket = std::path::absolute(args.world.with_extension("sock"))?;
    // It is served until this function ends.
    let admin = admin::serve(Place::new(&socket), Arc::clone(&world), cast).map_err(|error| {
        let message = format!("could not listen at {}: {error}", socket.display());
        CommandError::say(Exit::Usage, message)
    })?;
    let reach = Reach {
        pid: std::process::id(),
        endpoint: world.hetzner().endpoint(),
        token,
        authority: world.authority().to_owned(),
        speed: args.speed,
        admin: socket,
        file: PathBuf::new(),
    };
    file.write(&reach)?;
    ui.json(&serde_json::json!({ "endpoint": reach.endpoint, "pid": reach.pid }))?;
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = admin.ended() => {}
    }
    Ok(())
}

fn heads(args: &ServeArgs) -> sim::tenants::Heads {
    let revision = args.revision.as_deref().and_then(|it| it.split_once("@sha1:"));
    let known = args.repository.clone().zip(revision);
    let head = known.map(|(url, (branch, commit))| ((url, branch.to_owned()), commit.to_owned()));
    head.into_iter().collect()
}

/// Returns what the repository holds.
fn manifests(args: &ServeArgs) -> Result<Option<(String, Vec<Value>)>, CommandError> {
    let (Some(url), Some(file)) = (&args.repository, &args.manifests) else { return Ok(None) };
    let wrong = |why: String| {
        CommandError::say(Exit::Usage, format!("could not read {}: {why}", file.display()))
    };
    let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let held = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(Some((url.clone(), held)))
}

/// Finds a /24 of the loopback network that no other world has, and keeps it.
fn free_range(chance: &Chance) -> Result<(Ipv4Net, TcpListener), CommandError> {
    for _ in 0..64 {
        let [a, b, ..] = chance.bits().to_be_bytes();
        // 127.0.0.0/16 is everybody's; others may use a few more by habit.
        let address = Ipv4Addr::new(127, a | 0x40, b, 0);
        let guard = Ipv4Addr::new(127, a | 0x40, b, 2);
        if let Ok(listener) = TcpListener::bind((guard, 50_000)) {
            return Ok((Ipv4Net::new_assert(address, 24), listener));
        }
    }
    Err(CommandError::say(Exit::Internal, "no loopback network is free")
        .hint("worlds need Linux, where all of 127.0.0.0/8 is the machine itself"))
}
