//! Answers that make no valid file, and which ones they are.

use std::fmt;
use std::net::Ipv4Addr;

use super::question::{Answers, questions};
use crate::read::{Colour, Problem, Severity, Source, Span};
use crate::reading::Reading;
use crate::scalar::one_of;

/// Answers that are fine one by one, but make no valid file.
#[derive(Debug)]
pub struct Refusal {
    reading: Reading,
    questions: Vec<&'static str>,
}

impl Refusal {
    pub(super) fn new(reading: Reading, answers: &Answers) -> Self {
        let errors = reading.problems().iter().filter(|it| it.severity == Severity::Error);
        let to_blame: Vec<_> =
            errors.map(|problem| concerned(problem, reading.source(), answers)).collect();
        // A problem that no answer explains may come from any of them.
        let all_are_explained = to_blame.iter().all(|keys| !keys.is_empty());
        let is_concerned =
            |key: &&str| !all_are_explained || to_blame.iter().any(|keys| keys.contains(key));
        let questions = questions(answers.cloud()).map(|it| it.key).filter(is_concerned).collect();
        Self { reading, questions }
    }

    /// The questions whose answers have to change, in the order in which they are asked.
    pub fn questions(&self) -> &[&'static str] {
        &self.questions
    }

    /// What is wrong, shown in the file that would have been written under this name.
    pub fn render(&self, name: &str, colour: Colour) -> String {
        self.reading.render_problems(name, colour)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.questions.as_slice() {
            [key] => write!(f, "the answer to `{key}` cannot be used"),
            keys => {
                let keys = one_of(keys).replace(" or ", " and ");
                write!(f, "the answers to {keys} do not fit together")
            }
        }
    }
}

/// The questions whose answers stand where a problem points.
fn concerned(problem: &Problem, source: &Source, answers: &Answers) -> Vec<&'static str> {
    problem.places().flat_map(|place| answered_at(place, source, answers)).collect()
}

fn answered_at(place: Span, source: &Source, answers: &Answers) -> Vec<&'static str> {
    let text = source.text().get(place.start..place.end).unwrap_or_default().trim_matches('"');
    let stands_here = |key: &&str| answers.get(key).is_some_and(|answer| answer == text);
    let found: Vec<_> =
        questions(answers.cloud()).map(|question| question.key).filter(stands_here).collect();
    // All other addresses in the file are counted from the first.
    if found.is_empty() && text.parse::<Ipv4Addr>().is_ok() {
        return vec!["first-address"];
    }
    found
}
