//! The manifests that a command names.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use objects::{Object, manifest};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// The endings of files that folders are read for.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads all objects, or tells everything that keeps them from being read.
pub(crate) fn read(named: &[PathBuf], recursive: bool) -> Result<Vec<Object>, CommandError> {
    let mut files = Vec::new();
    for path in named {
        find(path, recursive, &mut files)?;
    }
    let mut objects = Vec::new();
    let mut problems = Vec::new();
    for file in &files {
        match manifest::read(&name(file), &bytes(file)?) {
            Ok(read) => objects.extend(read),
            Err(errors) => problems.extend(errors.errors().iter().map(ToString::to_string)),
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
