//! The one door to the journal: law first, then secrets, then the disk, then
//! whoever watches.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::journal::{Header, WriteError, Writer};
use crate::{
    Attachment, Clock, Digest, Event, EvidenceError, EvidenceStore, IllegalEvent, Redactor, RunId,
    RunState, Secret, SecretsLedger, Seq, ShortSecret, What,
};

/// Records what happens. Clones write to the same journal.
///
/// Events are numbered and checked at once, and brought to the disk by one
/// flusher at a time: whatever arrives while the disk is busy shares the next
/// sync. An event that is durable has all events before it on disk as well.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

/// Sees every event after it is on disk, without secrets: just what a reader
/// of the journal will see. A slow observer holds up no call.
pub type Observer = Box<dyn FnMut(&Event) + Send>;

/// Why an event was not recorded. The journal takes nothing more after the
/// disk has failed once.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// The law refuses it: a bug in whoever records it.
    #[error("the journal's law refuses an event")]
    Illegal(#[from] IllegalEvent),
    /// The disk failed.
    #[error("the journal could not be written")]
    Disk(#[source] Arc<WriteError>),
    /// An observer panicked: nobody can tell what it has shown.
    #[error("an observer of the journal panicked")]
    Observer,
}

struct Shared {
    run: RunId,
    clock: Clock,
    queue: Mutex<Queue>,
    disk: Mutex<Disk>,
    redactor: Mutex<Redactor>,
    evidence: EvidenceStore,
    stored: Mutex<u64>,
    progress: watch::Sender<Progress>,
}

struct Queue {
    state: RunState,
    pending: Vec<Event>,
    flushing: bool,
    failed: Option<RecordError>,
}

struct Disk {
    writer: Writer,
    witness: Option<Observer>,
    observers: Vec<Observer>,
}

/// How far the flusher has come.
#[derive(Clone, Default)]
struct Progress {
    /// On disk.
    durable: Seq,
    /// Seen by the observers.
    told: Seq,
    head: Option<Digest>,
    failed: Option<RecordError>,
}

/// Ends the recording where the flusher panics: whoever waits must not wait for ever.
struct FlushGuard<'a>(&'a Shared);

// === impl Recorder ===

impl Recorder {
    /// Records the run of `header` with `writer`.
    pub fn new(
        header: &Header,
        writer: Writer,
        evidence: EvidenceStore,
        redactor: Redactor,
        clock: Clock,
        observers: Vec<Observer>,
    ) -> Self {
        let queue = Queue {
            state: RunState::default(),
            pending: Vec::new(),
            flushing: false,
            failed: None,
        };
        Self {
            shared: Arc::new(Shared {
                run: header.run,
                clock,
                queue: Mutex::new(queue),
                disk: Mutex::new(Disk { writer, witness: None, observers }),
                redactor: Mutex::new(redactor),
                evidence,
                stored: Mutex::new(0),
                progress: watch::Sender::new(Progress::default()),
            }),
        }
    }

    /// Returns the run that is recorded.
    pub fn run(&self) -> RunId {
        self.shared.run
    }

    /// Returns the clock that events are stamped by.
    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// Takes down an event. It is numbered and legal when this returns, and on
    /// disk soon after.
    pub fn record(&self, attempt: u32, what: What) -> Result<Seq, RecordError> {
        let mut queue = lock(&self.shared.queue);
        if let Some(failed) = &queue.failed {
            return Err(failed.clone());
        }
        let elapsed = self.shared.clock.elapsed().as_millis();
        let event = Event {
            run: self.shared.run,
            seq: queue.state.last().next(),
            at: self.shared.clock.now(),
            elapsed_ms: u64::try_from(elapsed).unwrap_or(u64::MAX),
            attempt,
            what,
        };
        queue.state.apply(&event)?;
        let seq = event.seq;
        queue.pending.push(event);
        if !queue.flushing {
            queue.flushing = true;
            let shared = Arc::clone(&self.shared);
            tokio::task::spawn_blocking(move || shared.flush());
        }
        Ok(seq)
    }

    /// Takes down an event and waits until it is on disk.
    pub async fn record_durably(&self, attempt: u32, what: What) -> Result<Seq, RecordError> {
        let seq = self.record(attempt, what)?;
        self.durable(seq).await?;
        Ok(seq)
    }

