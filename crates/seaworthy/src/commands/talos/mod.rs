//! `talos`: single steps on Talos nodes, whoever made their cluster.

pub(crate) mod authority;
mod generate;
mod probe;

use clap::{Args, Subcommand};

use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::ui::Ui;

/// Look at Talos nodes, whoever made their cluster, and write their configs
#[derive(Args, Debug)]
pub(crate) struct TalosArgs {
    #[command(subcommand)]
    command: TalosCommand,
}

#[derive(Debug, Subcommand)]
enum TalosCommand {
    Probe(probe::ProbeArgs),
    Gen(generate::GenArgs),
}

pub(crate) fn run(args: &TalosArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    match &args.command {
        TalosCommand::Probe(args) => probe::run(args, ui),
        TalosCommand::Gen(args) => generate::run(args, shared, ui),
    }
}
