//! All reports of a run, in its folder.

use std::io;
use std::path::{Path, PathBuf};

use events::{EvidenceStore, private};

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
        match private::write(&path, text.as_bytes()) {
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
