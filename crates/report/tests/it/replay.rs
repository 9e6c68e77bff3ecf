//! Live and replayed, byte for byte the same.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use events::journal::{self, Durability, Header, Writer};
use events::{Clock, Event, EvidenceLimits, EvidenceStore, Recorder, Redactor, Secret};
use report::terminal::{Palette, Plain, Printer as _};
use report::{Story, render_all, write_all};

use crate::samples;

#[derive(Default)]
struct Seen {
    story: Story,
    printed: Vec<u8>,
}

fn watch(seen: &Arc<Mutex<Seen>>, mut plain: Plain) -> impl FnMut(&Event) + Send + 'static {
    let seen = Arc::clone(seen);
    move |event| {
        let mut seen = seen.lock().unwrap();
        let Seen { story, printed } = &mut *seen;
        story.apply(event);
        plain.event(story, event, printed).unwrap();
    }
}

/// Records a run with a secret in it, watches it live, and replays its journal.
#[tokio::test]
async fn live_and_replayed_reports_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let sample = samples::failed();
    let store = sample.store(folder.path());
    let header = Header::new(sample.events[0].run, events::ClusterId::new(7));
    let writer = Writer::create(&path, &header, Durability::Unsynced).unwrap();
    let live = Arc::new(Mutex::new(Seen::default()));
    let clock = Clock::starting_at(sample.events[0].at);
    let observers: Vec<events::Observer> = vec![Box::new(watch(&live, Plain::new(Palette::Plain)))];
    let recorder =
        Recorder::new(&header, writer, store.clone(), Redactor::new([7; 32]), clock, observers);
    recorder.hide("address", &Secret::new("203.0.113.10:6443")).unwrap();
    for event in &sample.events {
        recorder.record(event.attempt, event.what.clone()).unwrap();
    }
    recorder.flushed().await.unwrap();

    let file = journal::read(&path).unwrap();
    let replayed = Arc::new(Mutex::new(Seen::default()));
    file.events.iter().for_each(watch(&replayed, Plain::new(Palette::Plain)));

    let (live, replayed) = (live.lock().unwrap(), replayed.lock().unwrap());
    assert_eq!(live.printed, replayed.printed);
    let files = render_all(&live.story, &store);
    assert_eq!(files.len(), 9);
    for ((name, live), (_, replayed)) in files.iter().zip(render_all(&replayed.story, &store)) {
        assert!(*live == replayed, "{name} differs");
        assert!(!live.contains("203.0.113.10"), "{name} tells the secret");
    }
}

#[test]
fn files_are_private_whole_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let sample = samples::failed();
    let store = sample.store(folder.path());
    let told = sample.story();
    let first = write_all(&told, &store, folder.path()).unwrap();
    let again = write_all(&told, &store, folder.path()).unwrap();
    assert_eq!(first, again);
    for (path, (name, text)) in first.iter().zip(render_all(&told, &store)) {
        assert!(path.ends_with(name));
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let partial = std::fs::read_dir(folder.path()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "partial")
    });
    assert_eq!(partial.count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let store = EvidenceStore::new(folder.path(), EvidenceLimits::default());
    let gone = folder.path().join("gone");
    let error = write_all(&Story::default(), &store, &gone).unwrap_err();
    let path = gone.join("REPORT.html");
    assert_eq!(error.to_string(), format!("could not write the report {}", path.display()));
}

#[test]
fn evidence_that_is_gone_or_was_changed_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let sample = samples::failed();
    let store = sample.store(folder.path());
    let digest = events::Digest::of(&sample.files[0]);
    std::fs::write(store.path(&digest), b"forged").unwrap();
    let html = report::html::html(&sample.story(), &store);
    assert!(html.contains("was changed on disk") && !html.contains("forged"));
    std::fs::remove_file(store.path(&digest)).unwrap();
    let html = report::html::html(&sample.story(), &store);
    assert!(html.contains("could not be read: No such file"));
}

#[test]
fn evidence_beyond_the_budget_is_left_out_with_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<Vec<u8>> =
        (0..80_u8).map(|number| [vec![number], vec![b'<'; 20_000]].concat()).collect();
    let mut sample = samples::perform(samples::plan(1, 79), |unit| {
        let number = unit
            .node
            .as_ref()
            .and_then(|node| node.as_str().rsplit('-').next()?.parse::<usize>().ok());
        let file = samples::attached("node.log", &files[number.unwrap_or(0)]);
        samples::Act {
            takes_ms: 100,
            evidence: Some(events::Evidence::new("seen").file(file)),
            ..samples::Act::default()
        }
    });
    sample.files = files.clone();
    let html = report::html::html(&sample.story(), &sample.store(folder.path()));
    assert!(html.len() < report::html::LIMIT_BYTES, "{}", html.len());
    assert!(html.len() > report::html::LIMIT_BYTES * 8 / 10, "the room is used: {}", html.len());
    assert!(html.contains("evidence files. report.json and the evidence folder have everything"));
    for file in &files {
        assert!(html.contains(&events::Digest::of(file).to_string()));
    }
}
