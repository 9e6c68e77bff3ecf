//! `kubeconfig` and `talosconfig`: what people speak to a cluster with, of a
//! cluster of ours or of one that other tools have made.

mod kubeconfig;
mod lifetime;
mod talosconfig;

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;
use engine::Chance;
use events::{Secret, private};
use lifecycle::{CredentialsError, Site};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use talos::secrets::{Bundle, StoreError};

use self::lifetime::Ttl;
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::secrets_args::{Given, SecretsArgs};
use crate::target::{Target, TargetArgs};
use crate::ui::Ui;

pub(crate) use self::kubeconfig::{KubeconfigArgs, run as kubeconfig};
pub(crate) use self::talosconfig::{TalosconfigArgs, run as talosconfig};

/// What a cluster is called whose files do not say it.
const NAMELESS: &str = "talos";

/// What people do who have another cluster than ours.
const OTHERS: &str = "the secrets of another cluster are named with `--secrets` or `--from`";

/// What both files are made with.
#[derive(Args, Debug)]
struct MakingArgs {
    /// How long it is to be valid, such as `12h` or `30d`
    #[arg(long, value_name = "DURATION", default_value = "365d")]
    ttl: Ttl,

    /// What the cluster is called in the file [default: its name, where one is known]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    secrets: SecretsArgs,

    /// Write it to a new file that only you can read, instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace a file that is there
    #[arg(long, requires = "out")]
    force: bool,
}

impl MakingArgs {
    /// Returns what the cluster is called that secrets were given for.
    fn name_of(&self, given: &Given) -> String {
        let said = self.name.as_ref().or(given.whereabouts.cluster.as_ref());
        said.cloned().unwrap_or_else(|| NAMELESS.to_owned())
    }

    /// Prints what was made, or writes it. A file that is there may lead to
    /// other clusters, too.
    fn give(&self, made: &Secret, ui: &Ui) -> Result<(), CommandError> {
        let bytes = made.reveal().as_bytes();
        let Some(path) = &self.out else { return print(made, ui) };
        let written = if self.force {
            private::write(path, bytes).map(|()| bytes.to_vec())
        } else {
            private::write_new(path, bytes)
        };
        let there = written.map_err(|error| CommandError::unwritten(path, &error))?;
        if there == bytes {
            return match ui.output() {
                Output::Text => Ok(()),
                Output::Json => Ok(ui.json(&json!({ "file": path.display().to_string() }))?),
            };
        }
        let message = format!("{} exists and is not overwritten", path.display());
        Err(CommandError::say(Exit::Usage, message).hint("`--force` replaces it"))
    }
}

/// Prints a config. Whoever reads the YAML of one reads JSON, too.
fn print(made: &Secret, ui: &Ui) -> Result<(), CommandError> {
    match ui.output() {
        Output::Text => write!(Ui::file_on_stdout(), "{}", made.reveal())?,
        Output::Json => {
            let read = serde_saphyr::from_str::<Value>(made.reveal());
            ui.json(&read.expect("what we have written is YAML"))?;
        }
    }
    Ok(())
}

/// Opens a cluster of ours.
fn open(target: &TargetArgs, shared: &Shared, ui: &Ui) -> Result<Target, CommandError> {
    target
        .open(&[], shared, ui)
        .map_err(|error| if target.names_nothing() { error.hint(OTHERS) } else { error })
}

/// Reads the secrets of a cluster of ours.
fn own_bundle(site: &Site) -> Result<Bundle, CommandError> {
    Bundle::load(&site.bundle_file()).map_err(|error| failed(&error.into()))
}

/// Returns randomness for keys.
pub(crate) fn rng() -> StdRng {
    StdRng::from_seed(Chance::real().key())
}

/// Says that nothing tells where a cluster is.
fn nowhere(given: &Given, what: &str) -> CommandError {
    let message = format!("{} does not say where {what}", given.file.display());
    CommandError::say(Exit::Usage, message).hint("give it: `--endpoint ADDRESS`")
}

fn failed(error: &CredentialsError) -> CommandError {
    let usage = || CommandError::new(Exit::Usage, error);
    match error {
        CredentialsError::Bundle(StoreError::Read { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            usage().hint("the cluster has no secrets yet: `seaworthy up` makes them").hint(OTHERS)
        }
        // To make a new one would lock everybody out.
        CredentialsError::Bundle(_) => usage()
            .hint("bring the cluster's own bundle back; nothing replaces it")
            .hint("`--from` takes the machine config of a control plane instead"),
        CredentialsError::NoControlPlane { there, .. } => {
            usage().hint(format!("there are: {}", there.join(", ")))
        }
        CredentialsError::NoLoadBalancer { there } => usage()
            .hint(format!("there are: {}", there.join(", ")))
            .hint("without `--endpoint` it leads to the endpoint in the machine configs"),
        CredentialsError::NoAddress { .. } => usage().hint("`seaworthy up` brings the cluster up"),
        _ => CommandError::new(Exit::Refused, error),
    }
}
