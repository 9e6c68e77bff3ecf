//! A driven run as a real process: what it prints, how it ends, and what is
//! left when it is asked to stop or killed.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use events::journal;
use events::{CallOutcome, Interruption, RunOutcome, What};
use rustix::process::{Pid, Signal, kill_process};

use crate::pty::Pty;
use crate::workplace::Workplace;

/// A dry dock, whose planks outlive the process that lays them.
struct Drydock {
    folder: tempfile::TempDir,
}

impl Drydock {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The example, which `cargo test` builds beside the tests.
    fn command(&self) -> Command {
        let tests = std::env::current_exe().unwrap();
        let program = tests.parent().unwrap().parent().unwrap().join("examples/drydock");
        assert!(program.exists(), "build it with `cargo build -p seaworthy --examples`");
        let mut command = Command::new(program);
        command.arg(self.folder.path()).env_clear().env("TERM", "xterm").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self) -> Output {
        self.command().output().unwrap()
    }

    /// Starts it, and waits until its journal holds so many events.
    fn start_until(&self, events: usize) -> Child {
        let mut child = self.command().spawn().unwrap();
        while self.events() < events && child.try_wait().unwrap().is_none() {
            pause(2);
        }
        child
    }

    /// The number of whole lines of the newest journal, without its header.
    fn events(&self) -> usize {
        let Some(path) = self.journals().pop() else { return 0 };
        let text = fs::read_to_string(path).unwrap_or_default();
        text.matches('\n').count().saturating_sub(1)
    }

    fn journals(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.folder.path().join("state/runs"));
        let runs = runs.into_iter().flatten().map(|run| run.unwrap().path());
        let mut journals: Vec<_> = runs.map(|run| run.join("journal.jsonl")).collect();
        journals.sort();
        journals
    }

    fn outcome(&self, nth: usize) -> Option<RunOutcome> {
        journal::read(&self.journals()[nth]).unwrap().state.ended().cloned()
    }

    /// Every plank was laid exactly once, whatever happened.
    fn is_whole(&self) -> bool {
        let planks = fs::read_dir(self.folder.path().join("dock")).unwrap();
        let laid: Vec<_> =
            planks.map(|plank| fs::read_to_string(plank.unwrap().path()).unwrap()).collect();
        laid.len() == 8 && laid.iter().all(|plank| plank.lines().count() == 1)
    }
}

#[expect(clippy::disallowed_methods, reason = "another process is waited for")]
fn pause(ms: usize) {
    std::thread::sleep(Duration::from_millis(ms as u64));
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_proven_run_ends_with_zero_and_the_head_of_its_journal() {
    let dock = Drydock::new();
    let output = dock.run();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(!text.contains('\x1b'), "nothing moves in a pipe: {text}");
    assert!(text.contains("Healthy drydock in"), "{text}");
    let head = text.lines().find_map(|line| line.trim().strip_prefix("Head ")).unwrap();
    let journal = dock.journals().pop().unwrap();
    assert!(text.contains(journal.with_file_name("REPORT.html").to_str().unwrap()), "{text}");
    let journal = journal.to_str().unwrap();
    let verified = Workplace::new().run(["report", "verify", journal, "--head", head]);
    assert_eq!(verified.exit, 0, "{verified}");
}

#[test]
fn a_failed_run_ends_with_three_and_the_next_one_goes_on() {
    let dock = Drydock::new();
    let output = dock.command().arg("keel on hull-2").output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("error[SW0901]: the plank is rotten"), "{text}");
    assert!(text.contains("nothing was destroyed; `seaworthy up` goes on from here"), "{text}");
    assert_eq!(dock.run().status.code(), Some(0));
    assert!(dock.is_whole());
}

