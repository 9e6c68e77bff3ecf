//! `talos gen`: machine configs as files, the very ones that `up` would send.

mod choice;
mod files;

use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ::talos::config::MachineConfig;
use ::talos::credentials::{Context, Identity, Role, Talosconfig};
use clap::Args;
use engine::{Chance, StateFolder};
use events::{Clock, ClusterId, Secret};
use lifecycle::{Ground, KnownAddresses, OfflineError, Site, machine_configs};
use report::terminal::say;
use serde_json::json;
use spec::Plan;

use self::choice::Chosen;
use self::files::{BUNDLE, Files};
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::commands::credentials::rng;
use crate::commands::{CLUSTER_FILE, palette, read_cluster, state_dir};
use crate::exit::Exit;
use crate::inline_manifests;
use crate::machine_patches;
use crate::registry_access;
use crate::secrets_args::SecretsArgs;
use crate::ui::Ui;

/// Write the machine configs of a cluster file, and its talosconfig
///
/// The very configs that `up` would send, with the file's patches, for whoever
/// brings them to the machines in another way: `NODE.yaml` for each node and
/// `talosconfig`, in a folder that only you can read. The secrets are those
/// named here, else the cluster's own, else those of the folder; where there
/// are none a new bundle is written there as `secrets.yaml`. Asks nobody: no
/// network, no token.
#[derive(Args, Debug)]
pub(crate) struct GenArgs {
    /// The cluster file
    #[arg(value_name = "FILE", default_value = CLUSTER_FILE)]
    file: PathBuf,

    /// The folder to write to [default: the cluster's name]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Print the machine config of one node, and write nothing
    #[arg(long, value_name = "NODE", conflicts_with_all = ["out", "force"])]
    print: Option<String>,

    /// Replace machine configs and a talosconfig that are there; a secrets bundle never
    #[arg(long)]
    force: bool,

    /// The public address of the load balancer, which Hetzner assigns
    #[arg(long, value_name = "ADDRESS")]
    load_balancer: Option<IpAddr>,

    /// The public address of a server, which Hetzner assigns (can be repeated)
    #[arg(long = "address", value_name = "NODE=ADDRESS", value_parser = address)]
    addresses: Vec<(String, IpAddr)>,

    #[command(flatten)]
    secrets: SecretsArgs,
}

/// What comes of it.
struct Generated {
    chosen: Chosen,
    configs: Vec<(String, MachineConfig)>,
    /// Where control planes answer.
    endpoints: Vec<String>,
    /// The nodes whose public addresses nobody knows yet.
    unknown: Vec<String>,
}

pub(crate) fn run(args: &GenArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let (cluster, bytes) = read_cluster(&args.file, ui)?;
    let patches = machine_patches::read(&cluster, &args.file, &bytes)?;
    let state = state_dir(shared.state_dir.as_ref(), &args.file).join(cluster.name.as_str());
    let id = StateFolder::peek(&state).map_err(|error| CommandError::new(Exit::Usage, &error))?;
    let plan = Plan::of(&cluster, id.unwrap_or(ClusterId::NIL));
    let known = args.known(&plan)?;
    let ground = Ground::machines(&plan);
    let mut site = Site::new(plan, ground, &state, Clock::real(), Chance::real());
    site.patches = patches;
    let beside = args.file.parent().unwrap_or(Path::new(""));
    site.inline_manifests = inline_manifests::read(&site.plan, beside)?;
    site.registries = registry_access::read(&site.plan, beside)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(cluster.name.as_str()));
    let found = Chosen::of(args.secrets.read(ui)?, &[site.bundle_file(), out.join(BUNDLE)])?;
    if let Some(node) = &args.print {
        let chosen = found.ok_or_else(no_secrets)?;
        return Generated::of(&site, chosen, &known)?.print(node, ui);
    }
    // What is in the way is told before seconds go into making keys.
    let files = Files::named(names(&site.plan), &out, args.force)?;
    let chosen = match found {
        Some(chosen) => chosen,
        None if has_run(&state) => return Err(lost(&site.bundle_file())),
        None => Chosen::new(&out, ui)?,
    };
    Generated::of(&site, chosen, &known)?.write(&files, &site, ui)
}

/// Returns whether the cluster was built, or begun: its machines may have configs.
fn has_run(state: &Path) -> bool {
    std::fs::read_dir(state.join("runs")).is_ok_and(|mut runs| runs.next().is_some())
}

/// A second bundle under one name is how a cluster refuses its own administrators.
fn lost(file: &Path) -> CommandError {
    let message = format!("{} is missing, and the cluster has been worked on", file.display());
    CommandError::say(Exit::Usage, message)
        .hint("`--secrets` or `--from` name secrets that there are; no others were made")
        .hint("`seaworthy explain SW0210` tells more")
}

/// Returns the files, in the order of [`Generated::texts`].
fn names(plan: &Plan) -> Vec<String> {
    let configs = plan.nodes.iter().map(|node| format!("{}.yaml", node.name));
    configs.chain(["talosconfig".to_owned()]).collect()
}

