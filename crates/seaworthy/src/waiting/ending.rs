//! What is told when a wait is over.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use objects::{Miss, Missed, ObjectId, Unmet};
use serde_json::{Value, json};

use super::Ended;
use super::display::span;

/// So many of those that were missed are told with their causes.
const EXPLAINED: usize = 5;

/// So many are told by name besides.
const NAMED: usize = 10;

/// The longest line of a cause: a log line may hold a whole page.
const LINE: usize = 300;

/// Tells people how a wait ended, where there is more to say than that all is well.
pub(crate) fn tell(ended: &Ended, out: &mut dyn Write) -> io::Result<()> {
    match ended {
        Ended::Met(_) => Ok(()),
        Ended::Unmet(unmet) => explain(unmet, out),
        Ended::Interrupted { open, .. } => name_open(open, out),
    }
}

/// Returns whether the API did not even let us look.
pub(super) fn is_refused(unmet: &Unmet) -> bool {
    matches!(unmet.missed.first(), Some(Missed { why: Some(Miss::Refused(_)), .. }))
}

fn explain(unmet: &Unmet, out: &mut dyn Write) -> io::Result<()> {
    let all = unmet.missed.len() + unmet.met.len();
    let (missed, after) = (unmet.missed.len(), span(unmet.after));
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let are = if missed == 1 { "is" } else { "are" };
    writeln!(out, "{red}error{red:#}: {missed} of {all} {are} not `{}` after {after}", unmet.goal)?;
    let (certain, open): (Vec<_>, Vec<_>) = unmet.missed.iter().partition(|it| it.why.is_some());
    let shown = certain.into_iter().chain(open);
    for missed in shown.clone().take(EXPLAINED) {
        explain_one(missed, out)?;
    }
    for missed in shown.clone().skip(EXPLAINED).take(NAMED) {
        row("also", &words(missed), out)?;
    }
    match missed.checked_sub(EXPLAINED + NAMED) {
        Some(more) if more > 0 => row("", &format!("and {more} more"), out),
        _ => Ok(()),
    }
}

fn explain_one(missed: &Missed, out: &mut dyn Write) -> io::Result<()> {
    let why = missed.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match &missed.id {
        Some(id) => row("object", &format!("{id}{why}"), out)?,
        None => row("object", &format!("none is there{why}"), out)?,
    }
    let chain = &missed.because.chain;
    let what = std::iter::once(&missed.because.what).filter(|_| chain.is_empty());
    for (index, line) in what.chain(chain).enumerate() {
        row(if index == 0 { "because" } else { "      ←" }, line, out)?;
    }
    let Some(next) = missed.next() else { return Ok(()) };
    row("next", &format!("{}   {}", next.command, next.tells), out)
}

fn words(missed: &Missed) -> String {
    match &missed.id {
        Some(id) => format!("{id}: {}", missed.because.what),
        None => missed.because.what.clone(),
    }
}

fn name_open(open: &[(ObjectId, String)], out: &mut dyn Write) -> io::Result<()> {
    for (index, (id, why)) in open.iter().enumerate().take(NAMED) {
        row(if index == 0 { "open" } else { "" }, &format!("{id}: {why}"), out)?;
    }
    match open.len().checked_sub(NAMED) {
        Some(more) if more > 0 => row("", &format!("and {more} more"), out),
        _ => Ok(()),
    }
}

/// One line; control characters of others do not reach the terminal.
fn row(label: &str, words: &str, out: &mut dyn Write) -> io::Result<()> {
    let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
    let words = words.chars().map(|one| if one.is_control() { ' ' } else { one });
    let words: String = words.take(LINE).collect();
    writeln!(out, "  {cyan}{label:<7}{cyan:#}  {words}")
}

/// The end for machines.
pub(crate) fn record(ended: &Ended) -> Value {
    match ended {
        Ended::Met(met) => json!({ "ready": true, "seconds": met.after.as_secs_f64(),
            "open": [], "failedLooks": met.errors }),
        Ended::Unmet(unmet) => {
            let open: Vec<Value> = unmet.missed.iter().map(missed).collect();
            json!({ "ready": false, "seconds": unmet.after.as_secs_f64(), "open": open,
                "failedLooks": unmet.errors })
        }
        Ended::Interrupted { open, after } => {
            let open = open.iter().map(|(id, why)| {
                json!({ "object": id.to_string(),
                "because": why, "chain": [] })
            });
            json!({ "ready": false, "interrupted": true, "seconds": after.as_secs_f64(),
                "open": open.collect::<Vec<Value>>() })
        }
    }
}

fn missed(missed: &Missed) -> Value {
    json!({
        "object": missed.id.as_ref().map(ToString::to_string),
        "why": missed.why.as_ref().map(ToString::to_string),
        "because": missed.because.what,
        "chain": missed.because.chain,
    })
}
