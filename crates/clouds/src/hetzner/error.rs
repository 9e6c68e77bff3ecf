//! What can go wrong with a call to Hetzner: what was tried, what answered,
//! and what to do next.

use std::time::Duration;

use events::{Arrival, Class, Failure};
use http::StatusCode;
use peers::{DialError, bounds};

use super::{Kind, Meaning, Refusal};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a call to Hetzner has no good answer.
#[derive(Debug, thiserror::Error)]
pub enum HetznerError {
    /// There was no connection; the call has not left.
    #[error("could not {attempt}: no connection to {endpoint}")]
    Connect {
        /// What was tried.
        attempt: String,
        /// The address that was dialled.
        endpoint: String,
        /// What happened.
        source: Source,
    },
    /// The proxy does not lead there; the call has not left.
    #[error(
        "could not {attempt}: {source}; HTTPS_PROXY names the proxy, NO_PROXY lists exceptions"
    )]
    Proxy {
        /// What was tried.
        attempt: String,
        /// What is wrong with the proxy.
        source: DialError,
    },
    /// Whoever answers there does not have a certificate that we trust.
    #[error(
        "could not {attempt}: the certificate of {endpoint} is not trusted; \
         a proxy that opens TLS, or the wrong endpoint"
    )]
    Certificate {
        /// What was tried.
        attempt: String,
        /// The address that was dialled.
        endpoint: String,
        /// What is wrong with it.
        source: Source,
    },
    /// The connection ended before the whole answer was there.
    #[error("could not {attempt}: the answer was lost")]
    Lost {
        /// What was tried.
        attempt: String,
        /// What happened instead.
        source: Source,
    },
    /// There was no whole answer in time.
    #[error("could not {attempt}: no answer within {} s", after.as_secs_f32())]
    TimedOut {
        /// What was tried.
        attempt: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The answer has no end, or none that is worth waiting for.
    #[error("could not {attempt}: the answer is longer than {} MiB", bounds::CLOUD_ANSWER >> 20)]
    TooLong {
        /// What was tried.
        attempt: String,
    },
    /// The list has no end.
    #[error("could not {attempt}: after {pages} pages there are more")]
    EndlessPages {
        /// What was tried.
        attempt: String,
        /// How many pages were read.
        pages: u32,
    },
    /// The answer leads elsewhere, which the token is not sent to.
    #[error("could not {attempt}: {endpoint} redirects to {to} ({}), which is not followed", status.as_u16())]
    Redirected {
        /// What was tried.
        attempt: String,
        /// The address that was dialled.
        endpoint: String,
        /// The status of the answer.
        status: StatusCode,
        /// Where it leads.
        to: String,
    },
    /// Hetzner said no.
    #[error("could not {}: {refusal}", refusal.attempt)]
    Refused {
        /// What it said.
        refusal: Box<Refusal>,
    },
    /// Something answered that is not Hetzner's API.
    #[error("could not {attempt}: {endpoint} answers {status} with {content}, {}{}", instead_of(.content), saying(.excerpt))]
    NotTheApi {
        /// What was tried.
        attempt: String,
        /// The address that was dialled.
        endpoint: String,
        /// The status of the answer.
        status: StatusCode,
        /// What it says it is.
        content: String,
        /// How it begins.
        excerpt: String,
    },
    /// The answer does not have the form that it should have.
    #[error("could not {attempt}: the answer cannot be read at `{path}`")]
    Unreadable {
        /// What was tried.
        attempt: String,
        /// Where in the answer.
        path: String,
        /// What is wrong there.
        source: serde_json::Error,
    },
    /// Things came or went while a list was read, so that it may lack some.
    #[error("could not {attempt}: the list changed while it was read")]
    Shifted {
        /// What was tried.
        attempt: String,
    },
    /// The permit is for another call than the one that was to be made.
    #[error("a permit to {permitted} was used to {attempt}, which is a bug in seaworthy")]
    WrongPermit {
        /// What was to be done.
        attempt: String,
        /// What was permitted.
        permitted: String,
    },
    /// A name of ours is taken by something that is not ours.
    #[error("{kind} {name} (id {id}) is not ours: {}; rename the cluster, or that {kind}", claim(.claimed_by.as_deref()))]
    Foreign {
        /// What it is.
        kind: Kind,
        /// Its name.
        name: String,
        /// Its id.
        id: u64,
        /// The cluster that it belongs to, by its label.
        claimed_by: Option<String>,
    },
    /// Hetzner does not know actions that it has told us of.
    #[error("could not read actions: Hetzner does not know {}", list(.ids))]
    ActionsMissing {
        /// Their ids.
        ids: Vec<u64>,
    },
}

