//! `cargo xtask ci`: what must hold before anything is merged.

use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Args;
use rig::builder::find;
use rig::component::catalogue;
use rig::say::{brief, say};
use rig::settings::Settings;

use crate::test::Test;
use crate::{cargo, report};

/// Check the format, lints and documentation, then run the tests.
#[derive(Debug, Args)]
pub(crate) struct Ci {
    /// Add tier 3 to the tests, real Talos, even where it must be built first.
    #[arg(long)]
    all: bool,
}

impl Ci {
    pub(crate) fn run(&self) -> ExitCode {
        for (name, mut command) in checks() {
            let began = Instant::now();
            say("Checking", name);
            match command.status() {
                Ok(status) if status.success() => {
                    say("Passed", format!("{name} in {}", brief(began.elapsed())));
                }
                Ok(_) => {
                    eprintln!("error: {name} failed");
                    return ExitCode::FAILURE;
                }
                Err(error) => return report(&error),
            }
        }
        Test::for_ci(self.all || third_tier_is_built()).run()
    }
}

/// Says whether tier 3 costs nothing more than running its tests.
fn third_tier_is_built() -> bool {
    let mut third = catalogue().iter().filter(|component| component.tier == 3).peekable();
    let is_built = |component| matches!(find(component, Settings::get()), Ok(Some(_)));
    third.peek().is_some() && third.all(is_built)
}

fn checks() -> [(&'static str, Command); 3] {
    let command = |args: &[&str]| {
        let mut command = cargo();
        command.args(args);
        command
    };
    let lints = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    let mut docs = command(&["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    [
        ("format", command(&["fmt", "--all", "--check"])),
        ("lints", command(&lints)),
        ("documentation", docs),
    ]
}
