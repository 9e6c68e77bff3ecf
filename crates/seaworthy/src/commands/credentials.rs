//! `kubeconfig` and `talosconfig`: what people speak to a cluster with.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use events::{Secret, private};
use lifecycle::{CredentialsError, Way};

use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::target::TargetArgs;
use crate::ui::Ui;

/// Print an administrator's kubeconfig
///
/// Made from the cluster's secrets bundle; valid for a year. To have it proves
/// nothing about the cluster: `seaworthy verify` does.
#[derive(Args, Debug)]
pub(crate) struct KubeconfigArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Where to reach the API: `lb`, or the name of a node
    #[arg(long, value_name = "lb|NODE", default_value = "lb")]
    endpoint: String,

    /// Write it to a file that only you can read, instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Print an administrator's talosconfig
#[derive(Args, Debug)]
pub(crate) struct TalosconfigArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Write it to a file that only you can read, instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn kubeconfig(
    args: &KubeconfigArgs,
    shared: &Shared,
    ui: &Ui,
) -> Result<(), CommandError> {
    let target = args.target.open(&[], shared, ui)?;
    let way = match args.endpoint.as_str() {
        "lb" => Way::LoadBalancer,
        node => Way::Node(node.to_owned()),
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let made = runtime
        .block_on(lifecycle::kubeconfig(&target.site, &way))
        .map_err(|error| failed(&error))?;
    give(&made, args.out.as_ref(), ui)
}

pub(crate) fn talosconfig(
    args: &TalosconfigArgs,
    shared: &Shared,
    ui: &Ui,
) -> Result<(), CommandError> {
    let target = args.target.open(&[], shared, ui)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let made =
        runtime.block_on(lifecycle::talosconfig(&target.site)).map_err(|error| failed(&error))?;
    give(&made, args.out.as_ref(), ui)
}

fn give(made: &Secret, out: Option<&PathBuf>, ui: &Ui) -> Result<(), CommandError> {
    match out {
        None => Ok(write!(ui.stdout(), "{}", made.reveal())?),
        Some(path) => private::write(path, made.reveal().as_bytes()).map_err(|error| {
            CommandError::say(Exit::Usage, format!("could not write {}: {error}", path.display()))
        }),
    }
}

fn failed(error: &CredentialsError) -> CommandError {
    match error {
        CredentialsError::Bundle(_) => CommandError::new(Exit::Usage, error)
            .hint("the cluster has no secrets yet: `seaworthy up` makes them"),
        CredentialsError::NoAddress { .. } => {
            CommandError::new(Exit::Usage, error).hint("`seaworthy up` brings the cluster up")
        }
        _ => CommandError::new(Exit::Refused, error),
    }
}
