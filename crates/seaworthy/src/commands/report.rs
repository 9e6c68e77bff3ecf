//! `report`: every report of a run, from its journal; `report verify`: is the
//! journal as it was written?; `report repair`: sets a broken one aside.

mod repair;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use events::journal::{self, JournalFile};
use events::{Attachment, Digest, EvidenceLimits, EvidenceStore, RunId, What, private};
use report::Story;
use report::terminal::{Plain, Printer as _, say};
use serde::Serialize;

pub(crate) use self::repair::command as repair_command;
use super::{STATE_FOLDER, palette};
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::run_finder::RunFolder;
use crate::ui::Ui;

/// Make every report of a run from its journal
///
/// Writes REPORT.html, REPORT.md, report.json, junit.xml, trace.json (for
/// Perfetto), timeline.txt, step-summary.md, pr-comment.md and annotations.txt
/// beside the journal, and prints their paths. The same journal always gives
/// the same bytes.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReportArgs {
    /// The run: its id, the beginning of it, or a path to its folder or journal [default: the newest]
    run: Option<PathBuf>,

    /// Where to write the reports [default: the run's folder]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    #[command(subcommand)]
    command: Option<ReportCommand>,
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    Verify(VerifyArgs),
    Repair(repair::RepairArgs),
}

/// Check that a journal and its evidence are as they were written
///
/// Recomputes the chain of digests and the digest of every file of evidence.
/// Compare the head with the one that the run printed at its end.
#[derive(Args, Debug)]
struct VerifyArgs {
    /// The run: its id, the beginning of it, or a path to its folder or journal [default: the newest]
    run: Option<PathBuf>,

    /// The head that the run printed at its end: nothing was cut off or replaced as a whole
    #[arg(long, value_name = "DIGEST")]
    head: Option<Digest>,
}

/// What `report verify -o json` prints.
#[derive(Serialize)]
struct Verified {
    journal: String,
    run: RunId,
    lines: usize,
    head: Digest,
    evidence_files: usize,
    torn_bytes: u64,
    ended: bool,
}

pub(crate) fn run(args: ReportArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let state = shared.state_dir.clone().unwrap_or_else(|| PathBuf::from(STATE_FOLDER));
    match args.command {
        None => {
            let folder = RunFolder::find(&state, args.run.as_deref())?;
            write_reports(&folder, args.out, ui)
        }
        Some(ReportCommand::Verify(args)) => {
            verify(&RunFolder::find(&state, args.run.as_deref())?, args.head, ui)
        }
        Some(ReportCommand::Repair(args)) => repair::run(&args, &state, ui),
    }
}

fn write_reports(folder: &RunFolder, out: Option<PathBuf>, ui: &Ui) -> Result<(), CommandError> {
    let journal = read(folder)?;
    let mut story = Story::default();
    let mut printer = Plain::new(palette(ui));
    let mut err = ui.stderr();
    for event in &journal.events {
        story.apply(event);
        printer.event(&story, event, &mut err)?;
    }
    let out = out.unwrap_or_else(|| folder.path().to_owned());
    private::folder(&out).map_err(|error| {
        CommandError::say(Exit::Usage, format!("could not make {}: {error}", out.display()))
    })?;
    say(palette(ui), "Head", &journal.chain.head.to_string(), &mut err)?;
    let written = report::write_all(&story, &evidence(folder), &out)
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    match ui.output() {
        Output::Json => write!(ui.stdout(), "{}", report::json(&story))?,
        Output::Text => {
            for path in written {
                writeln!(ui.stdout(), "{}", path.display())?;
            }
        }
    }
    Ok(())
}

fn verify(folder: &RunFolder, head: Option<Digest>, ui: &Ui) -> Result<(), CommandError> {
    let journal = read(folder)?;
    let files = check_evidence(folder, &journal)?;
    if let Some(expected) = head.filter(|head| *head != journal.chain.head) {
        let found = journal.chain.head;
        let message = format!("the head is {found}, not {expected}");
        return Err(CommandError::say(Exit::NotProven, message)
            .hint("lines were cut off or added at the end, or the journal is another one"));
    }
    if let (Some(torn), Some(_)) = (journal.chain.torn, journal.state.ended()) {
        let message = format!("{} bytes follow the end of the run", torn.bytes);
        return Err(CommandError::say(Exit::NotProven, message)
            .hint("nothing is written after the end: they were added later"));
    }
    let verified = Verified {
        journal: folder.journal().display().to_string(),
        run: journal.header.run,
        lines: journal.chain.lines,
        head: journal.chain.head,
        evidence_files: files,
        torn_bytes: journal.chain.torn.map_or(0, |torn| torn.bytes),
        ended: journal.state.ended().is_some(),
    };
    match ui.output() {
        Output::Json => ui.json(&verified)?,
        Output::Text => tell(&verified, ui)?,
    }
    Ok(())
}

/// Checks every file of evidence, and returns how many there are.
fn check_evidence(folder: &RunFolder, journal: &JournalFile) -> Result<usize, CommandError> {
    let evidence = evidence(folder);
    let files: BTreeMap<_, _> = journal
        .events
        .iter()
        .flat_map(|event| files(&event.what))
        .map(|file| (file.digest, &file.name))
        .collect();
    for (digest, name) in &files {
        evidence.get(digest).map_err(|error| {
            let message = format!("the evidence `{name}` cannot be trusted: {error}");
            CommandError::say(Exit::NotProven, message)
        })?;
    }
    Ok(files.len())
}

fn tell(verified: &Verified, ui: &Ui) -> io::Result<()> {
    let Verified { run, lines, head, evidence_files, torn_bytes, ended, .. } = verified;
    let mut err = ui.stderr();
    let files = if *evidence_files == 1 { "file" } else { "files" };
    let words = format!("run {run}: {lines} lines, {evidence_files} {files} of evidence");
    say(palette(ui), "Verified", &words, &mut err)?;
    if *torn_bytes > 0 {
        let words =
            format!("{torn_bytes} bytes at the end were not written whole and do not count");
        say(palette(ui), "Torn", &words, &mut err)?;
    }
    if !ended {
        let words = "the run has no end: its process died, or lines were cut off; `--head` tells";
        say(palette(ui), "Open", words, &mut err)?;
    }
    writeln!(ui.stdout(), "{head}")
}

fn read(folder: &RunFolder) -> Result<JournalFile, CommandError> {
    let journal = journal::read(&folder.journal()).map_err(|error| {
        let unread = CommandError::new(Exit::NotProven, &error);
        match folder.broken_journal() {
            Some(kept) => unread.hint(format!("it was set aside as {}", kept.display())),
            None => unread,
        }
    })?;
    match folder.run() {
        Some(run) if run != journal.header.run => Err(CommandError::say(
            Exit::NotProven,
            format!("the folder of run {run} holds the journal of run {}", journal.header.run),
        )),
        _ => Ok(journal),
    }
}

fn evidence(folder: &RunFolder) -> EvidenceStore {
    EvidenceStore::new(folder.path(), EvidenceLimits::default())
}

fn files(what: &What) -> &[Attachment] {
    what.evidence().map_or(&[], |evidence| evidence.files.as_slice())
}
