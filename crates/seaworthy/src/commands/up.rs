//! `up`: from a cluster file to a cluster that is proven healthy.

use std::sync::Arc;

use clap::Args;
use engine::Until;
use events::StageName;
use lifecycle::Invocation;
use lifecycle::up::{self, Circumstances, Up};
use spec::Duration;
use spec::plan::Stage;

use super::plan::timeout;
use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::running::{self, Order};
use crate::runtime;
use crate::target::{self, Target, TargetArgs};
use crate::ui::Ui;

/// Bring a cluster up, or go on where an earlier run ended
///
/// Every stage looks at what is there before it changes anything: a second run
/// over a healthy cluster changes nothing. Nothing is destroyed on failure.
/// Ctrl-C finishes the call under way; the same command goes on from there.
#[derive(Args, Debug)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Go only so far, with all that this stage needs
    #[arg(long, value_name = "STAGE", value_parser = Stage::parse)]
    until: Option<Stage>,

    /// Give a gate another deadline, such as `etcd=20m` (can be repeated)
    #[arg(long = "timeout", value_name = "GATE=DURATION", value_parser = timeout)]
    timeouts: Vec<(Stage, Duration)>,
}

pub(crate) fn run(args: &UpArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let target = args.target.open_to_build(&args.timeouts, shared, ui)?;
    target.knows_its_address()?;
    let mut order = order(target, args.until)?;
    order.plan.rerun = Some(args.rerun(&args.target.invocation(shared)));
    running::run(order, ui).map(|_| ())
}

impl UpArgs {
    /// Returns the command that goes on where this one was stopped.
    fn rerun(&self, called: &Invocation) -> String {
        let until = self.until.map(|stage| format!(" --until {}", stage.as_str()));
        let timeouts = self.timeouts.iter();
        let timeouts =
            timeouts.map(|(stage, deadline)| format!(" --timeout {}={deadline}", stage.as_str()));
        let options: String = until.into_iter().chain(timeouts).collect();
        called.on_cluster(&format!("up{options}"))
    }
}

/// Returns the order to bring a cluster up.
pub(crate) fn order(target: Target, until: Option<Stage>) -> Result<Order<Up>, CommandError> {
    let runtime = runtime::new()?;
    let monthly_cents = runtime.block_on(up::monthly_cents(&target.site));
    let Target { digest, folder, site, token, speed, .. } = target;
    let now = Circumstances { spec: Some(digest), monthly_cents, simulated_speed: speed };
    let until = until.map_or(Until::TheEnd, |stage| Until::Stage(StageName::from(stage.as_str())));
    Ok(Order {
        plan: up::plan(&site.plan, folder.cluster(), env!("CARGO_PKG_VERSION"), &now),
        folder,
        until,
        work: Arc::new(Up::new(site)),
        secrets: target::secrets(token),
        claim: None,
    })
}
