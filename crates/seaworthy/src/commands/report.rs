//! `report`: every report of a run, from its journal; `report verify`: is the
//! journal as it was written?

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use events::journal::{self, Chain, JournalFile};
use events::{Attachment, EvidenceLimits, EvidenceStore, What};
use report::Story;
use report::terminal::{Plain, Printer as _, say};
use serde::Serialize;

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
    run: Option<String>,

    /// Where to write the reports [default: the run's folder]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    #[command(subcommand)]
    command: Option<ReportCommand>,
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    Verify(VerifyArgs),
}

/// Check that a journal and its evidence are as they were written
///
/// Recomputes the chain of digests and the digest of every file of evidence.
/// Compare the head with the one that the run printed at its end.
#[derive(Args, Debug)]
struct VerifyArgs {
    /// The run: its id, the beginning of it, or a path to its folder or journal [default: the newest]
    run: Option<String>,
}

/// What `report verify -o json` prints.
#[derive(Serialize)]
struct Verified {
    journal: PathBuf,
    lines: usize,
    head: String,
    evidence_files: usize,
    torn_bytes: u64,
}

pub(crate) fn run(args: ReportArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let state = shared.state_dir.clone().unwrap_or_else(|| PathBuf::from(STATE_FOLDER));
    match args.command {
        None => {
            let folder = RunFolder::find(&state, args.run.as_deref())?;
            write_reports(&folder, args.out, ui)
        }
        Some(ReportCommand::Verify(args)) => {
            verify(&RunFolder::find(&state, args.run.as_deref())?, ui)
        }
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
    fs::create_dir_all(&out)?;
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

fn verify(folder: &RunFolder, ui: &Ui) -> Result<(), CommandError> {
    let journal = read(folder)?;
    let evidence = evidence(folder);
    let files: Vec<&Attachment> = journal.events.iter().flat_map(|e| files(&e.what)).collect();
    for file in &files {
        evidence.get(&file.digest).map_err(|error| {
            let message = format!("the evidence `{}` cannot be trusted: {error}", file.name);
            CommandError::say(Exit::NotProven, message)
        })?;
    }
    let Chain { head, lines, torn, .. } = journal.chain;
    let torn_bytes = torn.map_or(0, |torn| torn.bytes);
    let evidence_files = files.len();
    if ui.output() == Output::Json {
        let (journal, head) = (folder.journal(), head.to_string());
        return Ok(ui.json(&Verified { journal, lines, head, evidence_files, torn_bytes })?);
    }
    let words =
        format!("{lines} lines, {evidence_files} files of evidence, run {}", journal.header.run);
    say(palette(ui), "Verified", &words, &mut ui.stderr())?;
    if torn_bytes > 0 {
        let words =
            format!("{torn_bytes} bytes at the end were not written whole and do not count");
        say(palette(ui), "Torn", &words, &mut ui.stderr())?;
    }
    writeln!(ui.stdout(), "{head}")?;
    Ok(())
}

fn read(folder: &RunFolder) -> Result<JournalFile, CommandError> {
    journal::read(&folder.journal()).map_err(|error| CommandError::new(Exit::NotProven, &error))
}

fn evidence(folder: &RunFolder) -> EvidenceStore {
    EvidenceStore::new(folder.path(), EvidenceLimits::default())
}

fn files(what: &What) -> &[Attachment] {
    what.evidence().map_or(&[], |evidence| evidence.files.as_slice())
}
