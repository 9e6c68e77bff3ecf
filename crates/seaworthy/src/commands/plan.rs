//! `plan`: what a cluster file means, and what `up` would do about it now.

mod outlook;

use std::io::{self, Write};

use clap::Args;
use events::{After, Cause, CheckKind, CheckName, NodeName, PlannedCheck, PlannedStage, StageName};
use lifecycle::up::{self, Change, Circumstances, Outlook};
use serde::Serialize;
use spec::plan::{Bill, Endpoint, FirewallPlan, Hardware, NodePlan, Stage};
use spec::{Duration, Plan};

use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::runtime;
use crate::target::{Sight, TargetArgs};
use crate::ui::Ui;

/// Show what a cluster file means, and what `up` would do now
///
/// Nodes with their names and addresses, networks, firewall, addons, and the
/// stages of `up` with the deadlines of their gates. Where there is a token, the
/// cloud is asked too: what would be created and changed, which names are taken,
/// what can be had, and what it costs. Changes nothing.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Give a gate another deadline, such as `etcd=20m` (can be repeated)
    #[arg(long = "timeout", value_name = "GATE=DURATION", value_parser = timeout)]
    timeouts: Vec<(Stage, Duration)>,

    /// End with exit code 7 where `up` would create or change something
    #[arg(long)]
    exit_code: bool,
}

/// What `plan -o json` prints: the same spelling of keys throughout, unlike a journal's.
#[derive(Serialize)]
struct PlanRecord<'a> {
    cluster: &'a Plan,
    stages: Vec<StageRecord<'a>>,
    /// What the cloud says; none where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    outlook: Option<OutlookRecord<'a>>,
}

#[derive(Serialize)]
struct OutlookRecord<'a> {
    changes: &'a [Change],
    bill: Option<&'a Bill>,
    obstacles: &'a [Cause],
}

#[derive(Serialize)]
struct StageRecord<'a> {
    name: &'a StageName,
    after: &'a [After],
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<&'a [NodeName]>,
    checks: Vec<CheckRecord<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckRecord<'a> {
    name: &'a CheckName,
    kind: CheckKind,
    deadline_ms: u64,
    required: bool,
}

pub(crate) fn run(args: &PlanArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let sight = args.target.look(&args.timeouts, shared, ui)?;
    args.target.check_files()?;
    let plan = &sight.plan;
    let run = up::plan(plan, plan.id, env!("CARGO_PKG_VERSION"), &Circumstances::default());
    let outlook = asked(&sight)?;
    match ui.output() {
        Output::Json => ui.json(&PlanRecord::new(plan, &run.stages, outlook.as_ref()))?,
        Output::Text => {
            let mut out = ui.stdout();
            print(plan, &run.title, &run.stages, &mut out)?;
            writeln!(out)?;
            match (&outlook, &sight.site) {
                (Some(outlook), _) => outlook::print(plan, outlook, &mut out)?,
                (None, Err(why)) => {
                    writeln!(
                        out,
                        "The cloud was not asked what is there already, and what it costs:"
                    )?;
                    writeln!(out, "{}", why.message())?;
                }
                (None, Ok(_)) => {}
            }
        }
    }
    outlook.map_or(Ok(()), |outlook| outlook::end(&outlook, args.exit_code))
}

/// Asks the cloud, where there is a way to it.
fn asked(sight: &Sight) -> Result<Option<Outlook>, CommandError> {
    let Ok(site) = &sight.site else { return Ok(None) };
    let runtime = runtime::new()?;
    let outlook = runtime.block_on(up::outlook(site));
    outlook.map(Some).map_err(|failure| {
        CommandError::say(Exit::Refused, format!("could not ask the cloud: {failure}"))
    })
}

impl<'a> PlanRecord<'a> {
    fn new(cluster: &'a Plan, stages: &'a [PlannedStage], outlook: Option<&'a Outlook>) -> Self {
        let stages = stages.iter().map(StageRecord::new).collect();
        let outlook = outlook.map(|outlook| OutlookRecord {
            changes: &outlook.changes,
            bill: outlook.bill.as_ref(),
            obstacles: &outlook.obstacles,
        });
        Self { cluster, stages, outlook }
    }
}

impl<'a> StageRecord<'a> {
    fn new(stage: &'a PlannedStage) -> Self {
        let check = |check: &'a PlannedCheck| CheckRecord {
            name: &check.name,
            kind: check.kind,
            deadline_ms: check.deadline_ms,
            required: check.required,
        };
        Self {
            name: &stage.name,
            after: &stage.after,
            nodes: stage.nodes.as_deref(),
            checks: stage.checks.iter().map(check).collect(),
        }
    }
}

