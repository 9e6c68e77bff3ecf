//! `status`: what is there now of a cluster.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use events::{Failure, RunId, RunOutcome, journal, text};
use lifecycle::status::{self, NodeNow, Now, Seen, Thing};
use serde::Serialize;
use spec::CloudKind;

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

/// The most characters that stand beside a node.
const WIDEST: usize = 48;

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
            print(&now, sight.plan.cloud, &mut out)?;
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

fn print(now: &Now, cloud: CloudKind, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    match &now.items {
        Seen::Blind(error) => {
            writeln!(out, "  cloud           not seen: {}", text::line(&error.to_string()))?;
        }
        Seen::Saw(things) => things.iter().try_for_each(|it| print_thing(it, out))?,
    }
    let nodes = now.nodes.iter().filter(|node| node.server.saw().is_some());
    nodes.clone().try_for_each(|node| print_node(node, out))?;
    print_long(now, out)?;
    writeln!(out)?;
    if cloud == CloudKind::Machines {
        let answered = nodes.clone().filter(|node| matches!(&node.talos, Some(Seen::Saw(_))));
        let (answered, all) = (answered.count(), nodes.count());
        return writeln!(
            out,
            "{answered} of {all} machines answer; no price: these are your own machines"
        );
    }
    let there = nodes.filter(|node| matches!(node.server.saw(), Some(Some(_)))).count();
    let things = now.items.saw().map(Vec::len);
    let total = match things {
        None => return Ok(()),
        Some(0) if there == 0 => "no resource exists".to_owned(),
        Some(things) if things + there == 1 => "1 resource exists".to_owned(),
        Some(things) => format!("{} resources exist", things + there),
    };
    match now.monthly {
        Some(monthly) => writeln!(out, "{total}, {monthly} a month"),
        None => writeln!(out, "{total}, the price is not known"),
    }
}

/// Prints what did not fit beside a node: once, however many say it.
fn print_long(now: &Now, out: &mut dyn Write) -> io::Result<()> {
    let words = now.nodes.iter().flat_map(|node| [&node.talos, &node.kubernetes]);
    let long = words.flatten().map(said).filter(|it| it.chars().count() > WIDEST);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    long.for_each(|it| *counts.entry(it).or_default() += 1);
    counts.iter().try_for_each(|(words, count)| {
        let nodes = if *count == 1 { "1 node".to_owned() } else { format!("{count} nodes") };
        writeln!(out, "  {nodes:<15} {words}")
    })
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
    parts.extend(node.talos.as_ref().map(|it| format!("talos {}", clipped(said(it)))));
    parts.extend(node.kubernetes.as_ref().map(|it| format!("node {}", clipped(said(it)))));
    row(out, "server", &node.name, &parts.join("  "), server.monthly)
}

fn clipped(words: String) -> String {
    if words.chars().count() <= WIDEST {
        return words;
    }
    words.chars().take(WIDEST - 1).chain(['…']).collect()
}

fn said(seen: &Seen<String>) -> String {
    match seen {
        Seen::Saw(words) => words.clone(),
        Seen::Blind(error) => format!("not seen: {}", text::line(&error.message)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, talos: Seen<String>) -> NodeNow {
        let server = lifecycle::status::ServerNow {
            server_type: "machine".to_owned(),
            location: "given".to_owned(),
            status: "not asked".to_owned(),
            address: None,
            monthly: None,
        };
        let server = Seen::Saw(Some(server));
        NodeNow { name: name.to_owned(), server, talos: Some(talos), kubernetes: None }
    }

    #[test]
    fn status_of_machines_counts_those_that_answer_and_says_a_long_reason_once() {
        let reason = "connection refused ".repeat(10);
        let silent = |name| node(name, Seen::Blind(Failure::transient(reason.as_str())));
        let nodes = vec![silent("a"), silent("b"), node("c", Seen::Saw("running".to_owned()))];
        let now = Now { items: Seen::Saw(Vec::new()), nodes, monthly: None };
        let mut out = Vec::new();
        print(&now, CloudKind::Machines, &mut out).unwrap();
        let told = String::from_utf8(out).unwrap();
        assert_eq!(told.matches(reason.trim()).count(), 1, "{told}");
        assert!(told.contains("  2 nodes         not seen: connection refused"), "{told}");
        assert!(told.contains("1 of 3 machines answer; no price"), "{told}");
    }
}
