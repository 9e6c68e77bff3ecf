//! `status`: what is there now of a cluster.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use events::{Failure, RunId, RunOutcome, journal};
use lifecycle::status::{self, NodeNow, Now, Seen, Thing};
use serde::Serialize;

use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::runtime;
use crate::target::{Sight, TargetArgs};
use crate::ui::Ui;

/// Show what is there now of a cluster
///
/// What the cloud has of it, what Talos and Kubernetes say of its nodes, how
/// its last run ended, and what it costs. Changes nothing, and proves nothing:
/// `verify` does. What could not be looked at is said; it is no error.
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    target: TargetArgs,
}

/// What `-o json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    cluster: &'a str,
    /// Whether any run has been made for it.
    known: bool,
    last_run: Option<LastRun>,
    #[serde(flatten)]
    now: &'a Now,
}

/// The last run of a cluster.
#[derive(Serialize)]
struct LastRun {
    run: RunId,
    command: String,
    /// How it ended.
    outcome: String,
}

pub(crate) fn run(args: &StatusArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let sight = args.target.look(&[], shared, ui)?;
    let now = match &sight.site {
        Ok(site) => runtime::new()?.block_on(status::now(site)),
        Err(error) => unseen(&sight, error),
    };
    let last_run = last_run(&sight.state);
    let cluster = sight.plan.cluster.as_str();
    match ui.output() {
        Output::Json => ui.json(&Told { cluster, known: sight.is_known, last_run, now: &now })?,
        Output::Text => {
            let mut out = ui.stdout();
            writeln!(out, "{cluster}: {}", last_words(last_run.as_ref()))?;
            print(&now, &mut out)?;
        }
    }
    Ok(())
}

/// Without a way to the cloud nothing of it can be seen, and that is said.
fn unseen(sight: &Sight, error: &CommandError) -> Now {
    let blind = Failure::permanent(error.message());
    let node = |name: &str| NodeNow {
        name: name.to_owned(),
        server: Seen::Blind(blind.clone()),
        talos: None,
        kubernetes: None,
    };
    let nodes = sight.plan.nodes.iter().map(|it| node(&it.name)).collect();
    Now { items: Seen::Blind(blind.clone()), nodes, monthly: None }
}

/// Reads how the last run ended, from its journal.
fn last_run(state: &Path) -> Option<LastRun> {
    let runs = fs::read_dir(state.join("runs")).ok()?.flatten();
    let run = runs.filter_map(|run| run.file_name().to_str()?.parse::<RunId>().ok()).max()?;
    let journal = state.join("runs").join(run.to_string()).join("journal.jsonl");
    let journal = journal::read(&journal).ok()?;
    let command = journal.state.plan()?.command.clone();
    let outcome = match journal.state.ended() {
        None => "not finished: it goes on now, or its process died".to_owned(),
        Some(RunOutcome::Proven) => "proven".to_owned(),
        Some(RunOutcome::NotProven { missing }) if missing.iter().all(is_not_asked) => {
            "proven as far as it was asked to go".to_owned()
        }
        Some(RunOutcome::NotProven { missing }) => format!("not proven: {}", missing.join(", ")),
        Some(RunOutcome::Failed { unit, cause }) => format!("failed at {unit}: {cause}"),
        Some(RunOutcome::Interrupted { .. }) => format!("interrupted; `{command}` goes on"),
    };
    Some(LastRun { run, command, outcome })
}

/// The engine says so of stages that a run was to leave out.
#[expect(clippy::ptr_arg, reason = "it judges the items of a list of texts")]
fn is_not_asked(missing: &String) -> bool {
    missing.ends_with(": not asked for")
}

fn last_words(last: Option<&LastRun>) -> String {
    match last {
        None => "no run has been made".to_owned(),
        Some(last) => {
            let at = last.run.started().strftime("%F %T UTC");
            format!("last run `{}` of {at}: {}", last.command, last.outcome)
        }
    }
}

fn print(now: &Now, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    match &now.items {
        Seen::Blind(error) => writeln!(out, "  cloud           not seen: {error}")?,
        Seen::Saw(things) => things.iter().try_for_each(|it| print_thing(it, out))?,
    }
    let nodes = now.nodes.iter().filter(|node| node.server.saw().is_some());
    nodes.clone().try_for_each(|node| print_node(node, out))?;
    writeln!(out)?;
    let there = nodes.filter(|node| matches!(node.server.saw(), Some(Some(_)))).count();
    let things = now.items.saw().map(Vec::len);
    let total = match things {
        None => return Ok(()),
        Some(0) if there == 0 => "nothing is there".to_owned(),
        Some(things) => format!("{} are there", things + there),
    };
    match now.monthly {
        Some(monthly) => writeln!(out, "{total}, {monthly} a month"),
        None => writeln!(out, "{total}, at a price that the cloud does not tell"),
    }
}

fn print_thing(thing: &Thing, out: &mut dyn Write) -> io::Result<()> {
    row(out, thing.kind, &thing.name, &thing.about, thing.monthly)
}

fn print_node(node: &NodeNow, out: &mut dyn Write) -> io::Result<()> {
    let Some(Some(server)) = node.server.saw() else {
        return row(out, "server", &node.name, "not there", None);
    };
    let mut parts = vec![format!("{} {}", server.server_type, server.location)];
    parts.extend(server.address.map(|address| address.to_string()));
    parts.push(server.status.clone());
    parts.extend(node.talos.as_ref().map(|it| format!("talos {}", said(it))));
    parts.extend(node.kubernetes.as_ref().map(|it| format!("node {}", said(it))));
    row(out, "server", &node.name, &parts.join("  "), server.monthly)
}

fn said(seen: &Seen<String>) -> String {
    match seen {
        Seen::Saw(words) => words.clone(),
        Seen::Blind(error) => format!("not seen: {}", error.message),
    }
}

fn row(
    out: &mut dyn Write,
    kind: &str,
    name: &str,
    about: &str,
    monthly: Option<spec::Euro>,
) -> io::Result<()> {
    let monthly = monthly.map(|it| it.to_string()).unwrap_or_default();
    let line = format!("  {kind:<15} {name:<20} {about:<62} {monthly:>7}");
    writeln!(out, "{}", line.trim_end())
}
