//! `down` of what a cloud has made for a cluster.

use std::io::Write;
use std::path::Path;

use clouds::hetzner::{Hetzner, HetznerError, Holder};
use clouds::{Cloud as _, Item};
use engine::{Chance, StateFolder};
use events::ClusterId;
use lifecycle::Ground;
use report::terminal::say;
use serde_json::json;

use super::confirmation::counted;
use super::{Asked, lost_state, order};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::running;
use crate::runtime;
use crate::ui::Ui;

/// Shows what carries the cluster's id, asks, and removes it.
pub(super) fn remove(
    asked: &Asked<'_>,
    hetzner: &Hetzner,
    state: &Path,
    is_known: bool,
) -> Result<(), CommandError> {
    let known = is_known.then(|| hetzner.cluster());
    let id = asked.args.adopt_id.or(known).unwrap_or(ClusterId::NIL);
    lost_state::one_identity(asked, known, state)?;
    let (args, ui) = (asked.args, asked.ui);
    // First of all: what is shown must be what is removed.
    let folder = (is_known && !args.dry_run).then(|| open(state)).transpose()?;
    let claim = folder.map(|it| running::claim(&it, &asked.command())).transpose()?;
    let hetzner = hetzner.seen_as(id);
    // At once: connections do not outlive the runtime that they were made on.
    let (items, namesakes) = runtime::block_on(async {
        let items = hetzner.inventory().await.map_err(|error| refused(&error))?;
        let namesakes = hetzner.namesakes(asked.cluster).await;
        Ok((items, namesakes.map_err(|error| refused(&error))?))
    })?;
    if items.is_empty() {
        lost_state::refuse(asked, &namesakes, known, state)?;
    }
    if items.is_empty() && known.is_none() {
        let words = format!(
            "to remove: there is no state of {} in {}, and nothing carries its name",
            asked.cluster,
            state.display()
        );
        return Ok(say(palette(ui), "Nothing", &words, &mut ui.stderr())?);
    }
    if args.dry_run {
        return show(&items, ui);
    }
    if !items.is_empty() {
        list(&items, &mut ui.stderr())?;
        tell_of(&namesakes, ui)?;
        asked.confirm(&format!("removes {} for good", counted(items.len(), "resource")))?;
    }
    if let Some(id) = args.adopt_id.filter(|_| known.is_none()) {
        StateFolder::adopt(state, id, &Chance::real()).map_err(|error| internal(&error))?;
    }
    let target = asked.open()?;
    let Ground::Hetzner(hetzner) = target.site.ground.clone() else {
        return Err(CommandError::say(Exit::Internal, "the cloud is another one than before"));
    };
    let mut order = order(target, hetzner);
    order.plan.rerun = Some(asked.command());
    order.claim = claim;
    running::run(order, ui).map(|_| ())
}

fn open(state: &Path) -> Result<StateFolder, CommandError> {
    StateFolder::open(state, &Chance::real()).map_err(|error| internal(&error))
}

fn internal(error: &engine::StateError) -> CommandError {
    CommandError::new(Exit::Internal, error)
}

/// Lists what is the cluster's.
pub(super) fn inventory(hetzner: &Hetzner) -> Result<Vec<Item>, CommandError> {
    runtime::block_on(async { hetzner.inventory().await.map_err(|error| refused(&error)) })
}

fn refused(error: &HetznerError) -> CommandError {
    CommandError::new(Exit::Refused, error)
}

/// Shows what would be removed.
pub(super) fn show(items: &[Item], ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        let record = |item: &Item| json!({ "kind": item.kind(), "id": item.id(), "name": item.name(), "because": item.proof() });
        return Ok(ui.json(&items.iter().map(record).collect::<Vec<_>>())?);
    }
    let mut out = ui.stdout();
    list(items, &mut out)?;
    Ok(writeln!(out, "{} to remove, nothing was removed", items.len())?)
}

fn list(items: &[Item], out: &mut impl Write) -> std::io::Result<()> {
    for item in items {
        let (kind, name) = (item.kind(), item.name());
        writeln!(out, "  - {kind:<15} {name:<24} {}  {}", item.id(), item.proof())?;
    }
    Ok(())
}

/// Another cluster may have the same name, and stays.
fn tell_of(namesakes: &[Holder], ui: &Ui) -> Result<(), CommandError> {
    if namesakes.is_empty() {
        return Ok(());
    }
    let first = &namesakes[0];
    let words = format!(
        "{} with the same cluster name stay, such as {} {}, which {}",
        counted(namesakes.len(), "resource"),
        first.kind,
        first.name,
        lost_state::carries(&first.ownership),
    );
    Ok(say(palette(ui), "Note", &words, &mut ui.stderr())?)
}
