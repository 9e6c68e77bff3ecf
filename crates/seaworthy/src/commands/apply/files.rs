//! The manifests that a command names.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use events::Clock;
use objects::{Object, manifest};

use crate::board::span;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reading::stopped;
use crate::running::Signals;

/// The endings of files that folders are read for.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

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
    let mut files = Vec::new();
    for path in named {
        find(path, recursive, &mut files)?;
    }
    let mut objects = Vec::new();
    let mut problems = Vec::new();
    for file in &files {
        match bytes(file).map(|bytes| manifest::read(&name(file), &bytes)) {
            Ok(Ok(read)) => objects.extend(read),
            Ok(Err(errors)) => problems.extend(errors.errors().iter().map(ToString::to_string)),
            Err(error) => problems.push(error.message()),
        }
    }
    if !problems.is_empty() {
        return Err(CommandError::say(Exit::Usage, problems.join("\n       ")));
    }
    if objects.is_empty() {
        return Err(CommandError::say(Exit::Usage, "there are no objects in what was named")
            .hint("folders are read for .yaml, .yml and .json; `--recursive` reads those inside"));
    }
    Ok(objects)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// Adds the files that a path stands for, in the order of their names.
fn find(path: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    if is_stdin(path) || !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|error| unreadable(path, &error))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let inner = entry.path();
        let ending = inner.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if inner.is_dir() && recursive {
            find(&inner, recursive, files)?;
        } else if inner.is_file() && ENDINGS.contains(&ending) {
            files.push(inner);
        }
    }
    Ok(())
}

fn bytes(path: &Path) -> Result<Vec<u8>, CommandError> {
    if !is_stdin(path) {
        return std::fs::read(path).map_err(|error| unreadable(path, &error));
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::say(Exit::Usage, format!("could not read {}: {error}", name(path)))
}
