//! Deadlines: no question and no call waits for ever.
//!
//! ```text
//!  ask     a question; given up, it is dropped
//!  change  a call that changes something: a task of its own, which is never
//!  labour  dropped. Given up is only the wait for it
//! ```
//!
//! The node is told the deadline and ends a call by itself then. A link may die
//! before that arrives, so we keep the time for the whole answer, too.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;
use tonic::Request;

use super::{Client, ClientError, Reason};

/// How much sooner than we the node may notice that a deadline has passed.
const AT_ONCE: Duration = Duration::from_millis(200);

/// How long to wait for a node. Some questions have no answer before the node
/// has come far enough, so nothing is asked without a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// For a connection, until the node speaks.
    pub connect: Duration,
    /// For the answer to a question.
    pub read: Duration,
    /// For the answer to a call that changes something.
    pub change: Duration,
    /// For calls that move images: a pull, and what an installer does.
    pub long: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            read: Duration::from_secs(10),
            change: Duration::from_secs(30),
            long: Duration::from_mins(10),
        }
    }
}

impl Client {
    /// Asks something. The deadline holds for the whole of the answer.
    pub(super) async fn ask<T>(
        &self,
        attempt: &'static str,
        question: impl Future<Output = Result<T, Reason>>,
    ) -> Result<T, ClientError> {
        let answer = in_time(self.node.deadlines.read, question).await;
        answer.map_err(|reason| self.error(attempt, reason))
    }

    /// Carries a call that changes something to its answer.
    pub(super) async fn change<T, C>(
        &self,
        attempt: &'static str,
        call: impl FnOnce(Self) -> C,
    ) -> Result<T, ClientError>
    where
        T: Send + 'static,
        C: Future<Output = Result<T, Reason>> + Send + 'static,
    {
        let call = call(self.clone());
        self.carry(attempt, self.node.deadlines.change, call).await
    }

    /// Carries a call that moves images to its whole answer.
    pub(super) async fn labour<T, C>(
        &self,
        attempt: &'static str,
        call: impl FnOnce(Self) -> C,
    ) -> Result<T, ClientError>
    where
        T: Send + 'static,
        C: Future<Output = Result<T, Reason>> + Send + 'static,
    {
        let call = call(self.clone());
        self.carry(attempt, self.node.deadlines.long, call).await
    }

    /// A call that nobody waits for any more goes on until the node ends it,
    /// which was told the same deadline, or until the connection is over.
    async fn carry<T: Send + 'static>(
        &self,
        attempt: &'static str,
        deadline: Duration,
        call: impl Future<Output = Result<T, Reason>> + Send + 'static,
    ) -> Result<T, ClientError> {
        let task = tokio::spawn(call);
        let answer = in_time(deadline, async {
            task.await.unwrap_or_else(|stopped| match stopped.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Reason::Cancelled),
            })
        });
        answer.await.map_err(|reason| self.error(attempt, reason))
    }

    /// Returns a question with its deadline, which the node is told.
    pub(super) fn question<T>(&self, message: T) -> Request<T> {
        with_deadline(message, self.node.deadlines.read)
    }

    /// Returns a call that changes something, with its deadline.
    pub(super) fn order<T>(&self, message: T) -> Request<T> {
        with_deadline(message, self.node.deadlines.change)
    }

    /// Returns a call that moves images, with its deadline.
    pub(super) fn long<T>(&self, message: T) -> Request<T> {
        with_deadline(message, self.node.deadlines.long)
    }
}

/// Waits for an answer until its deadline. The node was told the same deadline
/// and ends the call by itself then, which may arrive before we have noticed.
async fn in_time<T>(
    deadline: Duration,
    call: impl Future<Output = Result<T, Reason>>,
) -> Result<T, Reason> {
    let began = Instant::now();
    match tokio::time::timeout(deadline, call).await {
        Err(_) => Err(Reason::Deadline),
        Ok(Err(Reason::Cancelled)) if began.elapsed() + AT_ONCE >= deadline => {
            Err(Reason::Deadline)
        }
        Ok(answer) => answer,
    }
}

fn with_deadline<T>(message: T, deadline: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(deadline);
    request
}
