//! What speaks against being ready.

use std::time::Duration;

use events::{Because, Cause, Code, Evidence, Fact, Heals, Observed, Verdict};

/// One thing that is not as it must be.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    cause: Cause,
    hope: Hope,
    sure_after: Option<Duration>,
}

/// Whether waiting can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hope {
    /// It may become so.
    Left,
    /// It will not.
    Gone,
}

/// What a gate has found so far: facts, and what speaks against being ready,
/// the truest cause first.
#[derive(Debug, Default)]
pub(crate) struct Inquiry {
    facts: Vec<Fact>,
    findings: Vec<Finding>,
}

impl Finding {
    /// Something that may still come.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { cause: Cause::new(code, message), hope: Hope::Left, sure_after: None }
    }

    /// Says what lies behind it.
    pub(crate) fn because<T: Into<String>>(mut self, chain: impl IntoIterator<Item = T>) -> Self {
        self.cause = self.cause.because(chain);
        self
    }

    /// Says that waiting will not help.
    pub(crate) fn hopeless(self) -> Self {
        self.hope(Hope::Gone)
    }

    /// Says whether waiting can help.
    pub(crate) fn hope(mut self, hope: Hope) -> Self {
        self.hope = hope;
        self
    }

    /// Says that it stays until somebody changes something, where it shows for so
    /// long; at first it may pass.
    pub(crate) fn stays(mut self, sure_after: Option<Duration>) -> Self {
        if sure_after.is_some() {
            self.cause = self.cause.heals(Heals::AfterAction);
        }
        self.sure_after = sure_after;
        self
    }

    /// Says what follows from it.
    pub(crate) fn so(mut self, text: impl Into<String>) -> Self {
        self.cause = self.cause.so(text);
        self
    }

    /// Adds a command that helps.
    pub(crate) fn next(mut self, command: impl Into<String>, tells: impl Into<String>) -> Self {
        self.cause = self.cause.next(command, tells);
        self
    }
}

impl Inquiry {
    /// Takes down a fact.
    pub(crate) fn fact(&mut self, name: impl Into<String>, value: impl Into<Observed>) {
        self.facts.push(Fact { name: name.into(), value: value.into() });
    }

    /// Takes down what speaks against being ready.
    pub(crate) fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Takes down several of them, or none.
    pub(crate) fn found_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Returns whether nothing speaks against it so far.
    pub(crate) fn is_clear(&self) -> bool {
        self.findings.is_empty()
    }

    /// Ready if nothing speaks against it. Else the first finding that leaves
    /// no hope decides, or simply the first.
    pub(crate) fn conclude(self, summary: impl Into<String>) -> Verdict {
        let hopeless = self.findings.iter().position(|finding| finding.hope == Hope::Gone);
        let Some(finding) = self.findings.get(hopeless.unwrap_or(0)) else {
            return Verdict::ready(self.evidence(summary.into()));
        };
        let Finding { cause, hope, sure_after } = finding.clone();
        let cause = cause.seen(self.evidence(finding.cause.message.clone()));
        match hope {
            Hope::Gone => Verdict::failed(cause),
            Hope::Left => {
                let because = Because::new(self.with_count(&cause.message));
                let because = cause.because.iter().cloned().fold(because, Because::caused_by);
                let because = because.in_the_end(cause);
                Verdict::not_yet(match sure_after {
                    Some(time) => because.sure_after(time),
                    None => because,
                })
            }
        }
    }

    fn evidence(&self, summary: String) -> Evidence {
        let mut evidence = Evidence::new(summary);
        evidence.facts.clone_from(&self.facts);
        let messages: Vec<_> = self.findings.iter().map(|one| one.cause.message.clone()).collect();
        if messages.len() > 1 {
            evidence = evidence.fact("all that is missing", messages);
        }
        evidence
    }

    fn with_count(&self, message: &str) -> String {
        match self.findings.len() {
            0 | 1 => message.to_owned(),
            many => format!("{message} (and {} more)", many - 1),
        }
    }
}
