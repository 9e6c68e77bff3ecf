//! The client of a cluster and what it shows, fetched anew where that is over.
//!
//! A credential says when it ends, or only the API knows: then it is refused, and
//! the file has to be read and the plugin to be run again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use events::{Clock, Secret};
use http::HeaderValue;
use tokio::time::{Instant, timeout};

use crate::connect::{Credential, Parts};
use crate::{Access, AccessError, NoCredential};

/// The way to an API: one credential at a time.
pub(crate) struct Line {
    shown: Mutex<Numbered>,
    /// How to get another credential; none where it would be the same.
    renewal: Option<(Access, Parts)>,
    /// Many may be refused at once; one asks for a fresh credential. It holds
    /// since when none was to be had.
    renewing: tokio::sync::Mutex<Option<Instant>>,
    clock: Clock,
}

/// So long a fresh credential may take. Somebody may have to type something for
/// it, but not while others wait.
const RENEWAL: Duration = Duration::from_mins(1);

/// So long nobody asks again where none was to be had: requests are refused by
/// the dozen then, and each would wait for a plugin that fails.
const NONE_TO_BE_HAD: Duration = Duration::from_secs(10);

/// A client with what it shows, and its number in the row.
#[derive(Clone)]
pub(crate) struct Numbered {
    pub(crate) client: kube::Client,
    credential: Credential,
    number: u32,
}

impl Numbered {
    /// Returns the value of `Authorization`.
    pub(crate) fn authorization(&self) -> Option<&HeaderValue> {
        self.credential.authorization.as_ref()
    }
}

impl Line {
    pub(crate) fn new(
        client: kube::Client,
        credential: Credential,
        renewal: Option<(Access, Parts)>,
        clock: Clock,
    ) -> Self {
        let shown = Mutex::new(Numbered { client, credential, number: 0 });
        Self { shown, renewal, renewing: tokio::sync::Mutex::default(), clock }
    }

    /// Returns what must not be shown.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        self.last().credential.secrets
    }

    fn last(&self) -> Numbered {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a client whose credential is good, as far as it says itself.
    pub(crate) async fn client(&self) -> Result<Numbered, NoCredential> {
        let last = self.last();
        let Some(renewal) = self.renewal.as_ref().filter(|_| last.credential.is_over(&self.clock))
        else {
            return Ok(last);
        };
        let _one = self.renewing.lock().await;
        let now = self.last();
        if now.number != last.number && !now.credential.is_over(&self.clock) {
            return Ok(now);
        }
        match self.renew(renewal, &now).await {
            Ok(fresh) => Ok(fresh),
            Err(_) if now.credential.lasts() => Ok(now),
            Err(reason) => Err(reason),
        }
    }

    /// Returns a client with a fresh credential, after one that the API did not
    /// take; none where there is no other.
    pub(crate) async fn after(&self, refused: &Numbered) -> Option<Numbered> {
        let renewal = self.renewal.as_ref()?;
        let mut failed = self.renewing.lock().await;
        let now = self.last();
        if now.number != refused.number {
            return Some(now);
        }
        if failed.is_some_and(|since| since.elapsed() < NONE_TO_BE_HAD) {
            return None;
        }
        // Why there is none is told with the next request that needs one.
        let renewed = timeout(RENEWAL, self.renew(renewal, &now)).await;
        *failed = if matches!(renewed, Ok(Ok(_))) { None } else { Some(Instant::now()) };
        renewed.ok()?.ok()
    }

    async fn renew(
        &self,
        (access, parts): &(Access, Parts),
        now: &Numbered,
    ) -> Result<Numbered, NoCredential> {
        let unmade = |error: AccessError| match error {
            AccessError::NoCredential { reason, .. } => reason,
            other => NoCredential::Other(other.to_string()),
        };
        let credential = access.fetch(parts).await.map_err(unmade)?;
        let client = if credential.identity.is_some() {
            access.client(parts, &credential).await.map_err(unmade)?
        } else {
            now.client.clone()
        };
        let next = Numbered { client, credential, number: now.number.wrapping_add(1) };
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
        Ok(next)
    }
}
