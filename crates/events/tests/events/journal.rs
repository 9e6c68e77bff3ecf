//! Journals on disk: whole, torn, changed, of other versions.

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use events::journal::{self, Durability, ReadError, WriteError, Writer};
use events::{Digest, Event, What};
use proptest::prelude::*;

use crate::sample::{header, numbered, proven, write};

fn written(events: Vec<What>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    write(&path, events);
    (folder, path)
}

/// Changes the journal's text and returns how reading it fails, with the
/// folder's name left out.
fn failure(path: &Path, change: impl FnOnce(&mut Vec<String>)) -> String {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(path, lines.join("\n") + "\n").unwrap();
    message(&journal::read(path).unwrap_err(), path)
}

fn message(error: &ReadError, path: &Path) -> String {
    let text = match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    text.replace(&path.display().to_string(), "J")
}

#[test]
fn a_journal_reads_back_as_it_was_written() {
    let (_folder, path) = written(proven());
    let journal = journal::read(&path).unwrap();
    assert_eq!(journal.header, header());
    assert_eq!(journal.events, numbered(proven()));
    assert_eq!(journal.chain, journal::verify(&path).unwrap());
    assert_eq!(journal.chain.lines, proven().len() + 1);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path) = written(proven());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_existing_journal_is_never_overwritten() {
    let (_folder, path) = written(proven());
    let error = Writer::create(&path, &header(), Durability::Synced).unwrap_err();
    assert!(matches!(error, WriteError::Create { .. }), "{error}");
    assert!(journal::read(&path).is_ok());
}

#[test]
fn every_changed_line_is_found_by_its_number() {
    for line in 2..=proven().len() {
        let (_folder, path) = written(proven());
        let text = failure(&path, |lines| {
            lines[line - 1] = lines[line - 1].replacen("\"attempt\":1", "\"attempt\":7", 1);
        });
        assert_eq!(
            text,
            format!(
                "line {} of the journal J does not follow from the line before it: \
                 one of the two was changed, or a line is missing",
                line + 1
            )
        );
    }
}

#[test]
fn missing_swapped_and_broken_lines_are_refused() {
    let (_folder, path) = written(proven());
    let text = failure(&path, |lines| drop(lines.remove(3)));
    assert!(text.starts_with("line 4 of the journal J does not follow"), "{text}");
    let (_folder, path) = written(proven());
    let text = failure(&path, |lines| lines.swap(3, 4));
    assert!(text.starts_with("line 4 of the journal J does not follow"), "{text}");
    let (_folder, path) = written(proven());
    let text = failure(&path, |lines| lines[3].truncate(40));
    assert!(text.starts_with("line 4 of the journal J is broken: EOF"), "{text}");
}

#[test]
fn a_sound_chain_of_illegal_events_is_refused() {
    let mut events = proven();
    events.remove(1);
    let (_folder, path) = written(events);
    let error = journal::read(&path).unwrap_err();
    assert_eq!(
        message(&error, &path),
        "line 3 of the journal J may not stand there: network is Planned"
    );
    assert!(journal::verify(&path).is_ok(), "the chain alone is sound");
}

#[test]
fn what_is_no_journal_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let reading = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        message(&journal::read(&path).unwrap_err(), &path)
    };
    assert_eq!(reading(b""), "the journal J has no whole line: its run died before it started");
    assert_eq!(
        reading(b"{\"journal\":"),
        "the journal J has no whole line: its run died before it started"
    );
    assert_eq!(reading(b"{\"a\":1}\n{}\n"), "J is not a journal of seaworthy");
    assert_eq!(reading(b"hello\nworld\n{}\n"), "J is not a journal of seaworthy");
    fs::remove_file(&path).unwrap();
    let text = message(&journal::read(&path).unwrap_err(), &path);
    assert!(text.starts_with("could not read the journal J: No such file"), "{text}");
}

/// Rewrites the header's version and mends the chain behind it.
fn with_version(path: &Path, version: &str, extra: &str) {
    let text = fs::read_to_string(path).unwrap();
    let mut prev = Digest::ZERO;
    let mut lines = String::new();
    for (index, line) in text.lines().enumerate() {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["prev"] = serde_json::Value::from(prev.to_string());
        if index == 0 {
            value["version"] = version.into();
        } else if index == 3 && !extra.is_empty() {
            value["event"]["what"] = serde_json::from_str(extra).unwrap();
        }
        let line = value.to_string();
        prev = Digest::of(line.as_bytes());
        lines.push_str(&line);
        lines.push('\n');
    }
    fs::write(path, lines).unwrap();
}

#[test]
fn a_newer_minor_version_reads_and_is_not_appended_to() {
    let mut events = proven();
    events.insert(2, What::Pinned { key: "k".to_owned(), value: "v".to_owned() });
    // Keeps the intent's number right behind the inserted event.
    events[5] = crate::sample::result(5);
    let (_folder, path) = written(events);
    with_version(&path, "1.7", r#"{"event":"tide-turned","moon":{"phase":3}}"#);
    let journal = journal::read(&path).unwrap();
    assert_eq!(journal.events[2].what, What::Unknown);
    let error = Writer::reopen(&path, Durability::Unsynced).unwrap_err();
    let text = error.to_string().replace(&path.display().to_string(), "J");
    assert_eq!(
        text,
        "the journal J has format 1.7, and this program writes 1.0: use a newer seaworthy"
    );
}

#[test]
fn a_newer_major_version_is_refused() {
    let (_folder, path) = written(proven());
    with_version(&path, "2.0", "");
    assert_eq!(
        message(&journal::read(&path).unwrap_err(), &path),
        "the journal J has format 2.0, and this program reads up to 1.x: use a newer seaworthy"
    );
}

#[test]
fn journal_of_an_older_major_version_is_refused() {
    let (_folder, path) = written(proven());
    with_version(&path, "0.9", "");
    assert_eq!(
        message(&journal::read(&path).unwrap_err(), &path),
        "the journal J has format 0.9, and this program reads 1.x"
    );
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_was_torn() {
    let (_folder, path) = written(proven());
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for end in last + 1..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let (mut writer, journal, torn) = Writer::reopen(&path, Durability::Unsynced).unwrap();
        assert_eq!(torn.unwrap().bytes, (end - last) as u64);
        assert_eq!(journal.events.len(), proven().len() - 1);
        let again: Event = numbered(proven()).pop().unwrap();
        writer.append(&again).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "torn at {end}");
    }
}

#[test]
fn a_last_line_whose_middle_never_reached_the_disk_is_torn_too() {
    let (_folder, path) = written(proven());
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[length - 60..length - 20].fill(0);
    fs::write(&path, &bytes).unwrap();
    let journal = journal::read(&path).unwrap();
    assert!(journal.chain.torn.is_some());
    assert_eq!(journal.events.len(), proven().len() - 1);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, at in 0..4000_usize) {
        let (_folder, path) = written(proven());
        let mut text = fs::read(&path).unwrap();
        let at = at.min(text.len());
        text.splice(at..at, bytes);
        fs::write(&path, text).unwrap();
        let _ = journal::read(&path);
    }
}
