//! The kinds of trouble, and what each means for whoever asked.

use std::fmt;
use std::time::Duration;

use events::{Arrival, Class};

use super::{FieldConflict, FieldProblem, Immutable, NoCredential, Right, Unreachable};
use crate::Slip;

/// What is the matter with a request. Told apart by what the API says in its
/// structured answer, and by text only where it says nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There was no answer, or not a whole one.
    Unreachable(Unreachable),
    /// There is nothing to show to the API, so nothing was sent.
    NoCredential(Box<NoCredential>),
    /// The API does not know who asks.
    Unauthenticated,
    /// Who asks may not.
    Forbidden(String),
    /// A webhook, a quota or a policy said no.
    Denied(String),
    /// A webhook takes no dry runs, so that this cannot be tried out.
    NoDryRun {
        /// The webhook.
        webhook: String,
    },
    /// The object is not there.
    Absent,
    /// The API does not serve this kind.
    KindMissing {
        /// The kind with its version.
        kind: String,
        /// Groups that the API could not ask; the kind may be one of theirs.
        stale: Vec<String>,
        /// What is wrong with its name; none where its definition may be missing.
        slip: Option<Box<Slip>>,
    },
    /// Who answers is no Kubernetes API: it does not even know where its
    /// catalogue would be.
    NoApi(String),
    /// The namespace is not there.
    NamespaceMissing(String),
    /// The namespace is on its way out.
    NamespaceTerminating(String),
    /// An object of that name is there already.
    AlreadyExists,
    /// Fields belong to other managers.
    Ownership(Vec<FieldConflict>),
    /// It has changed since it was read, or is another object of the same name.
    Changed(String),
    /// Fields are not as they must be.
    Invalid(Vec<FieldProblem>),
    /// Fields cannot be changed while the object is there.
    Immutable(Box<Immutable>),
    /// The resource version is too old to go on from.
    Expired,
    /// The API asks for a pause.
    Throttled(Option<Duration>),
    /// The API has trouble of its own.
    Unavailable {
        /// The HTTP status.
        code: u16,
        /// What it said.
        message: String,
        /// The pause that it asks for.
        after: Option<Duration>,
    },
    /// The object has more bytes than the API takes.
    TooLarge,
    /// Another no.
    Refused {
        /// The HTTP status.
        code: u16,
        /// What it said.
        message: String,
    },
    /// An answer that cannot be read.
    Garbled(String),
    /// More came than is read.
    TooLong {
        /// What has no end.
        what: &'static str,
        /// How many bytes of it are read.
        most: usize,
    },
    /// A list whose pages do not end.
    EndlessPages(String),
    /// The API sends us elsewhere, and our credential would go along.
    Redirected {
        /// The HTTP status.
        code: u16,
        /// Where to, where it says so.
        to: Option<String>,
    },
}

impl Trouble {
    /// Returns what may be done about it.
    pub fn class(&self) -> Class {
        match self {
            Self::Unreachable(_)
            | Self::Expired
            | Self::Garbled(_)
            | Self::NamespaceTerminating(_)
            | Self::Unavailable { after: None, .. } => Class::Transient,
            Self::Throttled(after) => Class::RateLimited { after_ms: after.map(milliseconds) },
            Self::Unavailable { after: Some(after), .. } => {
                Class::RateLimited { after_ms: Some(milliseconds(*after)) }
            }
            Self::Changed(_) => Class::Conflict,
            Self::NoCredential(_)
            | Self::Unauthenticated
            | Self::Forbidden(_)
            | Self::Denied(_)
            | Self::NoDryRun { .. }
            | Self::Absent
            | Self::KindMissing { .. }
            | Self::NoApi(_)
            | Self::NamespaceMissing(_)
            | Self::AlreadyExists
            | Self::Ownership(_)
            | Self::Invalid(_)
            | Self::Immutable(_)
            | Self::TooLarge
            | Self::TooLong { .. }
            | Self::EndlessPages(_)
            | Self::Redirected { .. }
            | Self::Refused { .. } => Class::Permanent,
        }
    }

    /// Returns whether the request may have had its effect all the same.
    pub fn arrival(&self) -> Arrival {
        match self {
            Self::Unreachable(how) => how.arrival(),
            // A gateway, or a write that timed out in etcd, knows no better.
            Self::Unavailable { .. } | Self::Garbled(_) | Self::TooLong { .. } => Arrival::Maybe,
            _ => Arrival::No,
        }
    }

    /// Returns the right that is missing, where the API names it.
    pub fn missing_right(&self) -> Option<Right> {
        match self {
            Self::Forbidden(message) => Right::told(message),
            _ => None,
        }
    }

