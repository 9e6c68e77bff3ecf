//! The client of a cluster, and another one where what it shows is over.
//!
//! Tokens of a file or a command are read anew by the client library when their
//! time has come. A token that was rotated or revoked before is only known by the
//! answer, and then the file has to be read and the command to be run again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::Access;

/// The way to an API: one client at a time.
pub(crate) struct Line {
    client: Mutex<Numbered>,
    /// How to make another client; none where it would show the same.
    access: Option<Access>,
    /// Many may be refused at once; one asks for a fresh token. It holds since
    /// when none was to be had.
    renewing: tokio::sync::Mutex<Option<Instant>>,
}

/// So long a fresh token may take. Somebody may have to type something for it,
/// but not while others wait.
const RENEWAL: Duration = Duration::from_mins(1);

/// So long nobody asks again where none was to be had: requests are refused by
/// the dozen then, and each would wait for a command that fails.
const NONE_TO_BE_HAD: Duration = Duration::from_secs(10);

/// A client, and its number in the row.
#[derive(Clone)]
pub(crate) struct Numbered {
    pub(crate) client: kube::Client,
    number: u32,
}

impl Line {
    pub(crate) fn new(client: kube::Client, access: Option<Access>) -> Self {
        let client = Mutex::new(Numbered { client, number: 0 });
        Self { client, access, renewing: tokio::sync::Mutex::default() }
    }

    pub(crate) fn client(&self) -> Numbered {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a client with a fresh token, after one whose token the API did not
    /// take; none where there is no other.
    pub(crate) async fn after(&self, refused: &Numbered) -> Option<Numbered> {
        let access = self.access.as_ref()?;
        let mut failed = self.renewing.lock().await;
        let now = self.client();
        if now.number != refused.number {
            return Some(now);
        }
        if failed.is_some_and(|since| since.elapsed() < NONE_TO_BE_HAD) {
            return None;
        }
        // Why there is none is told with the next request that needs one.
        let Ok(Ok((client, _))) = timeout(RENEWAL, access.client()).await else {
            *failed = Some(Instant::now());
            return None;
        };
        *failed = None;
        let next = Numbered { client, number: now.number.wrapping_add(1) };
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
        Some(next)
    }
}