    /// Waits until everything so far is on disk and seen by the observers, and
    /// returns the digest of the last line.
    pub async fn flushed(&self) -> Result<Option<Digest>, RecordError> {
        let last = lock(&self.shared.queue).state.last();
        self.wait_until(|progress| progress.told >= last).await
    }

    /// Lets `witness` see every event when it is on disk and before anybody
    /// who waits for it goes on. The laws crash a run there.
    pub fn set_witness(&self, witness: Observer) {
        lock(&self.shared.disk).witness = Some(witness);
    }

    /// Returns whether a text gives a known secret away.
    pub fn gives_away(&self, text: &str) -> bool {
        lock(&self.shared.redactor).finds(text.as_bytes())
    }

    /// Looks at where the run stands.
    pub fn state<T>(&self, look: impl FnOnce(&RunState) -> T) -> T {
        look(&lock(&self.shared.queue).state)
    }

    /// Adds a secret that must not reach the disk from now on.
    pub fn hide(&self, name: impl Into<String>, secret: &Secret) -> Result<(), ShortSecret> {
        lock(&self.shared.redactor).add(name, secret)
    }

    /// Returns how often each secret was kept from the disk.
    pub fn hidden(&self) -> SecretsLedger {
        lock(&self.shared.redactor).removed().clone()
    }

    /// Stores a file of evidence, without secrets.
    pub async fn attach(&self, name: &str, bytes: Vec<u8>) -> Result<Attachment, EvidenceError> {
        let (shared, name) = (Arc::clone(&self.shared), name.to_owned());
        tokio::task::spawn_blocking(move || shared.store(&name, &bytes))
            .await
            .unwrap_or_else(|stopped| std::panic::resume_unwind(stopped.into_panic()))
    }

    /// Stores a file of evidence of an earlier run with this one's.
    pub fn adopt(&self, run: RunId, file: &Attachment) -> Result<(), EvidenceError> {
        self.shared.evidence.adopt(run, file)
    }

    /// Waits until an event is on disk.
    pub(crate) async fn durable(&self, seq: Seq) -> Result<(), RecordError> {
        self.wait_until(|progress| progress.durable >= seq).await.map(|_| ())
    }

    async fn wait_until(
        &self,
        reached: impl Fn(&Progress) -> bool,
    ) -> Result<Option<Digest>, RecordError> {
        let mut progress = self.shared.progress.subscribe();
        let over = |progress: &Progress| reached(progress) || progress.failed.is_some();
        let progress = progress.wait_for(over).await.expect("the sender is in `shared`");
        match &progress.failed {
            Some(failed) if !reached(&progress) => Err(failed.clone()),
            _ => Ok(progress.head),
        }
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("run", &self.shared.run).finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    /// Writes batches until nothing is pending. Only one runs at a time.
    fn flush(&self) {
        let _guard = FlushGuard(self);
        while let Some(batch) = self.next_batch() {
            if let Err(error) = self.write(batch) {
                return self.fail(&RecordError::Disk(Arc::new(error)));
            }
        }
    }

    fn next_batch(&self) -> Option<Vec<Event>> {
        let mut queue = lock(&self.queue);
        if queue.pending.is_empty() {
            queue.flushing = false;
            return None;
        }
        Some(std::mem::take(&mut queue.pending))
    }

    fn write(&self, batch: Vec<Event>) -> Result<(), WriteError> {
        let mut disk = lock(&self.disk);
        let mut written = Vec::with_capacity(batch.len());
        for event in batch {
            let (event, json) = self.without_secrets(event).map_err(WriteError::Encode)?;
            disk.writer.put(&json)?;
            written.push(event);
        }
        disk.writer.commit()?;
        let Disk { writer, witness, observers } = &mut *disk;
        if let Some(witness) = witness {
            written.iter().for_each(&mut *witness);
        }
        let (last, head) = (written.last().map(|event| event.seq), writer.head());
        self.progress.send_modify(|progress| {
            progress.durable = last.unwrap_or(progress.durable);
            progress.head = Some(head);
        });
        for observer in observers {
            written.iter().for_each(&mut *observer);
        }
        self.progress.send_modify(|progress| progress.told = progress.durable);
        Ok(())
    }

    /// Most events hold no secret, and one search over their JSON shows it;
    /// only the others are taken apart.
    fn without_secrets(&self, mut event: Event) -> serde_json::Result<(Event, Box<RawValue>)> {
        let mut redactor = lock(&self.redactor);
        redactor.hide_typed(&mut event.what);
        let json = serde_json::to_string(&event)?;
        if !redactor.finds(json.as_bytes()) {
            return Ok((event, RawValue::from_string(json)?));
        }
        let mut value = serde_json::to_value(&event)?;
        redactor.hide_value(&mut value);
        let json = RawValue::from_string(value.to_string())?;
        Ok((serde_json::from_value(value)?, json))
    }

    fn store(&self, name: &str, bytes: &[u8]) -> Result<Attachment, EvidenceError> {
        let hidden = lock(&self.redactor).hide_bytes(bytes);
        let mut stored = lock(&self.stored);
        let attachment = self.evidence.put(name, &hidden, *stored)?;
        *stored += attachment.size;
        Ok(attachment)
    }

    fn fail(&self, error: &RecordError) {
        lock(&self.queue).failed = Some(error.clone());
        self.progress.send_modify(|progress| progress.failed = Some(error.clone()));
    }
}

// === impl FlushGuard ===

impl Drop for FlushGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(&RecordError::Observer);
        }
    }
}

