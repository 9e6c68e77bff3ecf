//! `down` of machines that exist already: nobody deletes them. They are wiped,
//! so that they wait for a config as they did before.
//!
//! ```text
//!  inventory ─► machines ─────────► zero
//!  whose?       Reset what is ours  each waits for a config, or has ended
//! ```
//!
//! A machine that runs Talos in a container ends with its reset, and only
//! whoever has started it can start it again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::{ActError, Check, Eyes, Hands, Pace, SendError, Sight, Work};
use events::{
    Because, Cause, CheckName, ClusterId, Digest, Evidence, Failure, Made, NextStep, Plan, Reach,
    Unit, Verdict,
};
use futures::future::join_all;
use spec::plan::NodePlan;
use talos::client::{Afterwards, Client, ClientError, Node, Reset};
use talos::probe::{Mode, Owner, Sighting, probe};
use talos::secrets::Bundle;

use super::table::stage;
use crate::hetzner::explain;
use crate::machine::Machine;
use crate::{Site, codes};

/// The stages of `down` for machines.
pub const MACHINES_TABLE: &[engine::Stage] = &[
    stage("inventory", &[], &[Check::gate("inventory", Duration::from_mins(2))]),
    stage(
        "machines",
        &[("inventory", Reach::All)],
        &[Check::gate("machines", Duration::from_mins(10))],
    ),
    stage("zero", &[("machines", Reach::All)], &[Check::gate("zero", Duration::from_mins(10))]),
];

/// How long a machine may take to show itself.
const LOOK: Duration = Duration::from_secs(5);

/// What Talos calls itself where it runs in a container.
const CONTAINER: &str = "container";

/// The doing behind the stages of `down` for machines.
pub struct Release {
    site: Arc<Site>,
}

/// What is left of the cluster on a machine.
enum Rest {
    /// Nothing.
    Nothing(&'static str),
    /// It still runs our config.
    Ours,
    /// It cannot be said.
    Unseen(String),
}

/// Makes the plan of a run of `down` for machines.
pub fn plan_of_machines(cluster: &str, id: ClusterId, tool: &str) -> Plan {
    let stages = engine::planned(MACHINES_TABLE, &[], &Pace::default());
    Plan {
        command: Plan::TEARDOWN.to_owned(),
        cluster: cluster.to_owned(),
        cluster_id: id,
        title: "the machines that have this cluster's config".to_owned(),
        tool: tool.to_owned(),
        stages: stages.expect("no deadline was given"),
        nodes: Vec::new(),
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
    }
}

/// Looks at all machines of a cluster at once, without changing anything.
pub async fn machines(site: &Site) -> Vec<(String, Sighting)> {
    let bundle = Bundle::load(&site.bundle_file()).ok();
    let ours = bundle.as_ref().map(|bundle| bundle.os.certificate());
    let looks = site
        .plan
        .nodes
        .iter()
        .map(async |node| (node.name.clone(), probe(talos_of(node), ours, LOOK).await));
    join_all(looks).await
}

fn talos_of(node: &NodePlan) -> SocketAddr {
    SocketAddr::new(node.address.into(), Node::PORT)
}

impl Release {
    /// Takes a cluster off its machines.
    pub fn new(site: Arc<Site>) -> Self {
        Self { site }
    }

    /// Writes down what each machine of ours runs on: once it is reset, it does
    /// not tell any more.
    async fn pin_platforms(&self, hands: &Hands) -> Result<(), ActError> {
        if let Ok(bundle) = Bundle::load(&self.site.bundle_file()) {
            self.site.keep_bundle(bundle).map_err(|error| Failure::permanent(error.to_string()))?;
        }
        for (node, sighting) in self.seen().await {
            if sighting.mode == Mode::Configured(Owner::Us) {
                let told = async { self.client(node).await?.platform_metadata().await };
                let told = told.await.map_err(|error| failed(&error))?;
                hands.pin(&platform_of(node), &told.platform).await?;
            }
        }
        Ok(())
    }

    /// Resets all machines that are ours, all at once: one that waits for the
    /// others to leave etcd would wait for ever.
    async fn reset(&self, hands: &Hands) -> Result<(), ActError> {
        let seen = self.seen().await;
        let ours = seen.iter().filter(|(_, it)| it.mode == Mode::Configured(Owner::Us));
        let resets = join_all(ours.map(|(node, _)| self.reset_one(hands, node))).await;
        resets.into_iter().collect()
    }

    async fn reset_one(&self, hands: &Hands, node: &NodePlan) -> Result<(), ActError> {
        let target = format!("{} ({})", node.name, Machine::given(node).title);
        let platform = hands.eyes().pinned(&platform_of(node));
        let afterwards = match platform.as_deref() {
            Some(CONTAINER) => Afterwards::Halt,
            _ => Afterwards::Reboot,
        };
        let call = Reset { target: &target, graceful: false, afterwards }.call();
        let look = async |_| match self.rest(node, hands.eyes()).await {
            Rest::Ours => Ok(Sight::NotThere),
            Rest::Nothing(_) | Rest::Unseen(_) => Ok(Sight::There(Made::default())),
        };
        let (at, identity) = (Node::at(talos_of(node)), self.site.talos_admin().clone());
        let name = target.clone();
        let send = move |permit| async move {
            let client = at.authenticated(&identity).await.map_err(|error| send_error(&error))?;
            let reset = Reset { target: &name, graceful: false, afterwards };
            client.reset(permit, &reset).await.map_err(|error| send_error(&error))?;
            Ok(Made::default())
        };
        hands.ensure(call, look, send).await?;
        Ok(())
    }

