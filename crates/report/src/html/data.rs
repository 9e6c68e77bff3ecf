//! The data of the page: the document, and the text of evidence files, both
//! within the budget.

use std::collections::BTreeMap;

use events::{Attachment, Digest, EvidenceStore, Verdict};
use serde::Serialize;

use super::LIMIT_BYTES;
use crate::document::{Report, ReportCheck, ReportUnit};
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

/// Takes detail from a unit.
type Trim = fn(&mut ReportUnit);

// === impl Data ===

impl Data {
    pub(super) fn of(story: &Story, evidence: &EvidenceStore) -> Self {
        let mut data =
            Self { report: Report::of(story), files: BTreeMap::new(), left_out: Vec::new() };
        data.trim();
        data.attach(story, evidence);
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
        let steps: [(&str, Trim); 4] = [
            ("the facts of units that passed", drop_facts),
            ("the history of checks of units that passed", drop_history),
            ("the checks and calls of units that passed", drop_checks),
            ("the detail of units that failed", drop_all),
        ];
        for (what, step) in steps {
            if escape(&serde_json::to_string(&self.report).unwrap_or_default()).len()
                <= REPORT_BYTES
            {
                return;
            }
            let units = self.report.stages.iter_mut().flat_map(|stage| &mut stage.units);
            units.for_each(step);
            self.left_out.push(what.to_owned());
        }
    }

    /// Takes the files of failed checks first, and others as long as there is room.
    fn attach(&mut self, story: &Story, evidence: &EvidenceStore) {
        let mut room = DATA_BYTES.saturating_sub(self.script().len());
        let mut missing = 0;
        for file in files(story) {
            if self.files.contains_key(&file.digest) {
                continue;
            }
            let shown = match evidence.get(&file.digest) {
                Ok(bytes) => shown(&bytes),
                Err(error) => format!("could not be read: {}", text::line(&error.to_string())),
            };
            // Quoted, escaped, and with its digest.
            let size = escape(&serde_json::Value::from(shown.as_str()).to_string()).len() + 70;
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
fn files(story: &Story) -> Vec<&Attachment> {
    let checks = || story.units().flat_map(|unit| &unit.checks);
    let failed = checks().filter(|check| check.state() == CheckState::Failed);
    let others = checks().filter(|check| check.state() != CheckState::Failed);
    failed
        .chain(others)
        .flat_map(|check| &check.findings)
        .filter_map(|finding| match &finding.verdict {
            Verdict::Ready { evidence } => Some(&evidence.files),
            _ => None,
        })
        .flatten()
        .collect()
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

fn passed(unit: &ReportUnit) -> bool {
    unit.state != State::Failed
}

fn drop_facts(unit: &mut ReportUnit) {
    if !passed(unit) {
        return;
    }
    let findings = unit.checks.iter_mut().flat_map(|check| &mut check.findings);
    for finding in findings {
        if let Verdict::Ready { evidence } = &mut finding.verdict {
            evidence.facts.clear();
        }
    }
}

fn drop_history(unit: &mut ReportUnit) {
    let keep_last = |check: &mut ReportCheck| {
        let last = check.findings.len().saturating_sub(1);
        check.findings.drain(..last);
    };
    if passed(unit) {
        unit.checks.iter_mut().for_each(keep_last);
    }
}

fn drop_checks(unit: &mut ReportUnit) {
    if passed(unit) {
        drop_all(unit);
    }
}

fn drop_all(unit: &mut ReportUnit) {
    unit.checks.clear();
    unit.calls.clear();
    unit.attempts.clear();
    unit.cause = None;
}