impl GenArgs {
    fn known(&self, plan: &Plan) -> Result<KnownAddresses, CommandError> {
        let public = plan.load_balancer.as_ref().is_some_and(|it| it.public_interface);
        if self.load_balancer.is_some() && !public {
            let message = "the cluster file asks for no load balancer with a public address";
            return Err(CommandError::say(Exit::Usage, message));
        }
        let nodes = self.addresses.iter().cloned().collect();
        let known = KnownAddresses { load_balancer: self.load_balancer, nodes };
        known.check(plan).map_err(|error| unmade(&error))?;
        Ok(known)
    }
}

impl Generated {
    fn of(site: &Site, chosen: Chosen, known: &KnownAddresses) -> Result<Self, CommandError> {
        let plan = &site.plan;
        let configs =
            machine_configs(site, chosen.bundle.clone(), known).map_err(|it| unmade(&it))?;
        let planes = plan.nodes.iter().filter(|node| node.role == events::Role::ControlPlane);
        // From within the network a server answers at its private address, too.
        let place = |node| known.of(plan, node).unwrap_or(node.address.into()).to_string();
        let endpoints = planes.map(place).collect();
        let unknown = plan.nodes.iter().filter(|node| known.of(plan, node).is_none());
        let unknown = unknown.map(|node| node.name.clone()).collect();
        Ok(Self { chosen, configs, endpoints, unknown })
    }

    fn print(&self, wanted: &str, ui: &Ui) -> Result<(), CommandError> {
        let Some((_, config)) = self.configs.iter().find(|(node, _)| node == wanted) else {
            let message = format!("the cluster file has no node `{wanted}`");
            let names: Vec<_> = self.configs.iter().map(|(node, _)| node.as_str()).collect();
            let hint = format!("there are: {}", names.join(", "));
            return Err(CommandError::say(Exit::Usage, message).hint(hint));
        };
        self.warn(ui)?;
        let config = config.yaml().reveal();
        match ui.output() {
            Output::Text => write!(Ui::file_on_stdout(), "{config}")?,
            Output::Json => ui.json(&json!({ "node": wanted, "config": config }))?,
        }
        Ok(())
    }

    fn write(&self, files: &Files<'_>, site: &Site, ui: &Ui) -> Result<(), CommandError> {
        let written = files.write(&self.chosen, &self.texts(site.plan.cluster.as_str())?)?;
        self.warn(ui)?;
        let Chosen { file, is_new, .. } = &self.chosen;
        if ui.output() == Output::Json {
            // A path need not be UTF-8, JSON must.
            let shown = |path: &Path| path.display().to_string();
            let files: Vec<_> = written.iter().map(|path| shown(path)).collect();
            let secrets = json!({ "file": shown(file), "new": is_new });
            return Ok(ui.json(&json!({ "files": files, "secrets": secrets }))?);
        }
        let tell = |verb, words: String| say(palette(ui), verb, &words, &mut ui.stderr());
        for path in &written {
            tell("Wrote", path.display().to_string())?;
        }
        if *is_new {
            let own = site.bundle_file();
            tell(
                "Note",
                format!("`seaworthy up` takes these secrets if they lie at {}", own.display()),
            )?;
        } else {
            tell("Secrets", format!("of {}", file.display()))?;
        }
        Ok(())
    }

    /// Returns what is in the files.
    fn texts(&self, cluster: &str) -> Result<Vec<Secret>, CommandError> {
        let now = Clock::real().now();
        let identity = Identity::talos(&self.chosen.bundle, Role::Admin, now, &mut rng())
            .map_err(|error| CommandError::new(Exit::Internal, &error))?;
        let (endpoints, nodes) = (self.endpoints.clone(), self.endpoints.clone());
        let talosconfig = Talosconfig::new(cluster, Context { endpoints, nodes, identity });
        let configs = self.configs.iter().map(|(_, config)| config.yaml().clone());
        Ok(configs.chain([talosconfig.to_yaml()]).collect())
    }

    /// Says what these configs lack, compared with those of `up`.
    fn warn(&self, ui: &Ui) -> Result<(), CommandError> {
        if self.unknown.is_empty() {
            return Ok(());
        }
        let words = format!(
            "the public addresses of {} are not known: certificates do not name them, and the \
             talosconfig has private ones; `--address NODE=ADDRESS` gives them",
            self.unknown.join(", ")
        );
        Ok(say(palette(ui), "Note", &words, &mut ui.stderr())?)
    }
}

fn address(text: &str) -> Result<(String, IpAddr), String> {
    let (node, address) = text
        .split_once('=')
        .ok_or_else(|| "expected NODE=ADDRESS, such as `demo-cp-1=203.0.113.7`".to_owned())?;
    let address = address.parse().map_err(|_| format!("`{address}` is not an address"))?;
    Ok((node.to_owned(), address))
}

fn no_secrets() -> CommandError {
    CommandError::say(
        Exit::Usage,
        "there are no secrets, and a config that is only printed makes none",
    )
    .hint("name them with `--secrets` or `--from`, or let `seaworthy talos gen` write files first")
}

fn unmade(error: &OfflineError) -> CommandError {
    let said = CommandError::new(Exit::Usage, error);
    match error {
        OfflineError::NoEndpoint(_) => said
            .hint("give it: `--load-balancer ADDRESS`, or `--address NODE=ADDRESS` where there is none")
            .hint("or name the API in the cluster file, under `controlPlane: { hostname: … }`"),
        _ => said,
    }
}