/// A thread that panicked while it held a lock has left whole values behind:
/// what is under a lock here is changed in one step, and a panicking observer
/// ends the recording.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Durability;
    use crate::{ClusterId, EvidenceLimits, Plan};

    fn started() -> What {
        let plan = Plan {
            command: "up".to_owned(),
            cluster: "demo".to_owned(),
            cluster_id: ClusterId::NIL,
            title: String::new(),
            tool: String::new(),
            nodes: Vec::new(),
            stages: Vec::new(),
            spec: None,
            monthly_cents: None,
            simulated_speed: None,
            rerun: None,
            stand_ins: Vec::new(),
        };
        What::RunStarted { plan: Box::new(plan), resumes: None }
    }

    fn pinned() -> What {
        What::Pinned { key: "a".to_owned(), value: "b".to_owned() }
    }

    fn recorder(
        folder: &std::path::Path,
        change: impl FnOnce(Writer) -> Writer,
        observers: Vec<Observer>,
    ) -> Recorder {
        let header = Header::new(RunId::new(jiff::Timestamp::UNIX_EPOCH, 1), ClusterId::NIL);
        let path = folder.join("journal.jsonl");
        let writer = Writer::create(&path, &header, Durability::Synced).unwrap();
        let evidence = EvidenceStore::new(folder, EvidenceLimits::default());
        let clock = Clock::starting_at(jiff::Timestamp::UNIX_EPOCH);
        let redactor = Redactor::new([0; 32]);
        Recorder::new(&header, change(writer), evidence, redactor, clock, observers)
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_ends_the_recording_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder(folder.path(), Writer::on_a_full_disk, vec![]);
        let error = recorder.record_durably(1, started()).await.unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.to_string().starts_with("could not append to the journal"), "{source}");
        let cause = source.source().unwrap().to_string();
        assert!(cause.starts_with("No space left on device"), "{cause}");
        assert!(matches!(recorder.record(1, pinned()), Err(RecordError::Disk(_))));
        assert!(recorder.flushed().await.is_err());
    }

    #[tokio::test]
    async fn a_panicking_observer_ends_the_recording_and_hangs_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let observer: Observer = Box::new(|event| {
            if event.seq.0 == 2 {
                std::panic::resume_unwind(Box::new("the terminal is broken"));
            }
        });
        let recorder = recorder(folder.path(), |writer| writer, vec![observer]);
        recorder.record_durably(1, started()).await.unwrap();
        recorder.flushed().await.unwrap();
        recorder.record_durably(1, pinned()).await.expect("it is on disk before anybody sees it");
        assert!(matches!(recorder.flushed().await, Err(RecordError::Observer)));
        assert!(matches!(recorder.record(1, pinned()), Err(RecordError::Observer)));
    }

    #[tokio::test]
    async fn a_slow_observer_holds_up_no_call() {
        let folder = tempfile::tempdir().unwrap();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let observer: Observer = Box::new(move |_| {
            let _ = held.recv();
        });
        let recorder = recorder(folder.path(), |writer| writer, vec![observer]);
        recorder.record_durably(1, started()).await.unwrap();
        drop(release);
        recorder.flushed().await.unwrap();
    }
}
