//! The manifests that a command names.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use events::Clock;
use objects::Object;
use objects::manifest::{self, Depth, Source, SourceError};

use crate::board::span;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reading::stopped;
use crate::running::Signals;

/// Reads all objects, or tells everything that keeps them from being read. A
/// pipe may never end: a signal and the end of the patience do not wait for it.
pub(crate) async fn read(
    named: &[PathBuf],
    recursive: bool,
    patience: Duration,
    signals: &mut Signals,
) -> Result<Vec<Object>, CommandError> {
    let (all, clock) = (named.to_vec(), Clock::real());
    let reading = tokio::task::spawn_blocking(move || read_now(&all, recursive));
    tokio::select! {
        read = reading => read.map_err(|error| CommandError::new(Exit::Internal, &error))?,
        signal = signals.next() => Err(stopped(signal)),
        () = clock.sleep(patience) => Err(endless(named, patience)),
    }
}

fn endless(named: &[PathBuf], patience: Duration) -> CommandError {
    let all: Vec<String> = named.iter().map(|path| name(path)).collect();
    let (all, patience) = (all.join(", "), span(patience).roughly());
    let message = format!("could not read {all}: it has not ended within {patience}");
    CommandError::say(Exit::Usage, message).hint("`--timeout` gives it longer")
}

fn read_now(named: &[PathBuf], recursive: bool) -> Result<Vec<Object>, CommandError> {
    let usage = |error: &dyn std::fmt::Display| CommandError::say(Exit::Usage, error.to_string());
    let depth = if recursive { Depth::Recursive } else { Depth::Flat };
    let sources = manifest::sources(named, depth).map_err(|error| match error {
        SourceError::Empty(_) => usage(&error).hint(match depth {
            Depth::Flat => "`--recursive` reads the folders inside",
            Depth::Recursive => "folders behind links are not read",
        }),
        error => usage(&error),
    })?;
    let objects = manifest::read_all(sources, open).map_err(|errors| {
        let all: Vec<String> = errors.errors().iter().map(ToString::to_string).collect();
        CommandError::say(Exit::Usage, all.join("\n       "))
    })?;
    if objects.is_empty() {
        return Err(CommandError::say(Exit::Usage, "there are no objects in what was named"));
    }
    Ok(objects.into_iter().map(|placed| placed.object).collect())
}

fn open(source: &Source) -> io::Result<Vec<u8>> {
    match source {
        Source::File(path) => std::fs::read(path),
        Source::Stdin => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}
