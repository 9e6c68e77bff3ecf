//! `talosconfig`.

use clap::Args;
use talos::credentials::{Context, Identity, Role, Talosconfig};

use super::{MakingArgs, failed, nowhere, open, own_bundle, rng};
use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::place::Place;
use crate::runtime;
use crate::target::TargetArgs;
use crate::ui::Ui;

/// Print a talosconfig
///
/// Made from the cluster's secrets bundle, without asking any node. With
/// `--secrets` or `--from` it is made for a cluster that other tools have made,
/// and no cluster file is read.
#[derive(Args, Debug)]
pub(crate) struct TalosconfigArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// A control plane to ask (can be repeated) [default: those of the cluster file]
    #[arg(long = "endpoint", value_name = "ADDRESS")]
    endpoints: Vec<Place>,

    /// A node that is meant where none is named (can be repeated) [default: the endpoints]
    #[arg(long = "node", value_name = "ADDRESS")]
    nodes: Vec<Place>,

    /// What it allows (can be repeated): os:admin, os:operator, os:reader, os:etcd:backup,
    /// os:image:verifier or os:meta:writer
    #[arg(long = "role", value_name = "ROLE", default_value = "os:admin", value_parser = role)]
    roles: Vec<Role>,

    #[command(flatten)]
    making: MakingArgs,
}

pub(crate) fn run(args: &TalosconfigArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let (bundle, name, endpoints) = match args.making.secrets.read(ui)? {
        Some(given) => {
            args.target.is_unused()?;
            if args.endpoints.is_empty() {
                return Err(nowhere(&given, "control planes are"));
            }
            (given.bundle.clone(), args.making.name_of(&given), args.endpoints.clone())
        }
        None => args.of_ours(shared, ui)?,
    };
    let lifetime = args.making.ttl.lifetime();
    let identity = Identity::talos_for(&bundle, &args.roles, lifetime, &mut rng())
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    // A node is named without a port: who passes a call on to it dials the usual one.
    let nodes = if args.nodes.is_empty() { &endpoints } else { &args.nodes };
    let nodes = nodes.iter().map(|node| node.host.clone()).collect();
    let endpoints = endpoints.iter().map(Place::endpoint).collect();
    let config = Talosconfig::new(name, Context { endpoints, nodes, identity });
    args.making.give(&config.to_yaml(), ui)
}

impl TalosconfigArgs {
    /// Returns secrets, name and endpoints of a cluster of ours.
    fn of_ours(
        &self,
        shared: &Shared,
        ui: &Ui,
    ) -> Result<(talos::secrets::Bundle, String, Vec<Place>), CommandError> {
        let target = open(&self.target, shared, ui)?;
        let bundle = own_bundle(&target.site)?;
        let name = self.making.name.clone();
        let name = name.unwrap_or_else(|| target.site.plan.cluster.to_string());
        if !self.endpoints.is_empty() {
            return Ok((bundle, name, self.endpoints.clone()));
        }
        let runtime = runtime::new()?;
        let found = runtime.block_on(lifecycle::control_planes(&target.site));
        let found = found.map_err(|error| failed(&error))?;
        Ok((bundle, name, found.into_iter().map(Place::at).collect()))
    }
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| {
        let all = Role::ALL.map(Role::as_str);
        match spec::nearest(word, all) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", all.join(", ")),
        }
    })
}
