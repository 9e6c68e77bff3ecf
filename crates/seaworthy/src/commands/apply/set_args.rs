//! Which set is meant, and how it is applied.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use objects::set::{Adopt, Inventory, InventoryError, Prune, Set, SetError, Settings, Walk};
use objects::{Object, Ownership};

use super::files;
use crate::advice;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running::Signals;

/// A set of objects, and how it is applied.
#[derive(Args, Debug)]
pub(crate) struct SetArgs {
    /// A manifest, a folder of manifests, or `-` for stdin (can be repeated)
    #[arg(short, long = "filename", value_name = "FILE", required = true)]
    filename: Vec<PathBuf>,

    /// Read the folders inside of folders too
    #[arg(short = 'R', long)]
    recursive: bool,

    /// Take fields that other managers own
    #[arg(long)]
    force_conflicts: bool,

    /// Which objects that others have made may become ours
    #[arg(long, value_name = "WHICH", default_value = "unmanaged")]
    adopt: AdoptArg,

    /// Send every object, also where comparing shows that nothing would change
    #[arg(long)]
    recheck: bool,

    /// Remember the objects as a set of this name, as kubectl does: NAME,
    /// secret/NAME or configmap/NAME
    #[arg(long, value_name = "NAME")]
    applyset: Option<String>,

    /// Delete members of the set that are no longer in the manifests
    #[arg(long, requires = "applyset")]
    prune: bool,
}

/// Which objects that others have made may become ours.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum AdoptArg {
    /// None
    Never,
    /// Those that no tool and no other set claims
    Unmanaged,
    /// All, also the sets of other tools
    Always,
}

impl SetArgs {
    /// Reads all manifests.
    pub(crate) async fn read(
        &self,
        patience: Duration,
        signals: &mut Signals,
    ) -> Result<Vec<Object>, CommandError> {
        files::read(&self.filename, self.recursive, patience, signals).await
    }

    /// Returns the objects as a set.
    pub(crate) fn set(&self, objects: Vec<Object>, namespace: String) -> Result<Set, CommandError> {
        let inventory = applyset(self.applyset.as_deref(), &namespace)?;
        let prune = if self.prune { Prune::Yes } else { Prune::No };
        Ok(Set { objects, namespace, inventory, prune })
    }

    /// Returns how the set is applied.
    pub(crate) fn settings(&self, patience: Duration) -> Settings {
        let ownership = if self.force_conflicts { Ownership::Take } else { Ownership::Respect };
        let adopt = match self.adopt {
            AdoptArg::Never => Adopt::Never,
            AdoptArg::Unmanaged => Adopt::Unmanaged,
            AdoptArg::Always => Adopt::Always,
        };
        let walk = if self.recheck { Walk::SendAll } else { Walk::Compare };
        Settings { ownership, adopt, walk, patience, ..Settings::default() }
    }
}

/// Reads the name of an inventory.
pub(crate) fn applyset(
    name: Option<&str>,
    namespace: &str,
) -> Result<Option<Inventory>, CommandError> {
    let inventory = name.map(|name| Inventory::parse(name, namespace)).transpose();
    inventory.map_err(|error| refused(&error.into()))
}

/// Says why nothing was done.
pub(crate) fn refused(error: &SetError) -> CommandError {
    let exit = match error {
        SetError::Order(_)
        | SetError::NothingToPruneBy
        | SetError::Inventory(
            InventoryError::Name(_) | InventoryError::Labelled(_) | InventoryError::Absent(_),
        ) => Exit::Usage,
        SetError::Inventory(_) | SetError::Api(_) | SetError::Owners(_) => Exit::Refused,
    };
    let said = match error {
        SetError::Api(error) => CommandError::say(exit, advice::of_api(error)),
        _ => CommandError::new(exit, error),
    };
    match advice::for_set(error) {
        Some(next) => said.hint(next),
        None => said,
    }
}
