//! `verify`: whether a cluster is healthy, whoever made it.

mod machines;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use engine::{Chance, StateFolder, Until};
use events::{Clock, Redactor, Secret, io_reason};
use lifecycle::Invocation;
use lifecycle::verify::{
    self, Acquaintance, Circumstances, ControlPlanes, Grantee, Selection, Verify,
};
use objects::{Access, ApiError, Trouble, Unreachable};
use serde_json::{Value, json};

use self::machines::{Machines, control_planes};
use crate::access::{ClusterArgs, unusable, warn_of_clear_text};
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running::{self, Order, Traces};
use crate::runtime;
use crate::ui::Ui;

/// Verify that a cluster is healthy, whoever made it
///
/// Only reads. Checks the API, etcd, the nodes, the pod network, what runs in
/// kube-system, DNS and, with a talosconfig, the machines themselves. A failing
/// gate does not stop the others. Anything that cannot be read is unknown, never
/// healthy. Ends with Healthy if every gate passed at this moment, and with Proven
/// if they all stayed so for `--stable`. Leaves nothing behind, unless
/// `--state-dir` names a directory for the run's journal and reports.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Look only at these gates: api, etcd, machines, nodes, cni, workloads, dns
    #[arg(long = "gate", value_name = "GATE", value_delimiter = ',', value_parser = gate)]
    gates: Vec<&'static str>,

    /// Wait so long until the cluster is healthy [default: look once]
    #[arg(long, value_name = "DURATION", value_parser = spec::Duration::parse)]
    wait: Option<spec::Duration>,

    /// Every gate must stay ready for this long; then the cluster is proven, not only healthy
    #[arg(long, value_name = "DURATION", value_parser = spec::Duration::parse)]
    stable: Option<spec::Duration>,

    /// Ask Talos, too: whether the endpoints that the file names see the same members of etcd, and
    /// whether any machine of the cluster lacks anything
    #[arg(long, value_name = "FILE")]
    talosconfig: Option<PathBuf>,

    /// Which machines have to say how they are: those of all Nodes, or only those that the
    /// talosconfig names
    #[arg(long, value_name = "WHICH", default_value = "all", requires = "talosconfig")]
    machines: Machines,

    /// Print the RBAC objects that grant what verify needs, for a service account or for whom
    /// `--bind-user` or `--bind-group` names; checks nothing
    #[arg(long)]
    print_rbac: bool,

    /// With --print-rbac: bind the role to this user
    #[arg(long, value_name = "NAME", requires = "print_rbac", conflicts_with = "bind_group")]
    bind_user: Option<String>,

    /// With --print-rbac: bind the role to this group
    #[arg(long, value_name = "NAME", requires = "print_rbac")]
    bind_group: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// A cluster that has answered.
struct Met {
    access: Access,
    /// What is shown to the API and must not be written down.
    secrets: Vec<Secret>,
    server: String,
    acquaintance: Acquaintance,
}

/// The pause between two tries to meet a cluster.
const PAUSE: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &VerifyArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    if args.print_rbac {
        return print(&verify::rbac(&args.gates, &grantee(args)), ui);
    }
    if args.talosconfig.is_none() && args.gates.contains(&verify::MACHINES) {
        let message = "machines are asked with a talosconfig, and none was named";
        return Err(CommandError::say(Exit::Usage, message)
            .hint("`--talosconfig FILE` names it; `seaworthy talosconfig` prints one"));
    }
    // A file that cannot be used is told before anybody is waited for.
    let planes = args.talosconfig.as_deref().map(|file| control_planes(file, args.machines.into()));
    let planes = planes.transpose()?;
    let met = meet(args, ui)?;
    let name = folder_name(&met.server);
    if let Some(state) = &shared.state_dir {
        let order = order(args, met, planes, &state.join(name))?;
        return running::run(order, ui).map(|_| ());
    }
    let scratch = tempfile::tempdir().map_err(|error| no_scratch(&error))?;
    let order = order(args, met, planes, &scratch.path().join(name))?;
    running::run_leaving(order, Traces::None, ui).map(|_| ())
}

fn order(
    args: &VerifyArgs,
    met: Met,
    planes: Option<ControlPlanes>,
    state: &Path,
) -> Result<Order<Verify>, CommandError> {
    let folder = StateFolder::open(state, &Chance::real())
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    let Met { access, secrets, server, acquaintance } = met;
    let gates = args.gates.iter().copied().collect();
    let selection = Selection { gates, talosconfig: planes.is_some() };
    let now = Circumstances {
        server: &server,
        id: folder.cluster(),
        tool: env!("CARGO_PKG_VERSION"),
        wait: wait(args),
        stable: args.stable.map(Duration::from).unwrap_or_default(),
        selection: &selection,
    };
    let mut plan = verify::plan(&acquaintance, &now);
    let invocation = args.invocation();
    plan.rerun = Some(args.rerun(&invocation));
    let work = Verify::new(access, acquaintance, selection, Clock::real()).and(planes);
    let work = Arc::new(work.called_as(invocation));
    let secrets = secrets.into_iter().filter(Redactor::can_hide);
    let secrets = secrets.map(|secret| ("credential of the kubeconfig".to_owned(), secret));
    let secrets = secrets.collect();
    Ok(Order { folder, plan, until: Until::TheEnd, work, secrets, claim: None })
}

