//! The wish to stop, as the operating system brings it.

use std::io;
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// Signals that ask for an end.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// From here on no signal ends the process by itself; two of them always do.
    pub(crate) fn listen() -> io::Result<Self> {
        watch_over()?;
        Self::new()
    }

    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next, and returns what people call it.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "Ctrl-C",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}

/// How long the process may take to end by itself after the second signal.
const GRACE: Duration = Duration::from_secs(2);

/// Ends the process after the second signal, whatever it waits for: an answer, a
/// reader of its output, or a lock. In a thread of its own, because whoever waits
/// hears nothing.
fn watch_over() -> io::Result<()> {
    static STARTED: OnceLock<()> = OnceLock::new();
    if STARTED.set(()).is_err() {
        return Ok(());
    }
    let (ready, listening) = mpsc::channel();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error))),
        };
        let is_asked_twice = runtime.block_on(async {
            let mut signals = match Signals::new() {
                Ok(signals) => signals,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return false;
                }
            };
            let _ = ready.send(Ok(()));
            signals.next().await;
            signals.next().await;
            grace().await;
            true
        });
        if is_asked_twice {
            end();
        }
    })?;
    listening.recv().unwrap_or(Ok(()))
}

#[expect(clippy::disallowed_methods, reason = "nothing may hold up the end")]
async fn grace() {
    tokio::time::sleep(GRACE).await;
}

#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "`main` is stuck, and was asked twice to end"
)]
fn end() -> ! {
    std::process::exit(i32::from(Exit::Interrupted.code()))
}
