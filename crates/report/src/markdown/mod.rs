//! `REPORT.md`, `step-summary.md` and `pr-comment.md`.
//!
//! Verdict and first cause come first. Each page has a byte budget; sections
//! are added in the order of their worth, and what does not fit is named at the end.

mod escape;
mod page;
mod sections;

use page::Page;

use crate::{Run, Story, text};

/// Enough for a large cluster's checks, and still quick to open in an editor.
const REPORT_BYTES: usize = 512 * 1024;
/// GitHub drops a step summary of more than one MiB.
const SUMMARY_BYTES: usize = 1_000_000;
/// GitHub refuses a comment of more than 65,536 characters; others may add theirs.
const COMMENT_BYTES: usize = 60_000;

/// Returns `REPORT.md`.
pub fn report(story: &Story) -> String {
    let mut page = Page::new(REPORT_BYTES);
    sections::overview(&mut page, story);
    sections::checks(&mut page, story);
    sections::calls(&mut page, story);
    page.finish()
}

/// Returns `step-summary.md`.
pub fn step_summary(story: &Story) -> String {
    let mut page = Page::new(SUMMARY_BYTES);
    sections::overview(&mut page, story);
    sections::checks(&mut page, story);
    page.finish()
}

/// Returns `pr-comment.md`. Its first line names the command and the cluster, so that
/// a CI job finds and replaces the comment of an earlier run. The cluster's identity
/// would not do: it is another one in every fresh state folder.
pub fn pr_comment(story: &Story) -> String {
    let mut page = Page::new(COMMENT_BYTES);
    if let Some(run) = story.run() {
        page.line(&format!("<!-- seaworthy {} -->", marker(run)));
    }
    sections::overview(&mut page, story);
    page.finish()
}

/// `up demo`: words that cannot end the comment.
fn marker(run: &Run) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-. ".contains(c) { c } else { '_' };
    let words: String = format!("{} {}", run.command, run.cluster).chars().map(plain).collect();
    text::clip(&words.replace("--", "-"), 100)
}
