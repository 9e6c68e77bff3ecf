//! `down`: takes a cluster away, and proves that nothing is left.

use std::io::Write as _;
use std::sync::Arc;

use clap::Args;
use clouds::Cloud as _;
use clouds::hetzner::Hetzner;
use engine::Until;
use lifecycle::Ground;
use lifecycle::down::{self, Down};

use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running::{self, Order};
use crate::target::{self, Target, TargetArgs};
use crate::ui::Ui;

/// Take a cluster away, and prove that nothing of it is left
///
/// Removes only what provably is this cluster's: what carries its id, and what
/// its own controllers have made. Then takes the inventory again.
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
    let hetzner = cloud_of(&target)?;
    if args.dry_run {
        return show(&hetzner, ui);
    }
    running::run(order(target, hetzner), ui).map(|_| ())
}

/// Returns the cloud that the cluster is taken away from.
pub(crate) fn cloud_of(target: &Target) -> Result<Hetzner, CommandError> {
    match &target.site.ground {
        Ground::Hetzner(hetzner) => Ok(hetzner.clone()),
        Ground::Machines => {
            let message = "machines are not taken down yet: nothing was done";
            Err(CommandError::say(Exit::Usage, message)
                .hint("`talosctl reset` with the cluster's talosconfig puts a machine back"))
        }
    }
}

/// Returns the order to take a cluster down.
pub(crate) fn order(target: Target, hetzner: Hetzner) -> Order<Down> {
    let Target { cluster, folder, token, speed, .. } = target;
    let (name, tool) = (cluster.name.to_string(), env!("CARGO_PKG_VERSION"));
    Order {
        plan: down::plan(&name, folder.cluster(), tool, speed),
        work: Arc::new(Down::new(hetzner, speed)),
        folder,
        until: Until::TheEnd,
        secrets: target::secrets(token),
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
