//! Clusters that exist while their state is elsewhere, or lost: without the id
//! that their resources carry nothing of theirs may be removed.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use clouds::Ownership;
use clouds::hetzner::Holder;
use events::ClusterId;
use lifecycle::Invocation;

use super::Asked;
use super::confirmation::counted;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// How many resources are named.
const NAMED: usize = 12;

/// Refuses an id beside the state of a cluster that has another.
pub(super) fn one_identity(
    asked: &Asked<'_>,
    known: Option<ClusterId>,
    state: &Path,
) -> Result<(), CommandError> {
    match (asked.args.adopt_id, known) {
        (Some(id), Some(known)) if id != known => {
            let message = format!("{} is the state of the cluster {known}", state.display());
            Err(CommandError::say(Exit::Usage, message)
                .hint(format!("`{}` keeps them apart", adopting(asked, id, state, true))))
        }
        _ => Ok(()),
    }
}

/// Refuses to go on where nothing is known to be the cluster's, and something
/// carries its name.
pub(super) fn refuse(
    asked: &Asked<'_>,
    namesakes: &[Holder],
    known: Option<ClusterId>,
    state: &Path,
) -> Result<(), CommandError> {
    let cluster = asked.cluster;
    if let Some(id) = asked.args.adopt_id {
        let message = format!("nothing in this project carries the cluster id {id}");
        show(namesakes, asked.ui)?;
        return Err(CommandError::say(Exit::Usage, message));
    }
    if namesakes.is_empty() {
        return Ok(());
    }
    let has = match known {
        None => format!("there is no state of {cluster} in {}", state.display()),
        Some(id) => format!("the state in {} is of another {cluster}, {id}", state.display()),
    };
    let count = counted(namesakes.len(), "resource");
    let verb = if namesakes.len() == 1 { "carries" } else { "carry" };
    let message = format!("{has}, and {count} in this project {verb} its name");
    show(namesakes, asked.ui)?;
    let refusal = CommandError::say(Exit::Leftovers, message)
        .hint("nothing was removed; `--state-dir DIRECTORY` names the directory of its state");
    let ids: BTreeSet<_> = namesakes.iter().filter_map(id_of).collect();
    Err(ids.into_iter().fold(refusal, |refusal, id| {
        let command = adopting(asked, id, state, known.is_some());
        refusal.hint(format!("if its state is lost, `{command}` removes what carries this id"))
    }))
}

/// Says which id a resource carries.
pub(super) fn carries(ownership: &Ownership) -> String {
    match ownership {
        Ownership::Foreign { claimed_by: Some(id) } => format!("carries the id {id}"),
        Ownership::Foreign { claimed_by: None } => "carries no cluster id".to_owned(),
        Ownership::Ours => "carries this cluster's id".to_owned(),
    }
}

/// Shows what carries the cluster's name.
fn show(namesakes: &[Holder], ui: &Ui) -> io::Result<()> {
    let mut err = ui.stderr();
    for Holder { kind, id, name, ownership } in namesakes.iter().take(NAMED) {
        writeln!(err, "  ? {:<15} {name:<24} {id}  {}", kind.to_string(), carries(ownership))?;
    }
    match namesakes.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => writeln!(err, "    and {more} more"),
    }
}

fn id_of(holder: &Holder) -> Option<ClusterId> {
    match &holder.ownership {
        Ownership::Foreign { claimed_by } => claimed_by.as_ref()?.parse().ok(),
        Ownership::Ours => None,
    }
}

/// Returns the command that takes an id for the cluster's; in a state directory
/// of its own, where the present one is another cluster's.
fn adopting(asked: &Asked<'_>, id: ClusterId, state: &Path, elsewhere: bool) -> String {
    let state_dir = elsewhere.then(|| {
        let above = state.parent().unwrap_or(Path::new("."));
        above.with_file_name(format!(
            "{}-adopted",
            above.file_name().unwrap_or_default().to_string_lossy()
        ))
    });
    let state_dir = state_dir.or_else(|| asked.called.state_dir.clone());
    let called = Invocation { state_dir, ..asked.called.clone() };
    called.on_cluster(&format!("down --adopt-id {id}"))
}
