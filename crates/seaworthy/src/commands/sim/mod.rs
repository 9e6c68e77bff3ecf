//! `sim`: a simulated world in a process of its own, and its owner's side.

mod counters;
mod end;
mod fault;
mod serve;
mod servers;

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use lifecycle::Invocation;
use sim::admin::{self, Answer, Place, Question};

use super::state_dir;
use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::standing::{self, Reach};
use crate::ui::Ui;
use crate::world_file;

pub(crate) use fault::{named, struck};

/// Run a simulated world: a cloud whose servers are Talos nodes, and Kubernetes on them
///
/// It listens on loopback addresses only, and runs until it is ended. `rehearse`
/// starts one by itself; this is for those who want to look at it with other
/// clients. What it takes to reach it is written to a file. The commands below
/// talk to a world that stands, out of sight of its clients.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SimArgs {
    #[command(subcommand)]
    command: Option<SimCommand>,

    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Debug, Subcommand)]
enum SimCommand {
    Fault(fault::FaultArgs),
    /// Tell how often what happened in a world: requests, changes, answers lost
    Counters(WorldArgs),
    /// List the servers of a world, and how far the nodes on them have come
    Servers(WorldArgs),
    /// End a world with all that is in it
    End(WorldArgs),
}

#[derive(Args, Debug)]
struct WorldArgs {
    /// The file that says how to reach the world [default: the rehearsal that stands]
    #[arg(long, value_name = "FILE")]
    world: Option<PathBuf>,
}

pub(crate) fn run(args: &SimArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    match &args.command {
        None => serve::run(&args.serve, ui),
        Some(SimCommand::Fault(args)) => fault::run(args, shared, ui),
        Some(SimCommand::Counters(args)) => counters::run(&args.reach(shared)?, ui),
        Some(SimCommand::Servers(args)) => servers::run(&args.reach(shared)?, ui),
        Some(SimCommand::End(args)) => end::run(&args.reach(shared)?, ui),
    }
}

impl WorldArgs {
    /// Finds the world that is meant.
    fn reach(&self, shared: &Shared) -> Result<Reach, CommandError> {
        if let Some(file) = &self.world {
            return world_file::read(file).ok_or_else(|| {
                CommandError::say(Exit::Usage, format!("no world stands at {}", file.display()))
            });
        }
        let state = state_dir(shared.state_dir.as_ref(), "".as_ref());
        let state_dir = shared.state_dir.clone();
        let called = Invocation { state_dir, ..Invocation::default() };
        standing::find(&state, None, &called).map(|(_, reach)| reach)
    }
}

/// Reads how fast a world runs: one that stands still would never be ready.
pub(crate) fn speed() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..)
}

/// Asks a world on its owner's side.
pub(crate) fn ask(reach: &Reach, question: &Question) -> Result<Answer, CommandError> {
    let place = Place::new(&reach.admin);
    admin::ask(&place, question).map_err(|error| {
        CommandError::new(Exit::Internal, &error).hint(format!(
            "its side for faults and counters is the socket {}",
            place.path().display()
        ))
    })
}
