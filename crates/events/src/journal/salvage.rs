//! What a journal still tells that cannot be trusted as a whole.

use std::fs;
use std::path::Path;

use super::format::{EventLine, Header};
use super::reader::ReadError;
use crate::{Digest, Event, RunId};

/// The events that can still be read in a broken journal.
///
/// Nobody knows what is missing between them, so they say only what may have
/// been done, never what was not.
#[derive(Clone, Debug, Default)]
pub struct Salvage {
    /// The events, in the order of their lines.
    pub events: Vec<Salvaged>,
    /// How many lines cannot be read, or are another run's.
    pub unreadable: usize,
}

/// An event that can still be read.
#[derive(Clone, Debug)]
pub struct Salvaged {
    /// The event.
    pub event: Event,
    /// Whether the line after it carries its digest, so that it is as it was written.
    pub is_vouched_for: bool,
}

/// Reads what can be read of a journal, line by line.
pub fn salvage(path: &Path, run: RunId) -> Result<Salvage, ReadError> {
    let bytes =
        fs::read(path).map_err(|source| ReadError::Unreadable { path: path.to_owned(), source })?;
    let mut salvage = Salvage::default();
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).peekable();
    // The header says nothing that the folder's name does not.
    lines.next_if(|line| serde_json::from_slice::<Header>(line).is_ok());
    while let Some(line) = lines.next() {
        match serde_json::from_slice::<EventLine>(line) {
            Ok(EventLine { event, .. }) if event.run == run => {
                let is_vouched_for = lines.peek().is_some_and(|next| follows(next, line));
                salvage.events.push(Salvaged { event, is_vouched_for });
            }
            _ => salvage.unreadable += 1,
        }
    }
    Ok(salvage)
}

/// Whether a line carries the digest of the one before it.
fn follows(next: &[u8], line: &[u8]) -> bool {
    serde_json::from_slice::<EventLine>(next).is_ok_and(|next| next.prev == Digest::of(line))
}
