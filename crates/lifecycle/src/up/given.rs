//! Which config a machine was given last, by this run or an earlier one. A
//! machine that was wiped is given another one.

use clouds::Host;
use engine::{ActError, Ensured, Eyes, Hands};
use events::Digest;
use talos::config::MachineConfig;

use crate::numbered::{nth, read};

/// Under which names it is pinned, before the machine's.
const PIN: &str = "config of ";

/// Writes down what a machine was given, where it was given something or nobody
/// knows of it. Returns whether it has `config`.
pub(super) async fn is_last(
    hands: &Hands,
    machine: &Host,
    config: &MachineConfig,
    ensured: &Ensured,
) -> Result<bool, ActError> {
    let digest = Digest::of(config.yaml().reveal().as_bytes()).to_string();
    let last = last(hands.eyes(), machine);
    let number = match (last, ensured) {
        (Some((_, given)), _) if given == digest => return Ok(true),
        (Some((number, _)), Ensured::Sent(_)) => number + 1,
        (Some(_), Ensured::Found(_) | Ensured::Pending(_)) => return Ok(false),
        (None, _) => 0,
    };
    hands.pin(&format!("{PIN}{}", nth(&machine.to_string(), number)), &digest).await?;
    Ok(true)
}

/// Returns which machines were given which configs, in one line: another machine in the
/// place of one, or the same after it was wiped, makes it another.
pub(super) fn to_all(eyes: &Eyes) -> String {
    let given = eyes.pinned_under(PIN).into_iter().map(|(pin, digest)| format!("{pin} {digest}"));
    given.collect::<Vec<_>>().join(" ")
}

fn last(eyes: &Eyes, machine: &Host) -> Option<(u32, String)> {
    let called = machine.to_string();
    let given = eyes.pinned_under(PIN).into_iter().filter_map(|(pin, digest)| {
        let (title, number) = read(&pin)?;
        (title == called).then_some((number, digest))
    });
    given.max_by_key(|(number, _)| *number)
}
