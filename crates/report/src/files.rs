//! All reports of a run, in its folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use events::EvidenceStore;

use crate::{Story, annotations, html, json, junit, markdown, timeline, trace};

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("could not write the report {}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Writes every report into `folder`, and returns the files.
///
/// Each appears whole or not at all, and only its owner can read it: evidence
/// is for whoever ran the command.
pub fn write_all(
    story: &Story,
    evidence: &EvidenceStore,
    folder: &Path,
) -> Result<Vec<PathBuf>, WriteError> {
    let write = |(name, text): (&str, String)| {
        let path = folder.join(name);
        match write_whole(&path, text.as_bytes()) {
            Ok(()) => Ok(path),
            Err(source) => Err(WriteError { path, source }),
        }
    };
    render_all(story, evidence).into_iter().map(write).collect()
}

/// Returns every report with its file's name.
pub fn render_all(story: &Story, evidence: &EvidenceStore) -> Vec<(&'static str, String)> {
    vec![
        ("REPORT.html", html::html(story, evidence)),
        ("REPORT.md", markdown::report(story)),
        ("annotations.txt", annotations(story)),
        ("junit.xml", junit(story)),
        ("pr-comment.md", markdown::pr_comment(story)),
        ("report.json", json(story)),
        ("step-summary.md", markdown::step_summary(story)),
        ("timeline.txt", timeline(story)),
        ("trace.json", trace(story)),
    ]
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    // One that an interrupted run left behind may be open to others.
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&partial)?.write_all(bytes)?;
    fs::rename(&partial, path)
}
