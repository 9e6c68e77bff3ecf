//! The runtime of a command that talks to others.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, available_parallelism};

use events::io_reason;
use tokio::runtime::Runtime;

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Threads beside one for each processor: for files, names, and what people see.
const BESIDE: usize = 4;

/// Does a command's work on a runtime of its own.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = new()?;
    let ended = runtime.block_on(work);
    // Whatever still waits for an answer must not hold up the end.
    runtime.shutdown_background();
    ended
}

/// Makes a runtime, or says what this machine lacks for it.
pub(crate) fn new() -> Result<Runtime, CommandError> {
    let threads = available_parallelism().map_or(1, usize::from) + BESIDE;
    room_for(threads).map_err(|error| {
        let message = format!("could not start {threads} threads: {}", io_reason(&error));
        CommandError::say(Exit::Internal, message)
            .hint("`ulimit -u` limits threads, `ulimit -v` the memory for their stacks")
    })?;
    Runtime::new().map_err(|error| {
        let message = format!("could not start the runtime: {}", io_reason(&error));
        CommandError::say(Exit::Internal, message)
    })
}

/// The runtime panics where a thread of it cannot be started, so it is tried out
/// before: all at once, each until the last one was started.
fn room_for(threads: usize) -> io::Result<()> {
    let (begun, stay) = mpsc::channel::<()>();
    let stay = Arc::new(Mutex::new(stay));
    let started: io::Result<Vec<_>> = (0..threads)
        .map(|_| {
            let stay = Arc::clone(&stay);
            // Ends once the sender is gone.
            thread::Builder::new().spawn(move || {
                let _ = stay.lock().map(|stay| stay.recv());
            })
        })
        .collect();
    drop(begun);
    for thread in started? {
        let _ = thread.join();
    }
    Ok(())
}
