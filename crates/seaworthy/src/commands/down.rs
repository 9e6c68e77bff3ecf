//! `down`: takes a cluster away, and proves that nothing is left.

use std::io::Write as _;
use std::sync::Arc;

use clap::Args;
use clouds::Cloud as _;
use clouds::hetzner::Hetzner;
use engine::Until;
use lifecycle::down::{self, Down, Release};
use lifecycle::{Ground, Site};
use talos::probe::{Mode, Owner};

use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running::{self, Order};
use crate::target::{self, Target, TargetArgs};
use crate::ui::Ui;

/// Take a cluster away, and prove that nothing of it is left
///
/// Removes only what provably is this cluster's: what carries its id, and what
/// its own controllers have made. Then takes the inventory again. Machines that
/// were there before are wiped, and wait for a config again.
#[derive(Args, Debug)]
pub(crate) struct DownArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &DownArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let target = args.target.open(&[], shared, ui)?;
    let told = match &target.site.ground {
        Ground::Hetzner(hetzner) if args.dry_run => return show(hetzner, ui),
        Ground::Machines(_) if args.dry_run => return show_machines(&target.site, ui),
        Ground::Hetzner(hetzner) => {
            let hetzner = hetzner.clone();
            running::run(order(target, hetzner), ui)
        }
        Ground::Machines(_) => running::run(release(target), ui),
    };
    told.map(|_| ())
}

/// Returns the order to wipe the machines of a cluster.
fn release(target: Target) -> Order<Release> {
    let Target { cluster, folder, site, token, speed, .. } = target;
    let (name, tool) = (cluster.name.to_string(), env!("CARGO_PKG_VERSION"));
    let mut plan = down::plan_of_machines(&name, folder.cluster(), tool, speed);
    plan.rerun = Some(site.invocation.on_cluster("down"));
    Order {
        plan,
        work: Arc::new(Release::new(site)),
        folder,
        until: Until::TheEnd,
        secrets: target::secrets(token),
        claim: None,
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

fn show(hetzner: &Hetzner, ui: &Ui) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Runtime::new()?;
    let items = runtime.block_on(hetzner.inventory());
    let items = items.map_err(|error| CommandError::new(Exit::Refused, &error))?;
    match ui.output() {
        Output::Json => {
            let record = |item: &clouds::Item| serde_json::json!({ "kind": item.kind(), "id": item.id(), "name": item.name(), "because": item.proof() });
            ui.json(&items.iter().map(record).collect::<Vec<_>>())?;
        }
        Output::Text => {
            let mut out = ui.stdout();
            for item in &items {
                let (kind, name) = (item.kind(), item.name());
                writeln!(out, "  - {kind:<15} {name:<24} {}  {}", item.id(), item.proof())?;
            }
            writeln!(out, "{} to remove, nothing was removed", items.len())?;
        }
    }
    Ok(())
}

fn show_machines(site: &Site, ui: &Ui) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Runtime::new()?;
    let seen = runtime.block_on(down::machines(site));
    let seen = seen.map_err(|cause| CommandError::say(Exit::Usage, cause.message))?;
    let is_ours = |mode: &Mode| *mode == Mode::Configured(Owner::Us);
    if ui.output() == Output::Json {
        let record = |(name, sighting): &(String, talos::probe::Sighting)| {
            serde_json::json!({
                "name": name, "mode": sighting.mode.word(), "reset": is_ours(&sighting.mode),
            })
        };
        return Ok(ui.json(&seen.iter().map(record).collect::<Vec<_>>())?);
    }
    let mut out = ui.stdout();
    for (name, sighting) in &seen {
        let verb = if is_ours(&sighting.mode) { "reset" } else { "leave" };
        writeln!(out, "{verb}  {name:<24} {}", sighting.means())?;
    }
    let count = seen.iter().filter(|(_, sighting)| is_ours(&sighting.mode)).count();
    writeln!(out, "{count} to reset, nothing was reset")?;
    Ok(())
}
