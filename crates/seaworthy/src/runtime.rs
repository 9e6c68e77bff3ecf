//! The runtime of a command that talks to others.

use std::future::Future;

use crate::command_error::CommandError;

/// Does a command's work on a runtime of its own.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(work);
    // Whatever still waits for an answer must not hold up the end.
    runtime.shutdown_background();
    ended
}