// === impl HetznerError ===

impl HetznerError {
    /// Returns what may be done about it.
    pub fn class(&self) -> Class {
        match self {
            Self::Connect { .. }
            | Self::Lost { .. }
            | Self::TimedOut { .. }
            | Self::Shifted { .. } => Class::Transient,
            Self::Proxy { source, .. } if !source.is_permanent() => Class::Transient,
            Self::Refused { refusal } => refusal.class(),
            // There is no code to go by.
            Self::NotTheApi { status, .. } => class_of_status(*status),
            Self::Certificate { .. }
            | Self::Proxy { .. }
            | Self::TooLong { .. }
            | Self::EndlessPages { .. }
            | Self::Redirected { .. }
            | Self::Unreadable { .. }
            | Self::WrongPermit { .. }
            | Self::Foreign { .. }
            | Self::ActionsMissing { .. } => Class::Permanent,
        }
    }

    /// Returns whether the call may have had its effect.
    pub fn arrival(&self) -> Arrival {
        match self {
            Self::Connect { .. }
            | Self::Proxy { .. }
            | Self::Certificate { .. }
            | Self::EndlessPages { .. }
            | Self::Shifted { .. }
            | Self::WrongPermit { .. }
            | Self::Foreign { .. }
            | Self::ActionsMissing { .. } => Arrival::No,
            Self::Refused { refusal } => refusal.meaning().arrival(),
            Self::Lost { .. }
            | Self::TimedOut { .. }
            | Self::TooLong { .. }
            | Self::Redirected { .. }
            | Self::NotTheApi { .. }
            | Self::Unreadable { .. } => Arrival::Maybe,
        }
    }

    /// Returns what Hetzner's code means, where it sent one.
    pub fn meaning(&self) -> Option<Meaning> {
        match self {
            Self::Refused { refusal } => Some(refusal.meaning()),
            _ => None,
        }
    }

    /// Returns whether another type or location may do.
    pub fn is_sold_out(&self) -> bool {
        matches!(self.meaning(), Some(Meaning::SoldOut | Meaning::NotOffered))
    }

    /// Returns whether what was asked for is not there.
    pub fn is_gone(&self) -> bool {
        self.meaning() == Some(Meaning::Gone)
    }
}

impl From<HetznerError> for Failure {
    fn from(error: HetznerError) -> Self {
        Self::of(error.class(), &error)
    }
}

fn class_of_status(status: StatusCode) -> Class {
    match status {
        StatusCode::TOO_MANY_REQUESTS => Class::RateLimited { after_ms: None },
        _ if status.is_server_error() => Class::Transient,
        _ => Class::Permanent,
    }
}

/// JSON that is no error of Hetzner's comes from somebody between.
fn instead_of(content: &str) -> &'static str {
    if content.starts_with("application/json") {
        "but not with an error of the Hetzner API"
    } else {
        "not with JSON"
    }
}

fn saying(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") }
}

fn claim(claimed_by: Option<&str>) -> String {
    claimed_by.map_or_else(
        || "it carries no cluster's label".to_owned(),
        |cluster| format!("it belongs to the cluster {cluster}"),
    )
}

fn list(ids: &[u64]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
