//! Reading a journal: chain, law and version are checked on every line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::format::{EventLine, Header, MAGIC, Version};
use crate::{Digest, Event, IllegalEvent, RunState};

/// A journal that was read and found sound.
#[derive(Debug)]
pub struct JournalFile {
    /// Its first line.
    pub header: Header,
    /// Its events, in order.
    pub events: Vec<Event>,
    /// Where the run stands after them.
    pub state: RunState,
    /// What the chain of digests says.
    pub chain: Chain,
}

/// What the chain of digests says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The digest of the last whole line.
    pub head: Digest,
    /// How many whole lines there are, the header included.
    pub lines: usize,
    /// How many bytes they take.
    pub bytes: u64,
    /// The rest of a last line that was not written whole.
    pub torn: Option<Torn>,
}

/// The rest of a last line that was not written whole: the process died, or
/// the machine, while it was on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// How many bytes it takes.
    pub bytes: u64,
}

/// A journal that cannot be trusted, or not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("could not read the journal {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no whole line in it.
    #[error("the journal {} has no whole line: its run died before it started", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The first line is not a journal's.
    #[error("{} is not a journal of seaworthy", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote it.
    #[error(
        "the journal {} has format {found}, and this program reads up to {}.x: use a newer seaworthy",
        path.display(),
        Version::CURRENT.major
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
    /// No program writes this version.
    #[error(
        "the journal {} has format {found}, and this program reads {}.x",
        path.display(),
        Version::CURRENT.major
    )]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
    /// A line is not what the format says.
    #[error("line {line} of the journal {} is broken", path.display())]
    BrokenLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A line does not carry the digest of the line before it.
    #[error(
        "line {line} of the journal {} does not follow from the line before it: \
         one of the two was changed, or a line is missing",
        path.display()
    )]
    BrokenChain {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A line may not stand where it stands.
    #[error("line {line} of the journal {} may not stand there", path.display())]
    Illegal {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        #[source]
        source: IllegalEvent,
    },
}

impl ReadError {
    /// Returns the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Unreadable { path, .. }
            | Self::Empty { path }
            | Self::NotAJournal { path }
            | Self::TooNew { path, .. }
            | Self::UnknownVersion { path, .. }
            | Self::BrokenLine { path, .. }
            | Self::BrokenChain { path, .. }
            | Self::Illegal { path, .. } => path,
        }
    }
}

/// Reads a journal and checks chain, law and version.
pub fn read(path: &Path) -> Result<JournalFile, ReadError> {
    let bytes = load(path)?;
    let whole = Whole::of(&bytes);
    let header = read_header(path, &whole)?;
    let chain = check_chain(path, &whole)?;
    let mut state = RunState::default();
    let mut events = Vec::with_capacity(whole.lines.len());
    for (number, text) in whole.numbered_events() {
        let line: EventLine = parse(path, number, text)?;
        let ours = if line.event.run == header.run {
            state.apply(&line.event)
        } else {
            Err(IllegalEvent::OtherRun(line.event.run))
        };
        ours.map_err(|source| ReadError::Illegal { path: path.to_owned(), line: number, source })?;
        events.push(line.event);
    }
    Ok(JournalFile { header, events, state, chain })
}

/// Recomputes the chain of digests alone, which needs no knowledge of the events.
pub fn verify(path: &Path) -> Result<Chain, ReadError> {
    let bytes = load(path)?;
    let whole = Whole::of(&bytes);
    read_header(path, &whole)?;
    check_chain(path, &whole)
}

/// The whole lines of a journal, without their ends.
struct Whole<'a> {
    lines: Vec<&'a [u8]>,
    bytes: u64,
    torn: Option<Torn>,
}

/// As much of a line as the chain needs.
#[derive(Deserialize)]
struct Link {
    prev: Digest,
}

// === impl Whole ===

impl<'a> Whole<'a> {
    /// Splits off a torn last line: one without an end, or one that is no JSON
    /// because its middle never reached the disk.
    fn of(bytes: &'a [u8]) -> Self {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let is_torn = |line: &&&[u8]| {
            !line.ends_with(b"\n") || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()
        };
        let torn = lines.last().filter(is_torn).map(|line| Torn { bytes: line.len() as u64 });
        if torn.is_some() {
            lines.pop();
        }
        let bytes = bytes.len() as u64 - torn.map_or(0, |torn| torn.bytes);
        let lines =
            lines.into_iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
        Self { lines, bytes, torn }
    }

    fn numbered_events(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        self.lines.iter().enumerate().skip(1).map(|(index, line)| (index + 1, *line))
    }
}

fn load(path: &Path) -> Result<Vec<u8>, ReadError> {
    fs::read(path).map_err(|source| ReadError::Unreadable { path: path.to_owned(), source })
}

fn read_header(path: &Path, whole: &Whole<'_>) -> Result<Header, ReadError> {
    /// Read first, so that a header of another major version needs nothing else in common.
    #[derive(Deserialize)]
    struct Title {
        journal: String,
        version: Version,
    }
    let path = path.to_owned();
    let Some(first) = whole.lines.first() else {
        return Err(ReadError::Empty { path });
    };
    match serde_json::from_slice::<Title>(first) {
        Ok(title) if title.journal != MAGIC => Err(ReadError::NotAJournal { path }),
        Ok(title) if title.version.major > Version::CURRENT.major => {
            Err(ReadError::TooNew { path, found: title.version })
        }
        Ok(title) if title.version.major < Version::CURRENT.major => {
            Err(ReadError::UnknownVersion { path, found: title.version })
        }
        Ok(_) => parse(&path, 1, first),
        Err(_) => Err(ReadError::NotAJournal { path }),
    }
}

fn check_chain(path: &Path, whole: &Whole<'_>) -> Result<Chain, ReadError> {
    let mut head = Digest::ZERO;
    for (index, text) in whole.lines.iter().enumerate() {
        let link: Link = parse(path, index + 1, text)?;
        if link.prev != head {
            return Err(ReadError::BrokenChain { path: path.to_owned(), line: index + 1 });
        }
        head = Digest::of(text);
    }
    Ok(Chain { head, lines: whole.lines.len(), bytes: whole.bytes, torn: whole.torn })
}

fn parse<'a, T: Deserialize<'a>>(path: &Path, line: usize, text: &'a [u8]) -> Result<T, ReadError> {
    serde_json::from_slice(text).map_err(|source| ReadError::BrokenLine {
        path: path.to_owned(),
        line,
        source,
    })
}
