//! The table of stages: constants from which a run's plan is made.

use std::time::Duration;

use events::{After, CheckKind, NodeName, PlannedCheck, PlannedNode, PlannedStage, Reach, Role};

/// A stage of a table.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// What must have passed before it, and on which nodes.
    pub after: &'static [(&'static str, Reach)],
    /// What it works on.
    pub scope: Scope,
    /// What proves that it worked, in this order.
    pub checks: &'static [Check],
}

/// What a stage works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The cluster as a whole.
    Cluster,
    /// Every node by itself.
    EachNode,
    /// Every control plane by itself.
    EachControlPlane,
}

/// A gate or probe of a stage.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Whether it reads or writes.
    pub kind: CheckKind,
    /// How long to wait for it, where the user says nothing else.
    pub deadline: Duration,
    /// The pause between two looks.
    pub poll: Duration,
    /// How long it must stay ready.
    pub stable: Duration,
    /// How long a probe's result may be taken again.
    pub fresh: Duration,
    /// Whether the run is only proven with it.
    pub required: bool,
}

/// How a table's durations become a run's.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Deadlines that the user gave, by the name of the check; the last one counts.
    pub deadlines: Vec<(String, Duration)>,
    /// How long checks must stay ready, where the user said so.
    pub stable: Vec<(String, Duration)>,
    /// How many times faster than real the simulated world runs.
    pub speed: Option<u32>,
}

/// A duration for a check that no stage has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no gate is named `{name}`; there are {}", known.join(", "))]
pub struct UnknownCheck {
    /// The name that was given.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

/// However fast a simulated world runs, our own requests in it are real: no
/// deadline is scaled below this.
const SHORTEST_DEADLINE: Duration = Duration::from_secs(5);

/// Nor does it help to look more often than this.
const SHORTEST_POLL: Duration = Duration::from_millis(10);

// === impl Check ===

impl Check {
    /// A required gate, looked at every two seconds.
    pub const fn gate(name: &'static str, deadline: Duration) -> Self {
        Self {
            name,
            kind: CheckKind::Gate,
            deadline,
            poll: Duration::from_secs(2),
            stable: Duration::ZERO,
            fresh: Duration::ZERO,
            required: true,
        }
    }

    /// A required probe, whose result may be taken again for an hour.
    pub const fn probe(name: &'static str, deadline: Duration) -> Self {
        let fresh = Duration::from_hours(1);
        Self { kind: CheckKind::Probe, fresh, ..Self::gate(name, deadline) }
    }

    /// Says how long it must stay ready.
    #[must_use]
    pub const fn stable(self, stable: Duration) -> Self {
        Self { stable, ..self }
    }

    /// Says that the run is proven without it, too: where it fails, it warns.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    fn planned(&self, pace: &Pace) -> PlannedCheck {
        let given = |durations: &[(String, Duration)]| {
            durations.iter().rev().find(|(name, _)| name == self.name).map(|(_, given)| *given)
        };
        let deadline = given(&pace.deadlines).unwrap_or(self.deadline);
        let stable = given(&pace.stable).unwrap_or(self.stable);
        PlannedCheck {
            name: self.name.into(),
            kind: self.kind,
            deadline_ms: millis(pace.scaled(deadline, SHORTEST_DEADLINE)),
            poll_ms: millis(pace.scaled(self.poll, SHORTEST_POLL)),
            stable_ms: millis(pace.scaled(stable, Duration::ZERO)),
            fresh_ms: millis(self.fresh),
            required: self.required,
        }
    }
}

// === impl Pace ===

impl Pace {
    /// Checks that every duration is for a check that the table has.
    pub fn check(&self, table: &[Stage]) -> Result<(), UnknownCheck> {
        let known = || table.iter().flat_map(|stage| stage.checks).map(|check| check.name);
        let unknown = |(name, _): &&(String, Duration)| known().all(|check| check != name);
        match self.deadlines.iter().chain(&self.stable).find(unknown) {
            Some((name, _)) => Err(UnknownCheck { name: name.clone(), known: known().collect() }),
            None => Ok(()),
        }
    }

    fn scaled(&self, real: Duration, shortest: Duration) -> Duration {
        match self.speed {
            Some(speed) if speed > 1 => (real / speed).max(shortest.min(real)),
            _ => real,
        }
    }
}

/// Makes the planned stages of a table for these nodes.
pub fn planned(
    table: &[Stage],
    nodes: &[PlannedNode],
    pace: &Pace,
) -> Result<Vec<PlannedStage>, UnknownCheck> {
    pace.check(table)?;
    let plan = |stage: &Stage| PlannedStage {
        name: stage.name.into(),
        after: stage
            .after
            .iter()
            .map(|(name, on)| After { stage: (*name).into(), on: *on })
            .collect(),
        nodes: stage.scope.nodes(nodes),
        checks: stage.checks.iter().map(|check| check.planned(pace)).collect(),
    };
    Ok(table.iter().map(plan).collect())
}

// === impl Scope ===

impl Scope {
    fn nodes(self, nodes: &[PlannedNode]) -> Option<Vec<NodeName>> {
        let names = |wanted: fn(Role) -> bool| {
            let chosen = nodes.iter().filter(|node| wanted(node.role));
            Some(chosen.map(|node| node.name.clone()).collect())
        };
        match self {
            Self::Cluster => None,
            Self::EachNode => names(|_| true),
            Self::EachControlPlane => names(|role| role == Role::ControlPlane),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Stage] = &[
        Stage {
            name: "nodes",
            after: &[],
            scope: Scope::EachNode,
            checks: &[Check::gate("nodes", Duration::from_mins(10))],
        },
        Stage {
            name: "etcd",
            after: &[("nodes", Reach::ControlPlanes)],
            scope: Scope::Cluster,
            checks: &[Check::gate("etcd", Duration::from_mins(10))],
        },
    ];

    fn deadlines(pace: &Pace) -> Vec<u64> {
        let stages = planned(TABLE, &[], pace).unwrap();
        stages.iter().map(|stage| stage.checks[0].deadline_ms).collect()
    }

    #[test]
    fn the_last_deadline_that_was_given_wins() {
        let minutes = |n| ("etcd".to_owned(), Duration::from_mins(n));
        let pace = Pace { deadlines: vec![minutes(20), minutes(30)], ..Pace::default() };
        assert_eq!(deadlines(&pace), [600_000, 1_800_000]);
    }

    #[test]
    fn speed_shortens_deadlines_to_a_floor() {
        let at = |speed| deadlines(&Pace { speed: Some(speed), ..Pace::default() })[0];
        assert_eq!([at(1), at(30), at(10_000)], [600_000, 20_000, 5_000]);
    }

    #[test]
    fn a_deadline_for_an_unknown_gate_names_the_known_ones() {
        let pace = Pace { deadlines: vec![("ectd".to_owned(), Duration::ZERO)], ..Pace::default() };
        assert_eq!(
            planned(TABLE, &[], &pace).unwrap_err().to_string(),
            "no gate is named `ectd`; there are nodes, etcd"
        );
    }
}
