//! `down`: takes a cluster away, and proves that nothing is left.

mod confirmation;
mod lost_state;
mod machines;
mod resources;

use std::sync::Arc;

use clap::Args;
use clouds::hetzner::Hetzner;
use engine::{Claim, Until};
use events::ClusterId;
use lifecycle::down::{self, Down, Release};
use lifecycle::{Ground, Invocation};

use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running::{self, Order};
use crate::target::{self, Target, TargetArgs};
use crate::ui::Ui;

/// Take a cluster away, and prove that nothing of it is left
///
/// Shows what would be removed and asks for the cluster's name first. Removes
/// only what provably is this cluster's: what carries its id, and what its own
/// controllers have made. Then takes the inventory again. Machines that were
/// there before are wiped, and wait for a config again.
#[derive(Args, Debug)]
pub(crate) struct DownArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,

    /// Remove without asking; needed where there is no terminal
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,

    /// The id that the cluster's resources carry, if the cluster's state is lost
    #[arg(long, value_name = "UUID", conflicts_with = "rehearsal")]
    adopt_id: Option<ClusterId>,
}

pub(crate) fn run(args: &DownArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    if args.target.is_rehearsal() {
        return of_rehearsal(args, shared, ui);
    }
    let sight = args.target.look(&[], shared, ui)?;
    let site = sight.site?;
    let called = site.invocation.clone();
    let asked = Asked { args, shared, ui, called, cluster: site.plan.cluster.as_str() };
    match &site.ground {
        Ground::Hetzner(hetzner) => {
            resources::remove(&asked, hetzner, &sight.state, sight.is_known)
        }
        Ground::Machines(_) => machines::release(&asked, &site, &sight.state, sight.is_known),
    }
}

/// What `down` was asked to do.
struct Asked<'a> {
    args: &'a DownArgs,
    shared: &'a Shared,
    ui: &'a Ui,
    called: Invocation,
    cluster: &'a str,
}

impl Asked<'_> {
    /// Opens the cluster's state, and makes it where there is none.
    fn open(&self) -> Result<Target, CommandError> {
        self.args.target.open(&[], self.shared, self.ui)
    }

    /// Returns the command as it was given.
    fn command(&self) -> String {
        let adopted = self.args.adopt_id.map(|id| format!(" --adopt-id {id}"));
        let yes = if self.args.yes { " --yes" } else { "" };
        self.called.on_cluster(&format!("down{}{yes}", adopted.unwrap_or_default()))
    }
}

/// A rehearsed cluster costs nothing and holds nothing: nobody is asked.
fn of_rehearsal(args: &DownArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let target = args.target.open(&[], shared, ui)?;
    let Ground::Hetzner(hetzner) = target.site.ground.clone() else {
        return Err(CommandError::say(Exit::Internal, "only Hetzner is rehearsed"));
    };
    if args.dry_run {
        return resources::show(&resources::inventory(&hetzner)?, ui);
    }
    running::run(order(target, hetzner), ui).map(|_| ())
}

/// Returns the order to wipe the machines of a cluster.
fn release(target: Target, claim: Claim, command: String) -> Order<Release> {
    let Target { cluster, folder, site, token, speed, .. } = target;
    let (name, tool) = (cluster.name.to_string(), env!("CARGO_PKG_VERSION"));
    let mut plan = down::plan_of_machines(&name, folder.cluster(), tool, speed);
    plan.rerun = Some(command);
    Order {
        plan,
        work: Arc::new(Release::new(site)),
        folder,
        until: Until::TheEnd,
        secrets: target::secrets(token),
        claim: Some(claim),
    }
}

/// Returns the order to take a cluster down.
pub(crate) fn order(target: Target, hetzner: Hetzner) -> Order<Down> {
    let Target { cluster, folder, site, token, speed, .. } = target;
    let (name, tool) = (cluster.name.to_string(), env!("CARGO_PKG_VERSION"));
    let mut plan = down::plan(&name, folder.cluster(), tool, speed);
    plan.rerun = Some(site.invocation.on_cluster("down"));
    Order {
        plan,
        work: Arc::new(Down::new(hetzner, speed).called_as(site.invocation.clone())),
        folder,
        until: Until::TheEnd,
        secrets: target::secrets(token),
        claim: None,
    }
}
