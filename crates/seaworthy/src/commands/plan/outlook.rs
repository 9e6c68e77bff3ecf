//! What `up` would do now, as the cloud has it.

use std::io::{self, Write};

use events::Cause;
use lifecycle::codes;
use lifecycle::up::{Change, Fate, Outlook};
use spec::plan::Hardware;
use spec::{CloudKind, Euro, Plan};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Prints what would become of everything, the price, and what stands in the way.
pub(super) fn print(plan: &Plan, outlook: &Outlook, out: &mut dyn Write) -> io::Result<()> {
    if plan.cloud == CloudKind::Machines {
        return print_machines(plan, out);
    }
    for change in &outlook.changes {
        print_change(change, price(outlook, &change.name, &change.kind), out)?;
    }
    for cause in &outlook.obstacles {
        print_obstacle(cause, out)?;
    }
    let price = match (&outlook.bill, plan.max_monthly_eur) {
        (Some(bill), Some(limit)) => format!("{} a month (limit {limit})", bill.total),
        (Some(bill), None) => format!("{} a month", bill.total),
        (None, _) => "The price is not known".to_owned(),
    };
    let count = |fate: Fate| outlook.changes.iter().filter(|it| it.fate == fate).count();
    let [create, change, keep] = [Fate::Create, Fate::Change, Fate::Keep].map(count);
    let others = match outlook.changes.len() - create - change - keep {
        0 => String::new(),
        others => format!(", {others} not as wanted"),
    };
    writeln!(out, "Plan: {create} to create, {change} to change, {keep} to keep{others}. {price}.")
}

/// Machines exist already: what `up` does to them is to erase a disk of each.
fn print_machines(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    for node in &plan.nodes {
        let Hardware::Machine { install: Some(disk), .. } = &node.hardware else { continue };
        writeln!(out, "  ! {:<15} {:<20} erases {disk}", "machine", node.name)?;
    }
    writeln!(
        out,
        "Plan: Talos is installed on each of {} machines that is in maintenance mode, which \
         erases the disk above.\nMachines that this cluster runs on already keep their disks. \
         No price: these are your own machines.",
        plan.nodes.len()
    )
}

fn print_change(change: &Change, price: Option<Euro>, out: &mut dyn Write) -> io::Result<()> {
    let mark = match change.fate {
        Fate::Create => '+',
        Fate::Change => '~',
        Fate::Keep => '=',
        Fate::Differs | Fate::Surplus | Fate::Taken => '!',
    };
    let about = match change.fate {
        Fate::Create | Fate::Keep => "",
        Fate::Change => "would be changed",
        Fate::Differs => "cannot be changed in place, and stays",
        Fate::Surplus => "stays, and goes on costing",
        Fate::Taken => "has the name, and is not ours",
    };
    let price = price.map(|price| price.to_string()).unwrap_or_default();
    let (kind, name) = (&change.kind, &change.name);
    let line = format!("  {mark} {kind:<15} {name:<20} {about:<38} {price:>7}");
    writeln!(out, "{}", line.trim_end())?;
    let mut differences = change.differences.iter();
    differences.try_for_each(|it| writeln!(out, "      {it}"))
}

fn price(outlook: &Outlook, name: &str, kind: &str) -> Option<Euro> {
    let lines = &outlook.bill.as_ref()?.lines;
    lines.iter().find(|line| line.name == name && line.what == kind).map(|line| line.price)
}

/// What `up` would stop at, as its stage `preflight` would say it.
fn print_obstacle(cause: &Cause, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  ! {cause}")?;
    cause.because.iter().try_for_each(|it| writeln!(out, "      {it}"))
}

/// A plan that `up` would refuse ends as `up` would; differences count only
/// where somebody asks for it.
pub(super) fn end(outlook: &Outlook, exit_code: bool) -> Result<(), CommandError> {
    if let Some(cause) = outlook.obstacles.first() {
        let refused = codes::REFUSALS.contains(&cause.code);
        return Err(CommandError::told(if refused { Exit::Refused } else { Exit::NotProven }));
    }
    let differs = |it: &Change| it.fate != Fate::Keep;
    if exit_code && outlook.changes.iter().any(differs) {
        return Err(CommandError::told(Exit::Different));
    }
    Ok(())
}
