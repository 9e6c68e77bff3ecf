//! Waits for a run's owner to end, then takes away what the run made.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(dir) = env::args_os().nth(1).map(PathBuf::from) else {
        return ExitCode::from(2);
    };
    match rig::warden::stand_guard(&dir) {
        Ok(leftovers) if leftovers.is_empty() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
