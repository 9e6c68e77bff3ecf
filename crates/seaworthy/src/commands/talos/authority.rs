//! The authority that nodes are compared with: that of a talosconfig or of a
//! secrets bundle.

use std::path::{Path, PathBuf};

use ::talos::credentials::{Context, Talosconfig};
use ::talos::pki::Certificate;
use clap::Args;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::secrets_args::{bundle, read, unusable};

/// Whose nodes are "ours".
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct OursArgs {
    /// Tell nodes of this talosconfig's cluster from those of others
    #[arg(long, value_name = "FILE")]
    talosconfig: Option<PathBuf>,
    /// Tell nodes of this secrets bundle (`secrets.yaml`) from those of others
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

impl OursArgs {
    /// Reads the authority's certificate, where a file was named.
    pub(crate) fn certificate(&self) -> Result<Option<Certificate>, CommandError> {
        if let Some(path) = &self.talosconfig {
            return of_talosconfig(path).map(Some);
        }
        let Some(path) = &self.secrets else { return Ok(None) };
        Ok(Some(bundle(path)?.os.certificate().clone()))
    }
}

fn of_talosconfig(path: &Path) -> Result<Certificate, CommandError> {
    Ok(context(path)?.identity.authority().clone())
}

/// Reads the current context of a talosconfig.
pub(crate) fn context(path: &Path) -> Result<Context, CommandError> {
    let config = Talosconfig::from_yaml(&read(path)?).map_err(|error| unusable(path, &error))?;
    let context = config.current().ok_or_else(|| {
        let message = format!("{} names a context that is not in it", path.display());
        CommandError::say(Exit::Usage, message)
            .hint("`talosctl config contexts` lists them, `talosctl config context NAME` chooses")
    })?;
    Ok(context.clone())
}
