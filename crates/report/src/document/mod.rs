//! `report.json`: the story as a document for machines.
//!
//! The document names its schema. A reader takes any document of its schema:
//! fields are only added, and a field that has nothing to say is left out. A
//! field that changed its meaning would be a new schema. Times are milliseconds
//! since the run started, money is millionths of a euro.

mod report;
mod stage;
mod unit;

pub use report::{Report, ReportCause, ReportRun, ReportWarning};
pub use stage::{ReportStage, ReportedCheck};
pub use unit::{CallState, ReportAttempt, ReportCall, ReportCheck, ReportFinding, ReportUnit};

use crate::Story;

/// The schema of the documents that this program writes.
pub const SCHEMA: &str = "seaworthy.dev/report/v1";

/// Returns `report.json`.
pub fn json(story: &Story) -> String {
    let report = Report::of(story);
    let text = serde_json::to_string_pretty(&report);
    text.expect("the document has only text keys and no foreign serialiser") + "\n"
}
