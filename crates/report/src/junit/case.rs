//! A case: one check of one unit.

use events::{Cause, Failure};

use super::seconds;
use super::xml::Element;
use crate::{Check, CheckState, Standing, State, UnitStory};

pub(super) struct Case {
    class: String,
    name: String,
    took_ms: u64,
    pub(super) verdict: Verdict,
    /// Tries that failed before the last one.
    tries: Vec<Failure>,
}

pub(super) enum Verdict {
    Passed,
    /// The check said no, or never said yes.
    Failed(Problem),
    /// The check never got to look.
    Error(Problem),
    Skipped(String),
}

/// What went wrong.
pub(super) struct Problem {
    kind: String,
    message: String,
    detail: String,
}

// === impl Case ===

impl Case {
    pub(super) fn of_unit(class: &str, unit: &UnitStory, now_ms: u64) -> Vec<Self> {
        let class = match &unit.unit.node {
            Some(node) => format!("{class}.{node}"),
            None => class.to_owned(),
        };
        let case = |name: &str, took_ms, verdict| Self {
            class: class.clone(),
            name: name.to_owned(),
            took_ms,
            verdict,
            tries: Vec::new(),
        };
        let mut cases: Vec<_> = unit
            .checks
            .iter()
            .enumerate()
            .map(|(index, check)| {
                case(check.name.as_str(), check.looked_ms(), Verdict::of(unit, index, check))
            })
            .collect();
        if cases.is_empty() {
            let took = unit.took_ms(now_ms).unwrap_or(0);
            cases.push(case("completes", took, Verdict::without_checks(unit)));
        }
        cases[0].tries = unit.failed_attempts().map(|(_, failure)| failure.clone()).collect();
        cases
    }

    pub(super) fn element(&self) -> Element {
        let case = Element::new("testcase")
            .with("classname", &self.class)
            .with("name", &self.name)
            .with("time", &seconds(self.took_ms));
        let case = match &self.verdict {
            Verdict::Passed => case,
            Verdict::Failed(problem) => case.child(problem.element("failure")),
            Verdict::Error(problem) => case.child(problem.element("error")),
            Verdict::Skipped(reason) => case.child(Element::new("skipped").with("message", reason)),
        };
        let tag = match self.verdict {
            Verdict::Passed => "flakyFailure",
            _ => "rerunFailure",
        };
        let tries = self.tries.iter().map(|failure| {
            Element::new(tag)
                .with("message", &failure.message)
                .with("type", &failure.class.to_string())
                .child(Element::new("stackTrace").text(&failure.to_string()))
        });
        tries.fold(case, Element::child)
    }
}

// === impl Verdict ===

impl Verdict {
    fn of(unit: &UnitStory, index: usize, check: &Check) -> Self {
        let blamed =
            |check: &Check| unit.failed_check().is_some_and(|failed| failed.name == check.name);
        match (check.state(), unit.cause()) {
            (CheckState::Ready, _) => Self::Passed,
            (CheckState::Skipped, _) => Self::Skipped(check.skipped.clone().unwrap_or_default()),
            (CheckState::Failed, Some(cause)) if blamed(check) => Self::Failed(Problem::of(cause)),
            (CheckState::Failed, _) => Self::Failed(Problem::of_check(check)),
            (CheckState::Unknown, Some(cause)) => Self::Error(Problem::of(cause)),
            (CheckState::Unseen, Some(cause)) if index == 0 => Self::Error(Problem::of(cause)),
            _ => Self::unseen(unit),
        }
    }

    fn without_checks(unit: &UnitStory) -> Self {
        match (unit.state(), unit.cause()) {
            (State::Passed, _) => Self::Passed,
            (_, Some(cause)) => Self::Failed(Problem::of(cause)),
            _ => Self::unseen(unit),
        }
    }

    fn unseen(unit: &UnitStory) -> Self {
        Self::Skipped(match &unit.standing {
            Standing::Skipped { reason, .. } => reason.clone(),
            Standing::NotRun { because } => format!("not run: {because}"),
            Standing::Failed { .. } => format!("not looked at: {} failed", unit.unit),
            Standing::Unknown { .. } => {
                format!("not looked at: {} could not be judged", unit.unit)
            }
            Standing::Stopped => "not finished: the run was stopped".to_owned(),
            Standing::Planned | Standing::Running => "not finished".to_owned(),
            Standing::Passed { .. } => "not looked at".to_owned(),
        })
    }
}

// === impl Problem ===

impl Problem {
    fn of(cause: &Cause) -> Self {
        let because = cause.because.iter().map(|line| format!("because {line}"));
        let also = cause.also.iter().map(|line| format!("also {line}"));
        let so = cause.so.iter().map(|so| format!("so {so}"));
        let next = cause.next.iter().map(|step| format!("next {}: {}", step.command, step.tells));
        let detail: Vec<_> = because.chain(also).chain(so).chain(next).collect();
        Self {
            kind: cause.code.to_string(),
            message: cause.message.clone(),
            detail: detail.join("\n"),
        }
    }

    fn of_check(check: &Check) -> Self {
        let said = check.last().map(ToString::to_string);
        Self {
            kind: "not ready".to_owned(),
            message: said.unwrap_or_default(),
            detail: String::new(),
        }
    }

    fn element(&self, name: &'static str) -> Element {
        Element::new(name)
            .with("message", &self.message)
            .with("type", &self.kind)
            .text(&self.detail)
    }
}
