//! What to do next where a stage fails: commands that can be pasted as they are.

use clouds::hetzner::Endpoint;
use engine::codes;
use events::{Cause, NextStep, Unit};
use spec::Duration;
use spec::plan::{NodePlan, Stage};

use crate::codes as own;
use crate::{Ground, Invocation, Site, credential_files};

/// The longest deadline that the command line takes.
const LONGEST: u32 = 24 * 3600;

const PROBES: &str = "shows whether the Talos API answers, and in which mode";

/// Returns what to do next about a stage of `up`: what the cause says, as commands that
/// act on this cluster, or else what shows more.
pub(crate) fn of_up(site: &Site, stage: Stage, unit: &Unit, cause: &Cause) -> Vec<NextStep> {
    let own: Vec<_> = cause.next.iter().filter_map(|step| complete(site, step)).collect();
    if !own.is_empty() {
        return own;
    }
    match cause.code {
        codes::NOT_READY_IN_TIME => vec![wait_longer(site, stage)],
        own::TOKEN_REFUSED | own::TOKEN_READ_ONLY => {
            let up = site.invocation.on_cluster("up");
            vec![step(up, "goes on, once HCLOUD_TOKEN holds a token that may read and write")]
        }
        _ => look_there(site, stage, unit).into_iter().collect(),
    }
}

/// Completes a command of a cause. One that would need credentials for something that
/// has not answered yet is left out.
fn complete(site: &Site, step: &NextStep) -> Option<NextStep> {
    if step.command.starts_with("kubectl ") {
        let kubeconfig = Some(credential_files::kubeconfig(site)?);
        return Some(Invocation { kubeconfig, ..Invocation::default() }.complete(step));
    }
    let Some(rest) = step.command.strip_prefix("talosctl ") else { return Some(step.clone()) };
    let talosconfig = Some(credential_files::talosconfig(site)?);
    let (node, rest) = match rest.strip_prefix("-n ").and_then(|it| it.split_once(' ')) {
        Some((planned, rest)) => (reached(site, planned)?, rest),
        None => {
            (site.control_planes().find_map(|node| site.address(&node.name))?.to_string(), rest)
        }
    };
    // The node itself is asked: nothing has to pass the call on.
    let command = format!("talosctl -e {node} -n {node} {rest}");
    let step = NextStep { command, tells: step.tells.clone() };
    Some(Invocation { talosconfig, ..Invocation::default() }.complete(&step))
}

/// Returns the address by which the node with a planned address is reached from here.
fn reached(site: &Site, planned: &str) -> Option<String> {
    let node = site.plan.nodes.iter().find(|node| node.address.to_string() == planned);
    match node {
        Some(node) => Some(site.address(&node.name)?.to_string()),
        None => Some(planned.to_owned()),
    }
}

/// Returns what to do next about a stage of `down`, which talks to the cloud only.
pub(crate) fn of_down(called: &Invocation, cloud: &Endpoint, cause: &Cause) -> Vec<NextStep> {
    match cause.code {
        codes::COULD_NOT_LOOK | codes::NO_SUCCESS_IN_TIME => vec![ask(cloud)],
        codes::NOT_READY_IN_TIME | codes::REFUSED => {
            vec![step(called.on_cluster("down --dry-run"), "shows what is left")]
        }
        _ => Vec::new(),
    }
}

/// Shows more about what a stage talks to.
fn look_there(site: &Site, stage: Stage, unit: &Unit) -> Option<NextStep> {
    match stage {
        Stage::Preflight | Stage::Secrets | Stage::Image | Stage::Network | Stage::Nodes => {
            Some(ask_at(site, unit))
        }
        Stage::Identity | Stage::Config | Stage::Etcd => Some(probe(site, unit)),
        Stage::Api
        | Stage::Cni
        | Stage::Cloud
        | Stage::Ready
        | Stage::Storage
        | Stage::Seal
        | Stage::Gitops
        | Stage::Proof => {
            let nodes = step("kubectl get nodes -o wide", "shows which nodes have joined");
            complete(site, &nodes).or_else(|| Some(probe(site, unit)))
        }
    }
}

/// Asks the machine of a unit, or those of all control planes.
fn probe(site: &Site, unit: &Unit) -> NextStep {
    let of_unit = unit.node.as_ref().and_then(|node| site.address(node.as_str()));
    let control_planes = || site.control_planes().filter_map(|node| site.address(&node.name));
    let addresses = match of_unit {
        Some(address) => vec![address],
        None => control_planes().collect(),
    };
    if addresses.is_empty() {
        return ask_at(site, unit);
    }
    let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    step(format!("seaworthy talos probe {}", addresses.join(" ")), PROBES)
}

fn ask_at(site: &Site, unit: &Unit) -> NextStep {
    match &site.ground {
        Ground::Hetzner(_) => {
            let command = site.invocation.on_cluster("plan");
            step(command, "shows what exists and what would be created")
        }
        Ground::Machines(_) => {
            let of_unit =
                |node: &&NodePlan| unit.node.as_ref().is_none_or(|it| it.as_str() == node.name);
            let nodes = site.plan.nodes.iter().filter(of_unit);
            let addresses: Vec<_> = nodes.map(|node| node.address.to_string()).collect();
            step(format!("seaworthy talos probe {}", addresses.join(" ")), PROBES)
        }
    }
}

/// Without a token the answer is a no, which is an answer.
fn ask(cloud: &Endpoint) -> NextStep {
    step(format!("curl -sS {cloud}/locations"), "shows whether the cloud answers from here at all")
}

fn wait_longer(site: &Site, stage: Stage) -> NextStep {
    let twice = site.plan.timeouts.get(stage).as_secs().saturating_mul(2).min(LONGEST);
    let twice = Duration::from_secs(twice);
    let command = format!("up --timeout {}={twice}", stage.as_str());
    step(site.invocation.on_cluster(&command), "goes on, and waits longer")
}

fn step(command: impl Into<String>, tells: &str) -> NextStep {
    NextStep { command: command.into(), tells: tells.to_owned() }
}
