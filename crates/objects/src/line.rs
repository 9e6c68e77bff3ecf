//! The client of a cluster, and another one where what it shows is over.
//!
//! Tokens of a file or a command are read anew by the client library when their
//! time has come. A token that was rotated or revoked before is only known by the
//! answer, and then the file has to be read and the command to be run again.

use std::sync::{Mutex, PoisonError};

use crate::Access;

/// The way to an API: one client at a time.
pub(crate) struct Line {
    client: Mutex<Numbered>,
    /// How to make another client; none where it would show the same.
    access: Option<Access>,
    /// Many may be refused at once; one asks for a fresh token.
    renewing: tokio::sync::Mutex<()>,
}

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
        let _one = self.renewing.lock().await;
        let now = self.client();
        if now.number != refused.number {
            return Some(now);
        }
        // Why there is none is told with the next request that needs one.
        let (client, _) = access.client().await.ok()?;
        let next = Numbered { client, number: now.number.wrapping_add(1) };
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
        Some(next)
    }
}
