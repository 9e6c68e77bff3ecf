//! `talos`: single steps on Talos nodes, whoever made their cluster.

pub(crate) mod authority;
mod probe;

use clap::{Args, Subcommand};

use crate::command_error::CommandError;
use crate::ui::Ui;

/// Look at Talos nodes, whoever made their cluster
#[derive(Args, Debug)]
pub(crate) struct TalosArgs {
    #[command(subcommand)]
    command: TalosCommand,
}

#[derive(Debug, Subcommand)]
enum TalosCommand {
    Probe(probe::ProbeArgs),
}

pub(crate) fn run(args: &TalosArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.command {
        TalosCommand::Probe(args) => probe::run(args, ui),
    }
}
