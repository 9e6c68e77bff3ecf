//! The command line of seaworthy: reads what was asked, lets a command do it,
//! and turns what came of it into words and an exit code.
//!
//! stdout carries data, stderr talks to people. This crate alone touches the
//! terminal, the environment and the process's exit.

mod access;
mod advice;
mod board;
mod cli;
mod command_error;
mod commands;
mod credentials_file;
mod envelope;
#[cfg(test)]
mod every_key_acts;
mod exit;
mod git_access;
mod git_remote;
mod harmless;
mod inline_manifests;
mod kept;
mod machine_patches;
mod manifest_files;
mod paint;
mod patient;
mod place;
mod proxies;
mod reading;
mod reference;
mod referenced_files;
mod registry_access;
mod rehearsal_claim;
mod rehearsed;
mod run_finder;
mod running;
mod runtime;
mod sealing_key_files;
mod secrets_args;
mod selection;
mod silence;
mod stand_ins;
mod standing;
mod target;
#[cfg(test)]
mod test_keys;
mod ui;
mod waiting;
mod world_file;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::ui::Ui;

pub use crate::reference::{failures, faults, reference};
pub use crate::running::{Order, drive};

/// Reads the command line, does what was asked, and returns how the process ends.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    cli.shared.color.write_global();
    let mut ui = Ui::new(cli.output);
    let on_objects = cli.command.on_objects();
    let exit = match cli.command.run(&cli.shared, &mut ui) {
        Ok(()) => Exit::Done,
        Err(error) => {
            // Where even stderr is gone there is nobody left to tell.
            let _ = error.print(&mut ui.stderr());
            if let Some(command) = on_objects.filter(|_| ui.owes_json()) {
                let _ = envelope::print_error(command, &error, &ui);
            }
            error.exit()
        }
    };
    ExitCode::from(exit.code())
}
