//! `annotations.txt`: workflow commands that GitHub turns into annotations.
//!
//! GitHub shows ten annotations of a kind per step and drops the others without
//! a word, so the most causal come first and the tenth says how many are missing.

use std::fmt::Write as _;

use events::Cause;

use crate::{Story, text, words};

/// GitHub's limit per kind and step.
const LIMIT: usize = 10;

struct Annotation {
    title: String,
    message: String,
}

/// Returns `annotations.txt`.
pub fn annotations(story: &Story) -> String {
    let mut page = String::new();
    write(&mut page, "error", errors(story));
    write(&mut page, "warning", warnings(story));
    write(&mut page, "notice", notices(story));
    page
}

fn errors(story: &Story) -> Vec<Annotation> {
    let Some(first) = story.first_cause() else {
        return Vec::new();
    };
    let others = story.failures();
    let others = others.iter().filter(|unit| unit.unit != *first.unit);
    let mut errors = vec![error(&first.unit.to_string(), first.cause)];
    errors.extend(others.filter_map(|unit| Some(error(&unit.unit.to_string(), unit.cause()?))));
    errors
}

fn error(place: &str, cause: &Cause) -> Annotation {
    let mut message = cause.message.clone();
    for line in &cause.because {
        let _ = write!(message, "\nbecause {line}");
    }
    for line in &cause.also {
        let _ = write!(message, "\nalso {line}");
    }
    if let Some(so) = &cause.so {
        let _ = write!(message, "\nso {so}");
    }
    for step in &cause.next {
        let _ = write!(message, "\nnext: {} ({})", step.command, step.tells);
    }
    Annotation { title: format!("{} at {place}", cause.code), message: text::clip(&message, 4_000) }
}

fn warnings(story: &Story) -> Vec<Annotation> {
    let warnings = story.warnings().iter().map(|warning| Annotation {
        title: warning.unit.as_ref().map_or("seaworthy".to_owned(), ToString::to_string),
        message: warning.message.clone(),
    });
    let missing = story
        .missing()
        .iter()
        .map(|missing| Annotation { title: "not proven".to_owned(), message: missing.clone() });
    missing.chain(warnings).collect()
}

fn notices(story: &Story) -> Vec<Annotation> {
    let Some(run) = story.run() else {
        return Vec::new();
    };
    let mut message = format!("{} in {}", story.outcome().word(), words::duration(story));
    if let Some(cost) = words::cost(story) {
        message = format!("{message}, {cost}");
    }
    let title = format!("seaworthy {} {}", run.command, run.cluster);
    vec![Annotation { title, message }]
}

fn write(page: &mut String, kind: &str, mut annotations: Vec<Annotation>) {
    let total = annotations.len();
    if total > LIMIT {
        annotations.truncate(LIMIT - 1);
        annotations.push(Annotation {
            title: "more".to_owned(),
            message: format!("{} more, in the report", total + 1 - LIMIT),
        });
    }
    for Annotation { title, message } in annotations {
        let (title, message) = (property(&title), data(&message));
        let _ = writeln!(page, "::{kind} title={title}::{message}");
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