    /// Returns what to do next, where there is something to do.
    pub fn next(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable(how) => how.next(),
            Self::NoCredential(reason) => reason.next(),
            Self::Unauthenticated => Some("get a fresh kubeconfig or token"),
            Self::Forbidden(_) => Some("`kubectl auth can-i --list` shows what is allowed"),
            Self::Denied(_) => Some("change the object or the policy"),
            Self::NoDryRun { .. } => {
                Some("if it does nothing on dry runs, let it say `sideEffects: NoneOnDryRun`")
            }
            Self::KindMissing { stale, .. } if !stale.is_empty() => {
                Some("`kubectl get apiservices` shows which servers do not answer")
            }
            Self::KindMissing { slip: Some(slip), .. } => slip.next(),
            Self::KindMissing { slip: None, .. } => {
                Some("apply its CustomResourceDefinition first")
            }
            Self::NoApi(_) => {
                Some("look at the server of the kubeconfig: its address or its path is another's")
            }
            Self::NamespaceMissing(_) => Some("apply the namespace first"),
            Self::NamespaceTerminating(_) => Some("wait until it is gone"),
            Self::Ownership(_) => Some("leave these fields out, or take them over"),
            Self::Changed(_) => Some("look again"),
            Self::TooLarge => Some("an object has at most 1.5 MiB; split it"),
            Self::Invalid(_) => Some("correct the manifest"),
            Self::Immutable(fields) => Some(fields.next),
            Self::TooLong { .. } | Self::EndlessPages(_) => {
                Some("look whether something else than Kubernetes answers there")
            }
            Self::Redirected { .. } => {
                Some("write the address of the API itself as `server` into the kubeconfig")
            }
            Self::Absent
            | Self::AlreadyExists
            | Self::Expired
            | Self::Throttled(_)
            | Self::Unavailable { .. }
            | Self::Refused { .. }
            | Self::Garbled(_) => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(how) => write!(f, "{how}"),
            Self::NoCredential(reason) => write!(f, "{reason}"),
            Self::Unauthenticated => f.write_str("the API does not know who asks (401)"),
            // The right says all that the API does, in the form in which it is granted.
            Self::Forbidden(message) => match self.missing_right() {
                Some(right) => write!(f, "not allowed: {right}"),
                None => write!(f, "not allowed: {message}"),
            },
            Self::Denied(message) | Self::Changed(message) => f.write_str(message),
            Self::NoDryRun { webhook } => {
                write!(f, "it cannot be tried out, because webhook {webhook} takes no dry runs")
            }
            Self::Absent => f.write_str("it is not there"),
            Self::KindMissing { kind, stale, slip } => {
                write!(f, "the API serves no {kind}")?;
                slip.iter().try_for_each(|slip| write!(f, "{slip}"))?;
                let mut unheard = || write!(f, ", but did not hear from {}", stale.join(", "));
                if stale.is_empty() { Ok(()) } else { unheard() }
            }
            Self::NoApi(path) => {
                write!(f, "no Kubernetes API answers there: {path} is not found (404)")
            }
            Self::NamespaceMissing(name) => write!(f, "there is no namespace {name}"),
            Self::NamespaceTerminating(name) => write!(f, "namespace {name} is being deleted"),
            Self::AlreadyExists => f.write_str("it is there already"),
            Self::Ownership(fields) => joined(f, fields),
            Self::Invalid(problems) => joined(f, problems),
            Self::Immutable(fields) => write!(f, "{fields}"),
            Self::Expired => f.write_str("the resource version is too old"),
            Self::Throttled(Some(after)) => {
                write!(f, "the API asks for a pause of {} s", after.as_secs())
            }
            Self::Throttled(None) => f.write_str("the API asks for a pause"),
            Self::TooLarge => f.write_str("the object is too large"),
            Self::Unavailable { code, message, .. } | Self::Refused { code, message } => {
                write!(f, "{message} ({code})")
            }
            Self::Garbled(problem) => write!(f, "the answer cannot be read: {problem}"),
            Self::TooLong { what, most } => {
                write!(f, "{what} has more than {} MiB, and no more is read", most >> 20)
            }
            Self::EndlessPages(problem) => write!(f, "the list has no end: {problem}"),
            Self::Redirected { code, to } => {
                write!(f, "it redirects to {} ({code})", to.as_deref().unwrap_or("nowhere"))?;
                f.write_str(", and redirects are not followed: credentials would go along")
            }
        }
    }
}

pub(super) fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, parts: &[T]) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if index == 0 { "" } else { ", " })?;
    }
    Ok(())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
