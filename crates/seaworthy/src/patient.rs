//! Words for people that nobody may be reading just now: a full pipe, or a
//! terminal that was stopped with Ctrl-S. A run must neither wait for them for
//! ever nor be deaf to Ctrl-C meanwhile.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A writer to stderr that gives up where stderr takes nothing for a while.
/// After that, nothing more is written there by anybody in this process.
#[derive(Debug)]
pub(crate) struct Patient<W>(W);

/// Nobody reads: it is not tried again.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// The process is to end at once.
static HURRIED: AtomicBool = AtomicBool::new(false);

/// So much fits where there is room at all.
const PIECE: usize = 4096;

/// How long one look for room takes.
const LOOK: Duration = Duration::from_millis(100);

/// How many looks find no room before it is given up: five seconds.
const LOOKS: usize = 50;

/// The same, where the process is to end at once.
const HURRIED_LOOKS: usize = 2;

/// Returns the process's stderr, for words that may be lost.
pub(crate) fn stderr() -> Patient<io::Stderr> {
    Patient(io::stderr())
}

/// From here on nobody waits long.
pub(crate) fn hurry() {
    HURRIED.store(true, Ordering::Relaxed);
}

impl<W> Patient<W> {
    /// Makes a writer patient that writes to stderr in the end.
    pub(crate) fn new(inner: W) -> Self {
        Self(inner)
    }
}

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        has_room()?;
        self.0.write(&bytes[..bytes.len().min(PIECE)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Waits for room, and not for ever.
fn has_room() -> io::Result<()> {
    let mut looks = 0;
    while !GIVEN_UP.load(Ordering::Relaxed) {
        let limit = if HURRIED.load(Ordering::Relaxed) { HURRIED_LOOKS } else { LOOKS };
        if looks >= limit {
            GIVEN_UP.store(true, Ordering::Relaxed);
        } else if look()? {
            return Ok(());
        }
        looks += 1;
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads stderr"))
}

fn look() -> io::Result<bool> {
    let out = io::stderr();
    let mut there = [PollFd::new(&out, PollFlags::OUT)];
    let within = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    match poll(&mut there, Some(&within)) {
        // An end that is gone has room, too: the write says what is the matter.
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