impl VerifyArgs {
    /// Returns how the command was called.
    fn invocation(&self) -> Invocation {
        Invocation { talosconfig: self.talosconfig.clone(), ..self.cluster.invocation() }
    }

    /// Returns the command that looks once more.
    fn rerun(&self, called: &Invocation) -> String {
        let gates = (!self.gates.is_empty()).then(|| format!("--gate {}", self.gates.join(",")));
        let wait = self.wait.map(|wait| format!("--wait {wait}"));
        let stable = self.stable.map(|stable| format!("--stable {stable}"));
        let options: Vec<String> = [gates, wait, stable].into_iter().flatten().collect();
        called.verify(&options.join(" "))
    }
}

/// Without a state folder the run is kept in one that goes away with the process.
fn no_scratch(error: &io::Error) -> CommandError {
    let folder = std::env::temp_dir();
    let reason = match folder.try_exists() {
        Ok(false) => "it does not exist".to_owned(),
        _ => io_reason(error),
    };
    let message = format!("could not make a folder in {}: {reason}", folder.display());
    CommandError::say(Exit::Internal, message)
        .hint("set TMPDIR to a folder that can be written, or name one with `--state-dir`")
}

/// A cluster of others has no name but its address.
fn folder_name(server: &str) -> String {
    let place = server.split_once("://").map_or(server, |(_, place)| place);
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    format!("verify-{}", place.chars().map(safe).collect::<String>())
}

fn wait(args: &VerifyArgs) -> Duration {
    args.wait.map(Duration::from).unwrap_or_default()
}

/// Connects, and exchanges the first words.
fn meet(args: &VerifyArgs, ui: &Ui) -> Result<Met, CommandError> {
    let access = args.cluster.access(ui)?;
    runtime::block_on(async {
        warn_of_clear_text(&access, ui).await?;
        let cluster = access.connect().await.map_err(|error| unusable(&error))?;
        let clock = Clock::real();
        loop {
            match Acquaintance::with(&cluster).await {
                Ok(acquaintance) => {
                    let (server, secrets) = (cluster.server().to_owned(), cluster.secrets());
                    return Ok(Met { access, secrets, server, acquaintance });
                }
                Err(error) if error.class().is_retryable() && clock.elapsed() < wait(args) => {
                    clock.sleep(PAUSE).await;
                }
                Err(error) => return Err(stranger(&error, args)),
            }
        }
    })
}

/// A cluster that does not answer is not proven; one that turns us away refuses.
fn stranger(error: &ApiError, args: &VerifyArgs) -> CommandError {
    match error.trouble() {
        Trouble::Unauthenticated | Trouble::Forbidden(_) => CommandError::new(Exit::Refused, error)
            .hint("`seaworthy verify --print-rbac` prints the rights that verify needs"),
        Trouble::NoCredential(_) => CommandError::new(Exit::Refused, error),
        // Neither a certificate nor another port comes by waiting.
        Trouble::Unreachable(Unreachable::Tls(_)) => CommandError::new(Exit::NotProven, error),
        // Somebody who has waited need not be told how.
        _ if error.class().is_retryable() && args.wait.is_none() => {
            CommandError::new(Exit::NotProven, error)
                .hint("`--wait 10m` waits for a cluster that is still on its way")
        }
        _ => CommandError::new(Exit::NotProven, error),
    }
}

/// Returns the gate of a name, or the nearest name there is.
fn gate(name: &str) -> Result<&'static str, String> {
    let all = || verify::gates().collect::<Vec<_>>().join(", ");
    verify::gates().find(|gate| *gate == name).ok_or_else(|| {
        match spec::nearest(name, verify::gates()) {
            Some(near) => format!("there is no such gate; did you mean `{near}`?"),
            None => format!("there is no such gate; there are {}", all()),
        }
    })
}

fn grantee(args: &VerifyArgs) -> Grantee {
    let user = args.bind_user.clone().map(Grantee::User);
    let group = args.bind_group.clone().map(Grantee::Group);
    user.or(group).unwrap_or(Grantee::Account)
}

/// Prints objects as YAML documents, one line for each of their parts: a list of texts is
/// the same in JSON and in YAML.
fn print(objects: &[Value], ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        return Ok(ui.json(&list)?);
    }
    let mut out = ui.stdout();
    for (index, object) in objects.iter().enumerate() {
        if index > 0 {
            writeln!(out, "---")?;
        }
        for (key, value) in object.as_object().into_iter().flatten() {
            match value.as_array() {
                Some(items) => {
                    writeln!(out, "{key}:")?;
                    items.iter().try_for_each(|item| writeln!(out, "  - {item}"))?;
                }
                None => writeln!(out, "{key}: {value}")?,
            }
        }
    }
    Ok(())
}