#[test]
fn the_first_ctrl_c_lets_the_call_under_way_finish() {
    for events in [4, 5, 11, 20] {
        let dock = Drydock::new();
        let child = dock.start_until(events);
        send(&child, Signal::INT);
        let output = child.wait_with_output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(5), "{text}");
        assert!(text.contains("Stopping on Ctrl-C"), "{text}");
        assert!(text.contains("`seaworthy up` goes on from here"), "{text}");
        let journal = journal::read(&dock.journals()[0]).unwrap();
        let asked = RunOutcome::Interrupted { how: Interruption::Asked };
        assert_eq!(journal.state.ended(), Some(&asked));
        assert_eq!(journal.state.doubts().count(), 0, "every call has its answer");
        let done =
            |what: &What| matches!(what, What::Result { outcome: CallOutcome::Done { .. }, .. });
        assert!(journal.events.iter().any(|event| done(&event.what)), "{text}");
        assert_eq!(dock.run().status.code(), Some(0));
        assert!(dock.is_whole());
    }
}

#[test]
fn the_second_ctrl_c_does_not_wait() {
    let dock = Drydock::new();
    let child = dock.start_until(4);
    send(&child, Signal::INT);
    // Two signals that come together count as one.
    pause(30);
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("Cut off at once"), "{text}");
    assert_eq!(dock.outcome(0), None, "nobody ended the journal");

    let resumed = dock.run();
    let text = stderr(&resumed);
    assert_eq!(resumed.status.code(), Some(0), "{text}");
    assert!(
        text.contains("Settled lay plank slipway, left in doubt by an earlier run"),
        "it looked before it called: {text}"
    );
    let died = RunOutcome::Interrupted { how: Interruption::Died };
    assert_eq!(dock.outcome(0), Some(died), "the next run has ended it");
    assert!(dock.is_whole());
}

#[test]
fn a_killed_run_is_resumed_wherever_it_was() {
    let points = 20;
    for point in 0..points {
        let dock = Drydock::new();
        let mut child = dock.start_until(1 + point * 2);
        // Not on the heels of the record, but in the middle of what follows it.
        pause(point * 37 % 160);
        child.kill().unwrap();
        child.wait().unwrap();
        let resumed = dock.run();
        assert_eq!(resumed.status.code(), Some(0), "{point}: {}", stderr(&resumed));
        assert!(dock.is_whole(), "{point}");
    }
    println!("killed and resumed at {points} points");
}

#[test]
fn a_second_run_is_kept_out_and_told_by_whom() {
    let dock = Drydock::new();
    let mut first = dock.start_until(3);
    let second = dock.run();
    let text = stderr(&second);
    assert_eq!(second.status.code(), Some(2), "{text}");
    assert!(text.contains(&format!("process {}", first.id())), "{text}");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert!(dock.is_whole());
}

/// Without its lock another run may have begun; without its journal nobody would
/// know what it has done.
#[test]
fn a_run_stops_before_the_next_call_where_its_lock_or_its_state_is_gone() {
    for lost in ["state/lock", "state"] {
        let dock = Drydock::new();
        let child = dock.start_until(5);
        let path = dock.folder.path().join(lost);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        let output = child.wait_with_output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("was removed or replaced during the run"), "{text}");
        assert!(!dock.is_whole(), "{lost}: it went on: {text}");
        assert_eq!(dock.run().status.code(), Some(0), "the next one looks and goes on");
        assert!(dock.is_whole());
    }
}

#[test]
fn a_broken_journal_is_set_aside_by_the_command_that_the_refusal_names() {
    let dock = Drydock::new();
    let mut child = dock.start_until(6);
    child.kill().unwrap();
    child.wait().unwrap();
    let journal = dock.journals().remove(0);
    let mut broken = fs::read(&journal).unwrap();
    let at = broken.len() / 2;
    broken[at] ^= 1;
    fs::write(&journal, &broken).unwrap();
    let refused = dock.run();
    let text = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    let (_, rest) = text.split_once("or `seaworthy report repair ").expect("it names a way on");
    let (run, _) = rest.split_once('`').unwrap();
    let place = Workplace::new();
    let repaired = place.run(["report", "repair", run]);
    assert_eq!(repaired.exit, 0, "{repaired}");
    let kept = journal.with_file_name("journal.broken.jsonl");
    assert_eq!(fs::read(&kept).unwrap(), broken, "it is kept as evidence");
    let resumed = dock.run();
    let text = stderr(&resumed);
    assert_eq!(resumed.status.code(), Some(0), "{text}");
    assert!(text.contains("was set aside: what it did is found out by looking"), "{text}");
    assert!(dock.is_whole());
    assert_eq!(dock.run().status.code(), Some(0), "and the runs after it fit, too");
    let again = place.run(["report", "repair", run]);
    assert_eq!(again.exit, 2, "{again}");
    let sound = dock.journals().pop().unwrap();
    let sound = place.run(["report", "repair", &sound.display().to_string()]);
    assert_eq!(sound.exit, 2, "{sound}");
    assert!(sound.stderr.contains("is sound: nothing was changed"), "{sound}");
}

