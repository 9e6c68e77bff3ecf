//! The data of the page: the document, and the text of evidence files, both
//! within the budget.

use std::collections::BTreeMap;

use events::{Attachment, Digest, EvidenceStore};
use serde::Serialize;

use super::LIMIT_BYTES;
use crate::document::{Report, ReportStage, ReportUnit};
use crate::{CheckState, State, Story, text};

/// What the page's script reads.
#[derive(Serialize)]
pub(super) struct Data {
    report: Report,
    files: BTreeMap<Digest, String>,
    /// What is not in the page, for people.
    pub(super) left_out: Vec<String>,
}

/// What is left for the document once the page around it has its part.
const REPORT_BYTES: usize = LIMIT_BYTES - 1_500_000;
/// What document and files may have together.
const DATA_BYTES: usize = LIMIT_BYTES - 500_000;
/// The part of one file that the page shows; a longer one loses its middle.
const FILE_CHARS: usize = 128 * 1024;

/// Takes detail from a stage.
type Trim = fn(&mut ReportStage);

// === impl Data ===

impl Data {
    pub(super) fn of(story: &Story, evidence: &EvidenceStore) -> Self {
        let mut data =
            Self { report: Report::of(story), files: BTreeMap::new(), left_out: Vec::new() };
        data.trim();
        data.attach(evidence);
        data
    }

    /// Returns the data as JSON that no markup can end: `</script>` least of all.
    pub(super) fn script(&self) -> String {
        let json = serde_json::to_string(self);
        let json = json.expect("the document has only text keys and no foreign serialiser");
        escape(&json)
    }

    /// Gives up detail, the least interesting first, until the document fits.
    fn trim(&mut self) {
        // The page around the data shows these, or nobody asks for them here.
        self.report.run = None;
        self.report.warnings.clear();
        self.report.missing.clear();
        self.report.pins.clear();
        let steps: [(&str, Trim); 6] = [
            ("the facts of units that passed", drop_facts),
            ("the history of checks of units that passed", drop_history),
            ("the checks and calls of units that passed", drop_checks),
            ("the checks and calls of all units", drop_all),
            ("all but the first words of units", drop_words),
            ("all but 200 units of a stage", drop_units),
        ];
        for (what, step) in steps {
            if size(&self.report) <= REPORT_BYTES {
                return;
            }
            self.report.stages.iter_mut().for_each(step);
            self.left_out.push(what.to_owned());
        }
    }

    /// Takes the files of failed checks first, and others as long as there is room.
    fn attach(&mut self, evidence: &EvidenceStore) {
        let mut room = DATA_BYTES.saturating_sub(size(&self.report));
        let mut missing = 0;
        for file in files(&self.report) {
            if self.files.contains_key(&file.digest) {
                continue;
            }
            let shown = match evidence.get(&file.digest) {
                Ok(bytes) => shown(&bytes),
                Err(error) => format!("could not be read: {}", text::line(&error.to_string())),
            };
            // Quoted, escaped, and with its digest.
            let size = size(&shown) + 70;
            if size > room {
                missing += 1;
                continue;
            }
            room -= size;
            self.files.insert(file.digest, shown);
        }
        if missing > 0 {
            self.left_out.push(text::count(missing, "evidence file"));
        }
    }
}

/// Every attached file, those of failed checks first.
fn files(report: &Report) -> Vec<Attachment> {
    let units = report.stages.iter().flat_map(|stage| &stage.units);
    let mut checks: Vec<_> = units.flat_map(|unit| &unit.checks).collect();
    checks.sort_by_key(|check| !matches!(check.state, CheckState::Failed | CheckState::Unknown));
    let causes = report.stages.iter().flat_map(|stage| &stage.units);
    let causes = causes.filter_map(|unit| unit.cause.as_ref()?.evidence.as_deref());
    let of_causes = causes.flat_map(|evidence| evidence.files.clone());
    let of_checks = checks
        .into_iter()
        .flat_map(|check| &check.findings)
        .filter_map(|finding| finding.verdict.evidence())
        .flat_map(|evidence| evidence.files.clone());
    of_causes.chain(of_checks).collect()
}

/// How many bytes a value takes in the page.
fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| escape(&json).len())
}

/// A file's text: invalid bytes become visible, and the middle of a long one is left out.
fn shown(bytes: &[u8]) -> String {
    let text = text::block(&String::from_utf8_lossy(bytes));
    let length = text.chars().count();
    if length <= FILE_CHARS {
        return text;
    }
    let head: String = text.chars().take(FILE_CHARS / 4).collect();
    let tail: String = text.chars().skip(length - FILE_CHARS / 4 * 3).collect();
    format!("{head}\n… {} characters left out …\n{tail}", length - FILE_CHARS)
}

/// These characters stand only inside of JSON's strings, where `\u` means the same.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for symbol in json.chars() {
        match symbol {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn uninteresting(stage: &mut ReportStage) -> impl Iterator<Item = &mut ReportUnit> {
    let units = stage.units.iter_mut();
    units.filter(|unit| !matches!(unit.state, State::Failed | State::Unknown))
}

fn drop_facts(stage: &mut ReportStage) {
    let checks = uninteresting(stage).flat_map(|unit| &mut unit.checks);
    for finding in checks.flat_map(|check| &mut check.findings) {
        if let Some(evidence) = finding.verdict.evidence_mut() {
            evidence.facts.clear();
        }
    }
}

fn drop_history(stage: &mut ReportStage) {
    for check in uninteresting(stage).flat_map(|unit| &mut unit.checks) {
        let last = check.findings.len().saturating_sub(1);
        check.findings.drain(..last);
    }
}

fn drop_checks(stage: &mut ReportStage) {
    uninteresting(stage).for_each(drop_detail);
}

fn drop_all(stage: &mut ReportStage) {
    stage.units.iter_mut().for_each(drop_detail);
}

fn drop_detail(unit: &mut ReportUnit) {
    unit.checks.clear();
    unit.calls.clear();
    unit.attempts.clear();
    unit.cause = None;
}

fn drop_words(stage: &mut ReportStage) {
    for unit in &mut stage.units {
        unit.summary = text::fit(&unit.summary, 60);
    }
}

fn drop_units(stage: &mut ReportStage) {
    stage.units.sort_by_key(|unit| !matches!(unit.state, State::Failed | State::Unknown));
    stage.units.truncate(200);
}
