//! A run to look at and to stop: every unit lays one plank, a file below the
//! folder that is given, and takes its time. The world is on the disk, so that
//! it outlives the process, as a real one does.
//!
//! ```sh
//! cargo run --example drydock -- /tmp/drydock
//! ```
//!
//! Press Ctrl-C once or twice, kill it, and run it again. A second argument
//! names a unit that fails, such as `mast` or `keel on hull-2`.

#![expect(clippy::print_stderr, reason = "an example that is used wrongly says so")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use engine::{
    ActError, Chance, Check, Eyes, Hands, Pace, Scope, SendError, Sight, Stage, StateFolder, Until,
    Work, planned,
};
use events::{
    Call, CallClass, Cause, CheckName, Clock, Code, Digest, Evidence, Failure, Made, Permit, Plan,
    PlannedNode, Reach, Role, Unit, Verdict,
};
use seaworthy::Order;

/// Long enough to press Ctrl-C within it.
const LAYING: Duration = Duration::from_millis(150);

const fn gate(name: &'static str) -> Check {
    Check::gate(name, Duration::from_mins(1))
}

const TABLE: &[Stage] = &[
    Stage { name: "slipway", after: &[], scope: Scope::Cluster, checks: &[gate("slipway")] },
    Stage {
        name: "keel",
        after: &[("slipway", Reach::All)],
        scope: Scope::EachNode,
        checks: &[gate("keel")],
    },
    Stage {
        name: "planks",
        after: &[("keel", Reach::Chain)],
        scope: Scope::EachNode,
        checks: &[gate("planks")],
    },
    Stage {
        name: "mast",
        after: &[("planks", Reach::All)],
        scope: Scope::Cluster,
        checks: &[gate("mast")],
    },
];

/// The world: a folder with a file for each unit, and a line in it for each
/// time that it was made.
#[derive(Clone)]
struct Dock {
    folder: PathBuf,
    broken: Option<String>,
}

impl Dock {
    fn plank(&self, unit: &Unit) -> PathBuf {
        self.folder.join(unit.to_string().replace(['/', ' '], "-"))
    }

    fn see(&self, unit: &Unit) -> Sight {
        if self.plank(unit).exists() {
            Sight::There(Made::id("plank", unit.to_string()))
        } else {
            Sight::NotThere
        }
    }

    async fn lay(self, unit: Unit, permit: Permit) -> Result<Made, SendError> {
        Clock::real().sleep(LAYING).await;
        let laid = fs::OpenOptions::new().append(true).create(true).open(self.plank(&unit));
        laid.and_then(|mut plank| writeln!(plank, "{}", permit.intent()))
            .map_err(|error| lost(&error))?;
        Clock::real().sleep(LAYING).await;
        Ok(Made::id("plank", unit.to_string()))
    }
}

fn lost(error: &std::io::Error) -> SendError {
    SendError::lost(Failure::permanent(error.to_string()))
}

impl Work for Dock {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        if self.broken.as_deref() == Some(unit.to_string().as_str()) {
            return Err(Cause::new(Code(901), "the plank is rotten").into());
        }
        let call = Call::new(CallClass::Once, "lay plank", unit.to_string(), b"oak");
        let (dock, of) = (self.clone(), unit.clone());
        hands.ensure(call, async |_| Ok(self.see(unit)), |permit| dock.lay(of, permit)).await?;
        Ok(())
    }

    async fn look(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        match self.see(unit) {
            Sight::There(_) => Verdict::ready(Evidence::new("laid")),
            _ => Verdict::not_yet("the plank is not there"),
        }
    }

    async fn probe(&self, unit: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Err(Failure::permanent(format!("{unit} has no probe")).into())
    }

    async fn inputs(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Err(Failure::permanent(format!("{unit} has no probe")))
    }
}

fn plan(folder: &StateFolder) -> Plan {
    let hull = |n| PlannedNode { name: format!("hull-{n}").as_str().into(), role: Role::Worker };
    let nodes: Vec<_> = (1..=3).map(hull).collect();
    Plan {
        command: "up".to_owned(),
        cluster: "drydock".to_owned(),
        cluster_id: folder.cluster(),
        title: "3 hulls".to_owned(),
        tool: "example".to_owned(),
        stages: planned(TABLE, &nodes, &Pace::default()).expect("the table is whole"),
        nodes,
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(root) = args.next() else {
        eprintln!("usage: drydock FOLDER [BROKEN UNIT]");
        return ExitCode::from(2);
    };
    let dock = Dock { folder: Path::new(&root).join("dock"), broken: args.next() };
    let prepared = fs::create_dir_all(&dock.folder).map_err(|error| error.to_string());
    let state = || StateFolder::open(&Path::new(&root).join("state"), &Chance::real());
    match prepared.and_then(|()| state().map_err(|error| error.to_string())) {
        Ok(folder) => seaworthy::drive(Order {
            plan: plan(&folder),
            folder,
            until: Until::TheEnd,
            work: Arc::new(dock),
            secrets: Vec::new(),
            claim: None,
        }),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