#[test]
fn report_verify_refuses_what_follows_the_end_of_a_run() {
    let dock = Drydock::new();
    assert_eq!(dock.run().status.code(), Some(0));
    let journal = dock.journals().remove(0);
    let path = journal.display().to_string();
    let place = Workplace::new();
    assert_eq!(place.run(["report", "verify", &path]).exit, 0);
    let mut text = fs::read(&journal).unwrap();
    text.extend(b"garbage\n");
    fs::write(&journal, text).unwrap();
    let ran = place.run(["report", "verify", &path]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stderr.contains("8 bytes follow the end of the run"), "{ran}");
}

#[test]
fn a_run_goes_on_when_nobody_reads_it_any_more() {
    let dock = Drydock::new();
    let mut child = dock.start_until(3);
    drop(child.stderr.take());
    let status = child.wait().unwrap();
    assert!(dock.is_whole(), "{status}");
    assert_eq!(dock.outcome(0), Some(RunOutcome::Proven));
    assert_eq!(status.code(), Some(0));
}

/// Returns a pipe that takes no byte more, and the end that nobody reads.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (reading, writing) = rustix::pipe::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writing, true).unwrap();
    while rustix::io::write(&writing, &[b' '; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writing, false).unwrap();
    (reading, writing)
}

#[test]
fn a_finished_run_ends_where_nobody_reads_its_words() {
    let dock = Drydock::new();
    let (_unread, full) = full_pipe();
    let status = dock.command().stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(dock.is_whole());
    assert!(dock.journals()[0].with_file_name("REPORT.html").exists());
}

#[test]
fn the_second_ctrl_c_ends_a_run_whose_words_nobody_reads() {
    let dock = Drydock::new();
    let (_unread, full) = full_pipe();
    let mut child = dock.command().stderr(full).spawn().unwrap();
    while dock.events() < 4 {
        pause(2);
    }
    send(&child, Signal::INT);
    // Two signals that come together count as one.
    pause(30);
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn a_terminal_gets_a_view_that_moves_and_compares() {
    let dock = Drydock::new();
    let first = in_terminal(dock.command());
    assert!(first.contains("\x1b[?2026h"), "{first:?}");
    // The hulls begin together: whichever was first has the line.
    let called = |n| first.contains(&format!("hull-{n}: lay plank keel on hull-{n}"));
    assert!((1..=3).any(called), "{first:?}");
    assert!(!first.contains("usually"), "there is nothing to compare with yet");
    fs::remove_dir_all(dock.folder.path().join("dock")).unwrap();
    let second = in_terminal(dock.command());
    // How long the first run took is the machine's affair.
    let (_, usually) = second.split_once("(usually ").expect("nothing was compared");
    let (figure, _) = usually.split_once("s)").unwrap();
    assert!(figure.parse::<f64>().unwrap() > 0.2, "two sleeps of 150 ms: {second:?}");
    let dumb = in_terminal({
        let mut command = dock.command();
        command.env("TERM", "dumb");
        command
    });
    assert!(!dumb.contains('\x1b'), "{dumb:?}");
}

/// Runs a command with a terminal for its words, and returns them.
fn in_terminal(mut command: Command) -> String {
    let pty = Pty::open();
    command.stderr(pty.stream());
    pty.watch(command)
}
