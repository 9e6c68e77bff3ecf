//! The secrets of a cluster that somebody else has made: talosctl's own files.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ::talos::config::Whereabouts;
use ::talos::secrets::Bundle;
use clap::Args;
use report::terminal::say;

use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::ui::Ui;

/// Which secrets are meant, where they are not those of a cluster of ours.
#[derive(Args, Clone, Debug)]
#[group(id = "foreign", multiple = false)]
#[command(next_help_heading = "Secrets")]
pub(crate) struct SecretsArgs {
    /// Use this secrets bundle, as `talosctl gen secrets` writes it
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,

    /// Recover the secrets from the machine config of a control plane
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

/// Secrets that were given, and what their file says besides.
pub(crate) struct Given {
    pub(crate) bundle: Bundle,
    pub(crate) file: PathBuf,
    pub(crate) whereabouts: Whereabouts,
}

impl SecretsArgs {
    /// Reads the secrets, where a file was named.
    pub(crate) fn read(&self, ui: &Ui) -> Result<Option<Given>, CommandError> {
        let given = match (&self.secrets, &self.from) {
            (Some(file), _) => {
                let bundle = bundle(file)?;
                Given { bundle, file: file.clone(), whereabouts: Whereabouts::default() }
            }
            (None, Some(file)) => recovered(file)?,
            (None, None) => return Ok(None),
        };
        if is_open(&given.file) {
            let file = given.file.display();
            let words = format!("others can read the secrets in {file}: `chmod 600 {file}`");
            say(palette(ui), "Warning", &words, &mut ui.stderr())?;
        }
        Ok(Some(given))
    }
}

/// Reads a secrets bundle.
pub(crate) fn bundle(file: &Path) -> Result<Bundle, CommandError> {
    let right = "`talosctl gen secrets` writes such a file, and `seaworthy up` a `secrets.yaml`";
    let text = read(file).map_err(|error| error.hint(right))?;
    Bundle::from_yaml(&text).map_err(|error| {
        let said = unusable(file, &error);
        match Whereabouts::of(&text) {
            Ok(Whereabouts { cluster: Some(_), .. }) => {
                said.hint("it is a machine config: name it with `--from`")
            }
            _ => said.hint(right),
        }
    })
}

fn recovered(file: &Path) -> Result<Given, CommandError> {
    let right = "name the config that a control plane was given, with `type: controlplane`";
    let text = read(file).map_err(|error| error.hint(right))?;
    let bundle = Bundle::from_machine_config(&text).map_err(|error| {
        let said = unusable(file, &error);
        if Bundle::from_yaml(&text).is_ok() {
            return said.hint("it is a secrets bundle: name it with `--secrets`");
        }
        said.hint(right)
    })?;
    let whereabouts = Whereabouts::of(&text).map_err(|error| unusable(file, &error))?;
    Ok(Given { bundle, file: file.to_owned(), whereabouts })
}

/// Says whether somebody else than the owner can read a file.
fn is_open(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o044 != 0)
}

/// Reads a file that was named.
pub(crate) fn read(path: &Path) -> Result<String, CommandError> {
    fs::read_to_string(path).map_err(|error| {
        CommandError::say(Exit::Usage, format!("could not read {}: {error}", path.display()))
    })
}

/// Says why a file cannot be used, with all causes and no line of it.
pub(crate) fn unusable(path: &Path, error: &(dyn Error + 'static)) -> CommandError {
    let mut message = format!("could not use {}: {error}", path.display());
    let mut cause = error.source();
    while let Some(because) = cause {
        message = format!("{message}: {because}");
        cause = because.source();
    }
    CommandError::say(Exit::Usage, message)
}
