//! Takes down what others said, harmless and short: see [`crate::text`].

use std::collections::BTreeMap;

use events::{
    Attachment, Because, Cause, Evidence, Fact, Failure, NextStep, Observed, Secret, SecretsLedger,
    ShownBy, Verdict,
};
use serde_json::Value;

use crate::text::line;

/// The largest value of a fact that is repeated as it is, in bytes of JSON.
const FACT_LIMIT: usize = 4_096;

/// The longest chain of causes that is repeated.
const CHAIN_LIMIT: usize = 100;

pub(crate) fn verdict(verdict: &Verdict) -> Verdict {
    match verdict {
        Verdict::Ready { evidence } => Verdict::ready(self::evidence(evidence)),
        Verdict::NotYet { because } => Verdict::not_yet(Because {
            what: line(&because.what),
            chain: lines(&because.chain),
            in_the_end: because.in_the_end.as_deref().map(cause).map(Box::new),
            sure_after_ms: because.sure_after_ms,
        }),
        Verdict::Blind { error } => Verdict::blind(failure(error)),
        Verdict::Failed { cause } => Verdict::failed(self::cause(cause)),
    }
}

pub(crate) fn cause(cause: &Cause) -> Cause {
    Cause {
        code: cause.code,
        message: line(&cause.message),
        heals: cause.heals,
        shown_by: cause.shown_by.as_ref().map(shown_by),
        because: lines(&cause.because),
        also: lines(&cause.also),
        so: cause.so.as_deref().map(line),
        evidence: cause.evidence.as_deref().map(evidence).map(Box::new),
        next: cause.next.iter().map(next_step).collect(),
    }
}

pub(crate) fn hidden(removed: &SecretsLedger) -> BTreeMap<String, u64> {
    removed.0.iter().map(|(name, count)| (line(name), *count)).collect()
}

fn shown_by(shown: &ShownBy) -> ShownBy {
    ShownBy { last_answer: shown.last_answer.as_deref().map(line), ..shown.clone() }
}

pub(crate) fn failure(failure: &Failure) -> Failure {
    Failure {
        class: failure.class,
        message: line(&failure.message),
        sources: lines(&failure.sources),
    }
}

fn evidence(evidence: &Evidence) -> Evidence {
    Evidence {
        summary: line(&evidence.summary),
        facts: evidence.facts.iter().map(fact).collect(),
        files: evidence.files.iter().map(attachment).collect(),
        simulated: evidence.simulated,
    }
}

fn fact(fact: &Fact) -> Fact {
    let value = match &fact.value {
        Observed::Secret(_) => Value::from(Secret::MASK),
        Observed::Plain(value) => small(harmless(value)),
    };
    Fact { name: line(&fact.name), value: Observed::Plain(value) }
}

fn harmless(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(line(text)),
        Value::Array(values) => values.iter().map(harmless).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (line(name), harmless(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Keeps the structure of a value where it is small, and its head as text otherwise.
fn small(value: Value) -> Value {
    let text = value.to_string();
    if value.is_string() || text.len() <= FACT_LIMIT {
        return value;
    }
    Value::String(line(&text))
}

fn attachment(file: &Attachment) -> Attachment {
    Attachment { name: line(&file.name), ..file.clone() }
}

fn next_step(step: &NextStep) -> NextStep {
    NextStep { command: line(&step.command), tells: line(&step.tells) }
}

fn lines(foreign: &[String]) -> Vec<String> {
    let mut told: Vec<_> = foreign.iter().take(CHAIN_LIMIT).map(|text| line(text)).collect();
    if let Some(more @ 1..) = foreign.len().checked_sub(CHAIN_LIMIT) {
        told.push(format!("… {more} more, in the journal"));
    }
    told
}
