//! Which secrets configs are made from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ::talos::pki::PrivateKey;
use ::talos::secrets::Bundle;
use events::{Clock, private};
use report::terminal::say;

use super::files::BUNDLE;
use crate::command_error::CommandError;
use crate::commands::credentials::rng;
use crate::commands::palette;
use crate::exit::Exit;
use crate::secrets_args::{Given, bundle};
use crate::ui::Ui;

/// The secrets that configs are made from.
pub(super) struct Chosen {
    pub(super) bundle: Bundle,
    /// Where they lie, or are to.
    pub(super) file: PathBuf,
    /// Whether they were made just now.
    pub(super) is_new: bool,
}

impl Chosen {
    /// Takes the first secrets that there are: those given, else those that lie
    /// at a place. Where several are there they have to be the same: a second
    /// bundle under one name is how a cluster refuses its own administrators.
    pub(super) fn of(
        given: Option<Given>,
        places: &[PathBuf],
    ) -> Result<Option<Self>, CommandError> {
        let mut all: Vec<(PathBuf, Bundle)> =
            given.into_iter().map(|it| (it.file, it.bundle)).collect();
        for place in places {
            if is_there(place)? {
                all.push((place.clone(), bundle(place)?));
            }
        }
        let mut all = all.into_iter();
        let Some((file, bundle)) = all.next() else { return Ok(None) };
        match all.find(|(_, other)| *other != bundle) {
            Some((other, _)) => Err(two_bundles(&file, &other)),
            None => Ok(Some(Self { bundle, file, is_new: false })),
        }
    }

    /// Makes secrets that are to lie in a folder.
    pub(super) fn new(folder: &Path, ui: &Ui) -> Result<Self, CommandError> {
        // Nobody waits for keys that cannot be kept.
        private::folder(folder).map_err(|error| unmade(folder, &error))?;
        let file = folder.join(BUNDLE);
        tempfile::tempfile_in(folder).map_err(|error| CommandError::unwritten(&file, &error))?;
        let words = "a secrets bundle, which takes some seconds";
        say(palette(ui), "Making", words, &mut ui.stderr())?;
        let mut rng = rng();
        let key = PrivateKey::rsa4096(&mut rng)
            .map_err(|error| CommandError::new(Exit::Internal, &error))?;
        let bundle = Bundle::generate(key, Clock::real().now(), &mut rng)
            .map_err(|error| CommandError::new(Exit::Internal, &error))?;
        Ok(Self { bundle, file, is_new: true })
    }

    /// Writes secrets that were made just now, and returns where.
    pub(super) fn save(&self) -> Result<Option<PathBuf>, CommandError> {
        if !self.is_new {
            return Ok(None);
        }
        self.bundle.save_new(&self.file).map_err(|error| CommandError::new(Exit::Usage, &error))?;
        Ok(Some(self.file.clone()))
    }
}

/// A bundle that cannot be looked at is not one that is absent: another would be
/// made in its place.
fn is_there(place: &Path) -> Result<bool, CommandError> {
    match place.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => {
            let message = format!("could not look for {}: {error}", place.display());
            Err(CommandError::say(Exit::Usage, message))
        }
    }
}

/// Says why there is no folder.
pub(super) fn unmade(folder: &Path, error: &std::io::Error) -> CommandError {
    let message = format!("could not make the folder {}: {error}", folder.display());
    CommandError::say(Exit::Usage, message)
}

fn two_bundles(one: &Path, other: &Path) -> CommandError {
    let (one, other) = (one.display(), other.display());
    CommandError::say(Exit::Usage, format!("{one} and {other} are different secrets bundles"))
        .hint("a cluster has one: find out which its nodes have, and put the other away")
}