    async fn client(&self, node: &NodePlan) -> Result<Client, ClientError> {
        Node::at(talos_of(node)).authenticated(self.site.talos_admin()).await
    }

    async fn seen(&self) -> Vec<(&NodePlan, Sighting)> {
        let sightings = machines(&self.site).await.into_iter().map(|(_, sighting)| sighting);
        self.site.plan.nodes.iter().zip(sightings).collect()
    }

    async fn rest(&self, node: &NodePlan, eyes: &Eyes) -> Rest {
        let bundle = Bundle::load(&self.site.bundle_file()).ok();
        let ours = bundle.as_ref().map(|bundle| bundle.os.certificate());
        rest(&probe(talos_of(node), ours, LOOK).await.mode, platform(node, eyes).as_deref())
    }

    /// Says whose the machines are. Without the bundle nobody can say, and
    /// nothing can be reset.
    async fn inventory(&self) -> Verdict {
        let seen = self.seen().await;
        let mut evidence = Evidence::default();
        for (node, sighting) in &seen {
            evidence = evidence.fact(node.name.clone(), sighting.mode.means());
        }
        let count = |mode: &Mode| seen.iter().filter(|(_, it)| it.mode == *mode).count();
        if count(&Mode::Configured(Owner::Unknown)) > 0 {
            return Verdict::failed(self.no_bundle().seen(evidence));
        }
        evidence.summary = format!("{} to reset", count(&Mode::Configured(Owner::Us)));
        Verdict::ready(evidence)
    }

    fn no_bundle(&self) -> Cause {
        let file = self.site.bundle_file();
        let message = format!("{} is missing, and machines have configs", file.display());
        Cause::new(codes::BUNDLE_LOST, message)
            .so("whose they are cannot be said; nothing was reset")
            .next(explain(codes::BUNDLE_LOST), "tells more")
    }

    /// Says whether no machine runs our config any more.
    async fn released(&self) -> Verdict {
        let ours: Vec<_> = self.seen().await;
        let ours = ours.iter().filter(|(_, it)| it.mode == Mode::Configured(Owner::Us));
        let names: Vec<_> = ours.map(|(node, _)| node.name.as_str()).collect();
        match names.as_slice() {
            [] => Verdict::ready(Evidence::new("no machine runs this cluster's config")),
            names => Verdict::not_yet(format!("{} still being wiped", names.join(", "))),
        }
    }

    /// Says what each machine is now.
    async fn zero(&self, eyes: &Eyes) -> Verdict {
        let mut evidence = Evidence::new("nothing is left");
        for (node, sighting) in self.seen().await {
            match rest(&sighting.mode, platform(node, eyes).as_deref()) {
                Rest::Nothing(what) => evidence = evidence.fact(node.name.clone(), what),
                Rest::Ours => return left(node, "it runs this cluster's config"),
                Rest::Unseen(why) => return left(node, &why),
            }
        }
        Verdict::ready(evidence)
    }
}

/// Judges a machine by what it shows, and by what it ran on.
fn rest(mode: &Mode, platform: Option<&str>) -> Rest {
    match (mode, platform) {
        (Mode::Maintenance, _) => Rest::Nothing("waits for a config"),
        (Mode::Configured(Owner::Us), _) => Rest::Ours,
        (Mode::Configured(Owner::Somebody), _) => Rest::Nothing("belongs to another cluster"),
        (Mode::Configured(Owner::Unknown), _) => Rest::Unseen("it has a config".to_owned()),
        (Mode::Unreachable(_), Some(CONTAINER)) => {
            Rest::Nothing("does not answer any more: its container ends")
        }
        (mode, _) => Rest::Unseen(mode.means()),
    }
}

fn left(node: &NodePlan, why: &str) -> Verdict {
    let (name, address) = (&node.name, node.address);
    let what = format!("{name} at {address}: {why}");
    let message = format!("whether {name} is wiped cannot be said");
    let cause = Cause::new(codes::NODE_UNREACHABLE, message)
        .because([what.clone()])
        .so("it may still run this cluster's config")
        .next(format!("seaworthy talos probe {address}"), "shows what answers there")
        .next("seaworthy down", "goes on, once it answers");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

fn platform_of(node: &NodePlan) -> String {
    format!("platform of {}", Machine::given(node).title)
}

fn platform(node: &NodePlan, eyes: &Eyes) -> Option<String> {
    eyes.pinned(&platform_of(node))
}

fn failed(error: &ClientError) -> ActError {
    ActError::Failed(error.failure())
}

fn send_error(error: &ClientError) -> SendError {
    SendError::new(error.failure(), error.arrival)
}

impl Work for Release {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        match unit.stage.as_str() {
            "inventory" => self.pin_platforms(hands).await,
            "machines" => self.reset(hands).await,
            _ => Ok(()),
        }
    }

    async fn look(&self, unit: &Unit, _: &CheckName, eyes: &Eyes) -> Verdict {
        match unit.stage.as_str() {
            "inventory" => self.inventory().await,
            "machines" => self.released().await,
            _ => self.zero(eyes).await,
        }
    }

    async fn probe(&self, unit: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Err(Failure::permanent(format!("{unit} has no probe")).into())
    }

    async fn inputs(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Err(Failure::permanent(format!("{unit} has no probe")))
    }

    fn next_steps(&self, _: &Unit, _: &Cause) -> Vec<NextStep> {
        let nodes = self.site.plan.nodes.iter();
        let addresses: Vec<_> = nodes.map(|node| node.address.to_string()).collect();
        let command = format!("seaworthy talos probe {}", addresses.join(" "));
        vec![NextStep { command, tells: "shows which mode the machines are in".to_owned() }]
    }
}
