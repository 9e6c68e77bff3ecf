//! Answers that come one after the other, until a time that was set.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tonic::{Request, Response, Status, Streaming};

use super::{Client, ClientError, Reason};

/// How much earlier than ours a node's clock may strike.
const MOMENT: Duration = Duration::from_millis(250);

/// A stream of answers with an end: the node is told of it, and where it does
/// not keep to it, we do.
pub(super) struct Feed<M> {
    client: Client,
    attempt: &'static str,
    stream: Streaming<M>,
    until: Instant,
}

impl Client {
    /// Begins a stream of answers. That it begins has the deadline of every
    /// question; it ends after `patience`.
    pub(super) async fn feed<T, M>(
        &self,
        attempt: &'static str,
        patience: Duration,
        message: T,
        call: impl AsyncFnOnce(Request<T>) -> Result<Response<Streaming<M>>, Status>,
    ) -> Result<Feed<M>, ClientError> {
        let until = Instant::now() + patience;
        let mut request = Request::new(message);
        request.set_timeout(patience);
        let stream = self.ask(attempt, async { self.answer(call(request).await) }).await?;
        Ok(Feed { client: self.clone(), attempt, stream, until })
    }
}

impl<M> Feed<M> {
    /// Waits for the next answer; there is none once the time is over.
    pub(super) async fn next(&mut self) -> Result<Option<M>, ClientError> {
        let Ok(next) = timeout_at(self.until, self.stream.message()).await else {
            return Ok(None);
        };
        match next.map_err(|status| self.client.reason(&status)) {
            Ok(message) => Ok(message),
            // The node has looked at its clock a moment before us, and calls
            // that by one name or the other.
            Err(Reason::Deadline | Reason::Cancelled) if self.is_over() => Ok(None),
            Err(reason) => Err(self.error(reason)),
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() + MOMENT >= self.until
    }

    pub(super) fn error(&self, reason: Reason) -> ClientError {
        self.client.error(self.attempt, reason)
    }
}

impl<M> fmt::Debug for Feed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("client", &self.client)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
