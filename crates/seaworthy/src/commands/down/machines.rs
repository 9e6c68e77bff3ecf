//! `down` of machines that were there before the cluster.

use std::io::Write;
use std::path::Path;

use engine::{Chance, StateFolder};
use events::History;
use lifecycle::Site;
use lifecycle::down::{self, MachineSeen};
use report::terminal::say;
use serde_json::json;

use super::Asked;
use super::confirmation::counted;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::running;
use crate::runtime;
use crate::ui::Ui;

/// Shows which machines have the cluster's config, asks, and wipes them.
pub(super) fn release(
    asked: &Asked<'_>,
    site: &Site,
    state: &Path,
    is_known: bool,
) -> Result<(), CommandError> {
    let (args, ui) = (asked.args, asked.ui);
    if args.adopt_id.is_some() {
        let message = "machines carry no cluster id: `--adopt-id` is for clusters in a cloud";
        return Err(CommandError::say(Exit::Usage, message));
    }
    if !is_known {
        return without_state(asked, site, state);
    }
    let folder = StateFolder::open(state, &Chance::real())
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    if args.dry_run {
        return show(&look(site, &folder)?, ui);
    }
    // First of all: what is shown must be what is wiped.
    let claim = running::claim(&folder, &asked.command())?;
    let seen = look(site, &folder)?;
    let ours = seen.iter().filter(|it| it.is_ours()).count();
    if ours > 0 {
        list(&seen, &mut ui.stderr())?;
        asked.confirm(&format!("wipes {}, with all data on it", counted(ours, "system disk")))?;
    }
    let order = super::release(asked.open()?, claim, asked.command());
    running::run(order, ui).map(|_| ())
}

/// Without state nobody knows which machines were given a config: one that does
/// not answer may have one.
fn without_state(asked: &Asked<'_>, site: &Site, state: &Path) -> Result<(), CommandError> {
    let (ui, cluster) = (asked.ui, asked.cluster);
    let seen = machines(site, &History::default())?;
    if seen.iter().all(MachineSeen::is_empty) {
        let words = format!("to wipe: no machine of {cluster} has a config");
        return Ok(say(palette(ui), "Nothing", &words, &mut ui.stderr())?);
    }
    let message = format!("there is no state of {cluster} in {}", state.display());
    list(&seen, &mut ui.stderr())?;
    Err(CommandError::say(Exit::Leftovers, message)
        .hint("nothing was wiped; `--state-dir DIRECTORY` names the directory of its state")
        .hint("without the secrets in it, machines that have a config have to be wiped by hand"))
}

/// Shows what would be done, and does nothing.
fn show(seen: &[MachineSeen], ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        let record = |it: &MachineSeen| {
            json!({
                "name": it.name, "mode": it.sighting.mode.word(), "reset": it.is_ours(),
                "disk": it.disk,
            })
        };
        return Ok(ui.json(&seen.iter().map(record).collect::<Vec<_>>())?);
    }
    let mut out = ui.stdout();
    list(seen, &mut out)?;
    let count = seen.iter().filter(|it| it.is_ours()).count();
    Ok(writeln!(out, "{count} to reset, nothing was reset")?)
}

fn list(seen: &[MachineSeen], out: &mut impl Write) -> std::io::Result<()> {
    for it in seen {
        let (verb, what) = if it.is_ours() { ("wipe", disk(it)) } else { ("leave", means(it)) };
        writeln!(out, "  {verb:<6} {:<24} {:<16} {what}", it.name, it.address)?;
    }
    Ok(())
}

fn disk(machine: &MachineSeen) -> String {
    match &machine.disk {
        Some(disk) => format!("config and data on {disk}"),
        None => "config and data on its system disk".to_owned(),
    }
}

fn means(machine: &MachineSeen) -> String {
    machine.sighting.means()
}

fn look(site: &Site, folder: &StateFolder) -> Result<Vec<MachineSeen>, CommandError> {
    let past = engine::past(folder).map_err(|error| running::unopened(&error, folder))?;
    machines(site, &past)
}

fn machines(site: &Site, past: &History) -> Result<Vec<MachineSeen>, CommandError> {
    runtime::block_on(async {
        let seen = down::machines(site, past).await;
        seen.map_err(|cause| CommandError::say(Exit::Usage, cause.message))
    })
}
