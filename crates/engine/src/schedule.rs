//! Which unit may start when: pure counting over the announced plan.
//!
//! A unit waits for one *edge* per entry of its stage's `after`. An edge is
//! either a link of a node's own chain, met by one unit, or a barrier, met when
//! the last unit that counts has passed. Every unit is touched a constant
//! number of times, so that hundreds of nodes cost nothing.

use std::collections::HashMap;

use events::{After, NodeName, Plan, PlannedStage, Reach, Role, StageName, Unit};

/// Which units wait for what.
pub(crate) struct Schedule {
    stages: Vec<StageProgress>,
    by_name: HashMap<StageName, usize>,
    control_planes: Vec<NodeName>,
    unmet: HashMap<Unit, usize>,
}

struct StageProgress {
    name: StageName,
    units: Vec<Unit>,
    /// Units that have not passed yet.
    left: usize,
    /// Of those, the ones on control planes.
    left_on_control_planes: usize,
    /// The stages that wait for this one, and how.
    followers: Vec<(usize, Link)>,
}

/// How a stage waits for an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Chain,
    BarrierOfControlPlanes,
    BarrierOfAll,
}

// === impl Schedule ===

impl Schedule {
    /// Counts what every unit of the plan waits for. The plan has been checked:
    /// a stage only waits for stages before it.
    pub(crate) fn new(plan: &Plan) -> Self {
        let control_plane = |node: &&events::PlannedNode| node.role == Role::ControlPlane;
        let nodes = plan.nodes.iter().filter(control_plane);
        let mut schedule = Self {
            stages: Vec::new(),
            by_name: HashMap::new(),
            control_planes: nodes.map(|node| node.name.clone()).collect(),
            unmet: HashMap::new(),
        };
        for stage in &plan.stages {
            schedule.add(plan, stage);
        }
        schedule
    }

    /// Returns the units that wait for nothing.
    pub(crate) fn first(&self) -> Vec<Unit> {
        let units = self.stages.iter().flat_map(|stage| &stage.units);
        units.filter(|unit| self.unmet[*unit] == 0).cloned().collect()
    }

    /// Takes down that a unit has passed or was skipped, and returns the units
    /// that waited for nothing else.
    pub(crate) fn passed(&mut self, unit: &Unit) -> Vec<Unit> {
        let index = self.by_name[&unit.stage];
        let on_control_plane = self.is_control_plane(unit);
        let stage = &mut self.stages[index];
        stage.left -= 1;
        stage.left_on_control_planes -= usize::from(on_control_plane);
        let all = stage.left == 0;
        let control_planes = on_control_plane && stage.left_on_control_planes == 0;
        let mut ready = Vec::new();
        for (follower, link) in stage.followers.clone() {
            match link {
                Link::Chain => self.meet(self.same_node(follower, unit), &mut ready),
                Link::BarrierOfAll if all => self.meet_all(follower, &mut ready),
                Link::BarrierOfControlPlanes if control_planes => {
                    self.meet_all(follower, &mut ready);
                }
                Link::BarrierOfAll | Link::BarrierOfControlPlanes => {}
            }
        }
        ready
    }

    fn add(&mut self, plan: &Plan, stage: &PlannedStage) {
        let index = self.stages.len();
        let units = stage.units();
        for unit in &units {
            self.unmet.insert(unit.clone(), 0);
        }
        for after in &stage.after {
            let earlier = self.by_name[&after.stage];
            let link = link(plan, stage, after);
            for unit in &units {
                let waits = usize::from(self.is_unmet(earlier, link, unit));
                *self.unmet.entry(unit.clone()).or_default() += waits;
            }
            self.stages[earlier].followers.push((index, link));
        }
        let left_on_control_planes =
            units.iter().filter(|unit| self.is_control_plane(unit)).count();
        self.stages.push(StageProgress {
            name: stage.name.clone(),
            left: units.len(),
            left_on_control_planes,
            units,
            followers: Vec::new(),
        });
        self.by_name.insert(stage.name.clone(), index);
    }

    /// Returns whether an edge has anything to wait for at all.
    fn is_unmet(&self, earlier: usize, link: Link, unit: &Unit) -> bool {
        let stage = &self.stages[earlier];
        match link {
            Link::Chain => self.unmet.contains_key(&self.same_node(earlier, unit)),
            Link::BarrierOfAll => stage.left > 0,
            Link::BarrierOfControlPlanes => stage.left_on_control_planes > 0,
        }
    }

    fn meet_all(&mut self, stage: usize, ready: &mut Vec<Unit>) {
        for unit in self.stages[stage].units.clone() {
            self.meet(unit, ready);
        }
    }

    fn meet(&mut self, unit: Unit, ready: &mut Vec<Unit>) {
        // A chain may end here: the next stage need not work on this node.
        let Some(unmet) = self.unmet.get_mut(&unit) else { return };
        *unmet -= 1;
        if *unmet == 0 {
            ready.push(unit);
        }
    }

    /// Returns the unit of another stage on the same node.
    fn same_node(&self, stage: usize, unit: &Unit) -> Unit {
        Unit { stage: self.stages[stage].name.clone(), node: unit.node.clone() }
    }

    fn is_control_plane(&self, unit: &Unit) -> bool {
        unit.node.as_ref().is_some_and(|node| self.control_planes.contains(node))
    }
}

fn link(plan: &Plan, stage: &PlannedStage, after: &After) -> Link {
    let earlier = plan.stage(&after.stage).expect("the plan was checked");
    match (after.on, &stage.nodes, &earlier.nodes) {
        (Reach::Chain, Some(_), Some(_)) => Link::Chain,
        (Reach::ControlPlanes, _, Some(_)) => Link::BarrierOfControlPlanes,
        (Reach::Chain | Reach::ControlPlanes | Reach::All, _, _) => Link::BarrierOfAll,
    }
}
