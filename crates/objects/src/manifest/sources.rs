//! Where manifests come from: files, folders, and what is piped in.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ManifestError, ManifestErrors, Placed, read_placed};

/// What is read in a folder. A file that is named is read whatever it is called.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// One manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// What is piped in.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// How deep folders are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Only what lies in the folder itself.
    Flat,
    /// Also what lies in folders inside it.
    Recursive,
}

/// Why a manifest was not found or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The file or folder could not be read.
    #[error("could not read {name}: {problem}")]
    Unreadable {
        /// What it is called.
        name: String,
        /// What the system said.
        problem: String,
    },
    /// A folder without manifests.
    #[error("there is no .yaml, .yml or .json file in {0}")]
    Empty(String),
    /// `-` was given more than once.
    #[error("`-` can be read only once")]
    StdinTwice,
}

// === impl Source ===

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("stdin"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// Finds the manifests that paths mean, in the order of the paths; those of a
/// folder are sorted by name. `-` is what is piped in. A file that is meant
/// twice is read once.
pub fn sources<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
    depth: Depth,
) -> Result<Vec<Source>, SourceError> {
    let mut found = Vec::new();
    let mut met = BTreeSet::new();
    for path in paths {
        for source in sources_of(path.as_ref(), depth)? {
            if met.insert(source.clone()) {
                found.push(source);
            } else if source == Source::Stdin {
                return Err(SourceError::StdinTwice);
            }
        }
    }
    Ok(found)
}

fn sources_of(path: &Path, depth: Depth) -> Result<Vec<Source>, SourceError> {
    if path == Path::new("-") {
        return Ok(vec![Source::Stdin]);
    }
    let metadata = fs::metadata(path).map_err(|error| unreadable(path.display(), &error))?;
    if !metadata.is_dir() {
        return Ok(vec![Source::File(path.to_owned())]);
    }
    let mut files = Vec::new();
    search(path, depth, &mut files)?;
    if files.is_empty() {
        return Err(SourceError::Empty(path.display().to_string()));
    }
    Ok(files.into_iter().map(Source::File).collect())
}

/// Folders behind links are not entered: they may lead back here.
fn search(folder: &Path, depth: Depth, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let fail = |error: io::Error| unreadable(folder.display(), &error);
    let entries: io::Result<Vec<fs::DirEntry>> = fs::read_dir(folder).map_err(fail)?.collect();
    let mut entries = entries.map_err(fail)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(fail)?.is_dir() {
            if depth == Depth::Recursive {
                search(&path, depth, files)?;
            }
        } else if is_manifest(&path) && !path.is_dir() {
            files.push(path);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Reads manifests, with whatever `open` reads bytes with. All of them are
/// read, and all mistakes told: no object is returned if there is one.
pub fn read_all(
    sources: impl IntoIterator<Item = Source>,
    mut open: impl FnMut(&Source) -> io::Result<Vec<u8>>,
) -> Result<Vec<Placed>, ManifestErrors> {
    let (mut placed, mut errors) = (Vec::new(), Vec::new());
    for source in sources {
        let bytes = open(&source).map_err(|error| unreadable(&source, &error));
        let read = bytes.map_err(|error| ManifestErrors::from(ManifestError::from(error)));
        match read.and_then(|bytes| read_placed(&source.to_string(), &bytes)) {
            Ok(objects) => placed.extend(objects),
            Err(these) => errors.extend(these.into_errors()),
        }
    }
    ManifestErrors::of(errors).map_or(Ok(placed), Err)
}

fn unreadable(name: impl fmt::Display, error: &io::Error) -> SourceError {
    SourceError::Unreadable { name: name.to_string(), problem: error.to_string() }
}
