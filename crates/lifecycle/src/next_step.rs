//! What to do next where a stage fails and its cause has no better name than
//! the engine's: that depends on whom the stage talks to.

use clouds::hetzner::Endpoint;
use engine::codes;
use events::{Cause, NextStep, Unit};
use spec::Duration;
use spec::plan::{NodePlan, Stage};

use crate::{Ground, Invocation, Site};

/// The longest deadline that the command line takes.
const LONGEST: u32 = 24 * 3600;

/// Returns what to do next about a stage of `up`. In a simulated world there is
/// nothing to look at from outside.
pub(crate) fn of_up(site: &Site, stage: Stage, unit: &Unit, cause: &Cause) -> Vec<NextStep> {
    match cause.code {
        _ if site.speed.is_some() => Vec::new(),
        codes::NOT_READY_IN_TIME => vec![wait_longer(site, stage)],
        codes::COULD_NOT_LOOK | codes::NO_SUCCESS_IN_TIME => vec![look_there(site, stage, unit)],
        codes::REFUSED => vec![step("seaworthy plan", "shows what was asked for")],
        _ => Vec::new(),
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

fn look_there(site: &Site, stage: Stage, unit: &Unit) -> NextStep {
    match stage {
        Stage::Preflight | Stage::Secrets | Stage::Image | Stage::Network | Stage::Nodes => {
            ask_at(site, unit)
        }
        Stage::Identity | Stage::Config | Stage::Etcd => {
            let of_unit = unit.node.as_ref().and_then(|node| site.address(node.as_str()));
            let any = || site.control_planes().find_map(|node| site.address(&node.name));
            match of_unit.or_else(any) {
                Some(address) => {
                    let words = "shows whether the Talos API can be reached from here";
                    step(format!("nc -vz {address} {}", talos::client::Node::PORT), words)
                }
                None => ask_at(site, unit),
            }
        }
        Stage::Api
        | Stage::Cni
        | Stage::Cloud
        | Stage::Ready
        | Stage::Storage
        | Stage::Seal
        | Stage::Gitops
        | Stage::Proof => step("seaworthy kubeconfig", "lets kubectl look at what there is"),
    }
}

fn ask_at(site: &Site, unit: &Unit) -> NextStep {
    match &site.ground {
        Ground::Hetzner(hetzner) => ask(hetzner.endpoint()),
        Ground::Machines(_) => {
            let of_unit =
                |node: &&NodePlan| unit.node.as_ref().is_none_or(|it| it.as_str() == node.name);
            let nodes = site.plan.nodes.iter().filter(of_unit);
            let addresses: Vec<_> = nodes.map(|node| node.address.to_string()).collect();
            let command = format!("seaworthy talos probe {}", addresses.join(" "));
            step(command, "shows which machines answer, and which mode they are in")
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
    step(format!("seaworthy up --timeout {}={twice}", stage.as_str()), "goes on, and waits longer")
}

fn step(command: impl Into<String>, tells: &str) -> NextStep {
    NextStep { command: command.into(), tells: tells.to_owned() }
}
