//! What is left on machines that were released: nobody takes silence for empty
//! who may have sent a config there.

use engine::Eyes;
use events::{Because, Cause, Evidence, History, Role, Verdict};
use talos::client::{Apply, Reason, Reset};
use talos::probe::{Mode, Owner, Sighting};

use crate::berth::Berth;
use crate::{Site, codes};

/// What Talos calls itself where it runs in a container.
pub(super) const CONTAINER: &str = "container";

/// Says what each machine is now.
pub(super) fn look(site: &Site, seen: &[(Berth, Sighting)], eyes: &Eyes) -> Verdict {
    let mut evidence = Evidence::new("nothing is left");
    for (berth, sighting) in seen {
        let (had_config, reset) = (has_config(berth, eyes), last_reset(berth, eyes));
        match rest(sighting, had_config, reset.as_deref()) {
            Ok(what) => evidence = evidence.fact(berth.name.clone(), what),
            Err(_) if reset.is_none() && is_stranded(site, berth, seen) => {
                return Verdict::failed(stranded(site, berth));
            }
            Err(why) => return left(site, berth, &why),
        }
    }
    Verdict::ready(evidence)
}

/// A worker that has its config is closed until a control plane signs its
/// certificate. Where all of those wait for a config, it stays so.
fn is_stranded(site: &Site, berth: &Berth, seen: &[(Berth, Sighting)]) -> bool {
    let is_worker = |berth: &Berth| {
        let node = site.plan.nodes.iter().find(|node| node.name == berth.name);
        node.is_some_and(|node| node.role == Role::Worker)
    };
    let is_closed = |(it, sighting): &(Berth, Sighting)| {
        it == berth && sighting.mode == Mode::Unreachable(Reason::Refused)
    };
    let mut others = seen.iter().filter(|(it, _)| !is_worker(it));
    is_worker(berth)
        && seen.iter().any(is_closed)
        && others.all(|(_, sighting)| sighting.mode == Mode::Maintenance)
}

/// Judges a machine by what it shows, by whether it was given our config, and
/// by what it ran on when it was reset. The error says why something may be left.
fn rest(seen: &Sighting, had_config: bool, reset: Option<&str>) -> Result<&'static str, String> {
    match (&seen.mode, reset) {
        (Mode::Maintenance, _) => Ok("waits for a config"),
        (Mode::Configured(Owner::Us), _) => Err("it runs this cluster's config".to_owned()),
        (Mode::Configured(Owner::Somebody), _) => Ok("belongs to another cluster"),
        (Mode::Unreachable(_), Some(CONTAINER)) => Ok("was reset, and its container ends"),
        (Mode::Unreachable(_), None) if !had_config => Ok("was given nothing, and does not answer"),
        _ => Err(seen.means()),
    }
}

fn left(site: &Site, berth: &Berth, why: &str) -> Verdict {
    let Berth { name, address } = berth;
    let what = format!("{name} at {address}: {why}");
    let cause = Cause::new(codes::NODE_UNREACHABLE, format!("{name} is not known to be wiped"))
        .because([what.clone()])
        .so("it may still run this cluster's config")
        .next(format!("seaworthy talos probe {address}"), "shows what answers there")
        .next(site.invocation.on_cluster("down"), "goes on, once it answers");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

fn stranded(site: &Site, berth: &Berth) -> Cause {
    let (Berth { name, address }, called) = (berth, &site.invocation);
    Cause::new(codes::NODE_REFUSES, format!("{name} is not known to be wiped"))
        .because([
            format!("{name} at {address}: {}", Reason::Refused),
            "a worker that has its config is closed until a control plane signs its certificate"
                .to_owned(),
            "no control plane has a config".to_owned(),
        ])
        .so("it may still run this cluster's config")
        .next(
            called.on_cluster("up --until config"),
            "gives the control planes theirs, so that it answers",
        )
        .next(called.on_cluster("down"), "goes on then")
}

/// Whether a machine was given our config, or may have been.
pub(super) fn has_config(berth: &Berth, eyes: &Eyes) -> bool {
    eyes.history(History::is_incomplete)
        || Berth::maybe_known(eyes).iter().any(|known| known.address == berth.address)
}

/// Returns what a machine ran on when it was reset, unless it was given a config
/// since.
fn last_reset(berth: &Berth, eyes: &Eyes) -> Option<String> {
    let at = |kind| {
        let reached = eyes.reached(kind).into_iter();
        reached
            .filter(|(target, _)| {
                Berth::of_target(target).is_some_and(|it| it.address == berth.address)
            })
            .map(|(_, intent)| intent)
            .max()
    };
    if at(Apply::KIND) > at(Reset::KIND) {
        return None;
    }
    eyes.pinned(&reset_of(berth))
}

/// Under which name it is pinned that a machine took its reset, with what it
/// ran on.
pub(super) fn reset_of(berth: &Berth) -> String {
    format!("reset of machine {}", berth.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_proves_nothing_but_of_a_container_that_was_reset() {
        let silent = seen(Mode::Unreachable(Reason::Refused));
        assert!(rest(&silent, true, Some(CONTAINER)).is_ok());
        assert!(rest(&silent, true, Some("metal")).is_err());
        assert!(rest(&silent, true, None).is_err());
        assert!(rest(&silent, false, None).is_ok());
        assert!(rest(&seen(Mode::Maintenance), true, Some("metal")).is_ok());
        assert!(rest(&seen(Mode::Configured(Owner::Us)), false, None).is_err());
    }

    #[test]
    fn who_closes_connections_is_not_said_to_take_a_config() {
        let why = rest(&seen(Mode::InTransition), true, Some(CONTAINER)).unwrap_err();
        assert_eq!(why, Reason::Closed.meaning().means);
    }

    /// A look that saw no certificate.
    fn seen(mode: Mode) -> Sighting {
        Sighting {
            node: "10.0.0.1:50000".parse().expect("it is an address"),
            mode,
            certificate: None,
            asks_for_certificate: false,
            accepted_authorities: Vec::new(),
        }
    }
}
