//! The end of a rehearsal: what becomes of its world, and how to go on.

use std::io::Write as _;
use std::path::Path;

use lifecycle::{Invocation, quoted};
use report::terminal::say;

use super::{RehearseArgs, World};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::commands::sim::struck;
use crate::exit::Exit;
use crate::rehearsal_claim;
use crate::rehearsed::Rehearsed;
use crate::standing::{Reach, WORLD};
use crate::ui::Ui;

/// So many rehearsals that are over are nothing to speak of.
const OLD: usize = 3;

/// What stands below the first of several commands to try.
const BELOW: &str = "              ";

/// Ends the world, unless it is wanted, and says how to go on.
pub(super) fn end(
    rehearsed: &Rehearsed,
    args: &RehearseArgs,
    called: &Invocation,
    world: World,
    stood: bool,
    told: Result<(), CommandError>,
    ui: &Ui,
) -> Result<(), CommandError> {
    let interrupted = matches!(&told, Err(error) if error.exit() == Exit::Interrupted);
    let mut err = ui.stderr();
    if interrupted {
        let (again, down) = (called.rehearse(&args.options()), called.rehearse("--down"));
        let words = format!("the world waits; `{again}` goes on, `{down}` ends it");
        say(palette(ui), "Standing", &words, &mut err)?;
        return told;
    }
    if args.keep {
        kept(rehearsed, called, &world.reach, ui)?;
        return told;
    }
    let World { reach, mut child } = world;
    let ended = reach.end(child.as_mut());
    if ended.is_ok() && (told.is_err() || stood) {
        let keep = called.rehearse(&args.options_to_keep());
        say(palette(ui), "Ended", &format!("the simulated world; `{keep}` leaves it"), &mut err)?;
    }
    told?;
    ended?;
    if ui.output() == Output::Text {
        say(palette(ui), "Try it", &called.rehearse("--keep"), &mut err)?;
        writeln!(err, "{BELOW}{}", called.rehearse("--fault lb-no-healthy-target"))?;
    }
    Ok(())
}

/// Says how a world that stands is looked at and ended.
fn kept(
    rehearsed: &Rehearsed,
    called: &Invocation,
    reach: &Reach,
    ui: &Ui,
) -> Result<(), CommandError> {
    let mut err = ui.stderr();
    say(palette(ui), "Standing", &format!("process {}", reach.pid), &mut err)?;
    say(palette(ui), "Try it", &called.rehearse("--down"), &mut err)?;
    writeln!(err, "{BELOW}{}", called.on_cluster("status"))?;
    let world = quoted(&rehearsed.folder.join(WORLD).display().to_string());
    for fault in struck(reach).unwrap_or_default() {
        writeln!(err, "{BELOW}seaworthy sim fault --mend {fault} --world {world}")?;
    }
    // Where the run failed early there is no cluster to look at.
    if let Ok(kubeconfig) = rehearsed.kubeconfig(reach) {
        let kubeconfig = quoted(&kubeconfig.display().to_string());
        writeln!(err, "{BELOW}kubectl --kubeconfig {kubeconfig} get nodes")?;
    }
    Ok(())
}

/// Says that rehearsals which are over take up room, and hold keys.
pub(super) fn tell_of_old(
    state: &Path,
    rehearsed: &Rehearsed,
    called: &Invocation,
    ui: &Ui,
) -> Result<(), CommandError> {
    // The command that is told cleans what was counted.
    let name = called.file.as_ref().map(|_| rehearsed.cluster.name.as_str());
    let old = rehearsal_claim::ended(state, name, &rehearsed.folder);
    if old < OLD {
        return Ok(());
    }
    let clean = called.rehearse("--clean");
    let words = format!(
        "{old} earlier rehearsals lie in {}, with reports and keys; `{clean}` removes them",
        state.display()
    );
    Ok(say(palette(ui), "Note", &words, &mut ui.stderr())?)
}