pub(super) fn timeout(text: &str) -> Result<(Stage, Duration), String> {
    let (gate, duration) = text
        .split_once('=')
        .ok_or_else(|| "expected GATE=DURATION, such as `etcd=20m`".to_owned())?;
    Ok((Stage::parse(gate)?, Duration::parse(duration)?))
}

fn print(plan: &Plan, title: &str, stages: &[PlannedStage], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {title}", plan.cluster)?;
    writeln!(out)?;
    let network = &plan.network;
    row(out, "network", plan.cluster.as_str(), &network.network.to_string())?;
    row(out, "", "pods", &network.pods.to_string())?;
    row(out, "", "services", &network.services.to_string())?;
    if let Some(firewall) = &plan.firewall {
        print_firewall(firewall, out)?;
    }
    if let Some(balancer) = &plan.load_balancer {
        let reach = if balancer.public_interface { "open to everybody" } else { "private" };
        let about = format!(
            "{}  {}  {}  {reach}",
            balancer.balancer_type, balancer.location, balancer.address
        );
        row(out, "load balancer", &balancer.name, &about)?;
    }
    for node in &plan.nodes {
        row(out, what(node), &node.name, &about(node))?;
    }
    for addon in &plan.addons {
        row(out, "addon", addon.name.as_str(), &addon.version.to_string())?;
    }
    row(out, "endpoint", &endpoint(&plan.endpoint), "")?;
    writeln!(out)?;
    print_stages(stages, out)
}

fn print_firewall(firewall: &FirewallPlan, out: &mut dyn Write) -> io::Result<()> {
    for (index, rule) in firewall.rules.iter().enumerate() {
        let sources: Vec<_> = rule.sources.iter().map(ToString::to_string).collect();
        let port = rule.port.as_ref().map(|port| format!(" {port}")).unwrap_or_default();
        let about = format!("{}{port} from {}", rule.protocol, sources.join(", "));
        let (what, name) = if index == 0 { ("firewall", firewall.name.as_str()) } else { ("", "") };
        row(out, what, name, &about)?;
    }
    Ok(())
}

fn print_stages(stages: &[PlannedStage], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {:<12} {:>5}  {:>8}  after", "stage", "nodes", "deadline")?;
    for stage in stages {
        let nodes = stage.nodes.as_ref().map(|nodes| nodes.len().to_string()).unwrap_or_default();
        let deadline = stage.checks.iter().map(|check| check.deadline_ms / 1_000).max();
        let deadline = u32::try_from(deadline.unwrap_or(0)).unwrap_or(u32::MAX);
        let after: Vec<_> = stage.after.iter().map(|after| after.stage.as_str()).collect();
        let deadline = Duration::from_secs(deadline).to_string();
        let line = format!("  {:<12} {nodes:>5}  {deadline:>8}  {}", stage.name, after.join(", "));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn row(out: &mut dyn Write, what: &str, name: &str, about: &str) -> io::Result<()> {
    let line = format!("  {what:<14} {name:<20} {about}");
    writeln!(out, "{}", line.trim_end())
}

fn what(node: &NodePlan) -> &'static str {
    match node.hardware {
        Hardware::Server { .. } => "server",
        Hardware::Vm { .. } => "vm",
        Hardware::Machine { .. } => "machine",
    }
}

fn about(node: &NodePlan) -> String {
    let hardware = hardware(node);
    match &node.installer {
        Some(image) => format!("{hardware}, installed from {image}"),
        None => hardware,
    }
}

fn hardware(node: &NodePlan) -> String {
    let address = node.address;
    match &node.hardware {
        Hardware::Server { offers, .. } => {
            let offers: Vec<_> = offers
                .iter()
                .map(|offer| format!("{} {}", offer.server_type, offer.location))
                .collect();
            format!("{address:<15} {}", offers.join(", or "))
        }
        Hardware::Vm { host, vmid, cores, memory, disk, .. } => {
            format!("{address:<15} {vmid} on {host}, {cores} cores, {memory}, disk {disk}")
        }
        Hardware::Machine { mac, install } => {
            let place = match &node.pool {
                Some(pool) => format!("pool {pool}"),
                None => "control plane".to_owned(),
            };
            let disk = install.as_ref().map(ToString::to_string);
            let mac = mac.as_ref().map(ToString::to_string);
            let known: Vec<String> = [Some(place), disk, mac].into_iter().flatten().collect();
            format!("{address:<15} {}", known.join(", "))
        }
    }
}

fn endpoint(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Hostname(name) => format!("https://{name}:6443"),
        Endpoint::LoadBalancer(name) => format!("load balancer {name}, port 6443"),
        Endpoint::PrivateLoadBalancer(address)
        | Endpoint::Vip(address)
        | Endpoint::Node(address) => format!("https://{address}:6443"),
    }
}
