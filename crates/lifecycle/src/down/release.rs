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

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use engine::{ActError, Check, Eyes, Hands, Pace, Sight, Work};
use events::{
    Cause, CheckName, ClusterId, Digest, Evidence, Failure, History, Made, NextStep, Plan, Reach,
    Unit, Verdict,
};
use futures::future::join_all;
use talos::client::{Afterwards, ClientError, Node, Reset};
use talos::credentials::Identity;
use talos::probe::{Mode, Owner, Sighting};
use talos::secrets::Bundle;

use super::table::stage;
use super::zero::{self, CONTAINER, has_config, reset_of};
use crate::berth::Berth;
use crate::node_trouble::Asked;
use crate::{Site, bundle};

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

/// How long machines that have our config may take to show themselves: one that
/// has just been given it restarts its API.
const SETTLING: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_secs(2);

/// However fast a simulated world runs, this side of it does not.
const SHORTEST: Duration = Duration::from_secs(5);

/// The doing behind the stages of `down` for machines.
pub struct Release {
    site: Arc<Site>,
}

/// Makes the plan of a run of `down` for machines.
pub fn plan_of_machines(cluster: &str, id: ClusterId, tool: &str, speed: Option<u32>) -> Plan {
    let stages = engine::planned(MACHINES_TABLE, &[], &Pace { speed, ..Pace::default() });
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
        simulated_speed: speed,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

/// A machine, and what `down` would do to it.
#[derive(Clone, Debug)]
pub struct MachineSeen {
    /// Its node.
    pub name: String,
    /// Where it is.
    pub address: Ipv4Addr,
    /// What it showed.
    pub sighting: Sighting,
    /// The disk that would be wiped, where the machine has told.
    pub disk: Option<String>,
}

impl MachineSeen {
    /// Returns whether `down` would wipe it.
    pub fn is_ours(&self) -> bool {
        self.sighting.mode == Mode::Configured(Owner::Us)
    }

    /// Returns whether there is nothing of a cluster on it.
    pub fn is_empty(&self) -> bool {
        self.sighting.mode == Mode::Maintenance
    }
}

/// Looks at all machines of a cluster at once, without changing anything: those
/// of the file, and those that earlier runs may have given a config.
pub async fn machines(site: &Site, past: &History) -> Result<Vec<MachineSeen>, Box<Cause>> {
    let bundle = bundle::find(site)?;
    let seen = look_at(berths(site, Berth::maybe_in(past)), bundle.as_ref()).await;
    let identity =
        bundle.map(|bundle| site.keep_bundle(bundle).map(|()| site.talos_admin().clone()));
    let identity = identity.and_then(Result::ok);
    let machines = seen.into_iter().map(async |(Berth { name, address }, sighting)| {
        let mut machine = MachineSeen { name, address, sighting, disk: None };
        if let Some(identity) = identity.as_ref().filter(|_| machine.is_ours()) {
            machine.disk = system_disk(address, identity).await;
        }
        machine
    });
    Ok(join_all(machines).await)
}

/// A machine that does not say in time which disk is its own is wiped all the same.
async fn system_disk(address: Ipv4Addr, identity: &Identity) -> Option<String> {
    let node = Node::at(SocketAddr::new(address.into(), Node::PORT));
    let asked = async { node.authenticated(identity).await?.system_disk().await };
    tokio::time::timeout(SHORTEST, asked).await.ok()?.ok()?
}

/// Returns where the file wants nodes, and where else they were.
fn berths(site: &Site, known: Vec<Berth>) -> Vec<Berth> {
    let mut berths: Vec<_> = site.plan.nodes.iter().map(Berth::of).collect();
    for known in known {
        if berths.iter().all(|berth| berth.address != known.address) {
            berths.push(known);
        }
    }
    berths
}

async fn look_at(berths: Vec<Berth>, bundle: Option<&Bundle>) -> Vec<(Berth, Sighting)> {
    let ours = bundle.map(|bundle| bundle.os.certificate());
    let looks = berths.into_iter().map(async |berth| {
        let sighting = berth.look(ours).await;
        (berth, sighting)
    });
    join_all(looks).await
}

impl Release {
    /// Takes a cluster off its machines.
    pub fn new(site: Arc<Site>) -> Self {
        Self { site }
    }

    /// Resets all machines that are ours, all at once: one that waits for the
    /// others to leave etcd would wait for ever.
    async fn reset(&self, hands: &Hands) -> Result<(), ActError> {
        let Some(bundle) = bundle::find(&self.site).map_err(|cause| *cause)? else {
            return Ok(());
        };
        let kept = self.site.keep_bundle(bundle);
        kept.map_err(|error| Failure::permanent(error.to_string()))?;
        let seen = self.settled(hands).await?;
        let ours = seen.iter().filter(|(_, it)| it.mode == Mode::Configured(Owner::Us));
        let resets = join_all(ours.map(|(berth, _)| self.reset_one(hands, berth))).await;
        resets.into_iter().collect()
    }

    /// Waits until every machine that was given our config shows what it is. One
    /// that is dead does not keep the others from being reset.
    async fn settled(&self, hands: &Hands) -> Result<Vec<(Berth, Sighting)>, ActError> {
        let clock = hands.eyes().clock();
        let (since, speed) = (clock.elapsed(), self.site.speed.unwrap_or(1).max(1));
        let settling = (SETTLING / speed).max(SHORTEST);
        loop {
            let seen = self.seen(hands.eyes()).await.map_err(|cause| *cause)?;
            let unsure = seen.iter().any(|(berth, sighting)| {
                has_config(berth, hands.eyes())
                    && matches!(sighting.mode, Mode::Unreachable(_) | Mode::InTransition)
            });
            if !unsure || clock.elapsed().saturating_sub(since) > settling {
                return Ok(seen);
            }
            hands.go_on()?;
            clock.sleep(PAUSE / speed).await;
        }
    }

    async fn reset_one(&self, hands: &Hands, berth: &Berth) -> Result<(), ActError> {
        let identity = self.site.talos_admin().clone();
        let told =
            async { berth.talos().authenticated(&identity).await?.platform_metadata().await };
        let asked = Asked::new(&self.site, &berth.name);
        let told = told.await;
        let told = told.map_err(|error: ClientError| asked.unseen(error.class(), &error))?;
        let afterwards = match told.platform.as_str() {
            CONTAINER => Afterwards::Halt,
            _ => Afterwards::Reboot,
        };
        let target = berth.target();
        let call = Reset { target: &target, graceful: false, afterwards }.call();
        let look = async |_| match self.mode(berth).await? {
            Mode::Configured(Owner::Us) => Ok(Sight::NotThere),
            _ => Ok(Sight::There(Made::default())),
        };
        let (at, name) = (berth.talos(), target.clone());
        let send = move |permit| async move {
            let unsent = |error: ClientError| asked.unsent(error.class(), &error);
            let client = at.authenticated(&identity).await.map_err(unsent)?;
            let reset = Reset { target: &name, graceful: false, afterwards };
            client.reset(permit, &reset).await.map_err(unsent)?;
            Ok(Made::default())
        };
        hands.ensure(call, look, send).await?;
        hands.pin(&reset_of(berth), &told.platform).await?;
        Ok(())
    }

    async fn mode(&self, berth: &Berth) -> Result<Mode, ActError> {
        let bundle = bundle::find(&self.site).map_err(|cause| *cause)?;
        let ours = bundle.as_ref().map(|bundle| bundle.os.certificate());
        Ok(berth.look(ours).await.mode)
    }

    /// Looks at the machines of the file, and at those that may have been given a
    /// config when it named them.
    async fn seen(&self, eyes: &Eyes) -> Result<Vec<(Berth, Sighting)>, Box<Cause>> {
        let bundle = bundle::find(&self.site)?;
        Ok(look_at(berths(&self.site, Berth::maybe_known(eyes)), bundle.as_ref()).await)
    }

    /// Says whose the machines are. Without the bundle that their configs were
    /// made with nobody can say, and nothing can be reset.
    fn inventory(&self, seen: &[(Berth, Sighting)], eyes: &Eyes) -> Verdict {
        let mut evidence = Evidence::default();
        for (berth, sighting) in seen {
            evidence = evidence.fact(berth.name.clone(), sighting.means());
        }
        for (berth, sighting) in seen {
            let machine = vec![format!("{} at {} has a config", berth.name, berth.address)];
            let cause = match sighting.mode {
                Mode::Configured(Owner::Unknown) => bundle::missing(&self.site, machine),
                Mode::Configured(Owner::Somebody) if has_config(berth, eyes) => {
                    bundle::replaced(&self.site, machine, sighting)
                }
                _ => continue,
            };
            let so = "with the right bundle it can be reset from here; nothing was reset";
            return Verdict::failed(cause.so(so).seen(evidence));
        }
        let ours = seen.iter().filter(|(_, it)| it.mode == Mode::Configured(Owner::Us)).count();
        evidence.summary = format!("{ours} to reset");
        Verdict::ready(evidence)
    }
}

/// Says whether no machine runs our config any more.
fn released(seen: &[(Berth, Sighting)]) -> Verdict {
    let is_ours = |mode: &Mode| matches!(mode, Mode::Configured(Owner::Us) | Mode::InTransition);
    let ours = seen.iter().filter(|(_, sighting)| is_ours(&sighting.mode));
    let names: Vec<_> = ours.map(|(berth, _)| berth.name.as_str()).collect();
    match names.as_slice() {
        [] => Verdict::ready(Evidence::new("no machine runs this cluster's config")),
        names => Verdict::not_yet(format!("{} still being wiped", names.join(", "))),
    }
}

impl Work for Release {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        match unit.stage.as_str() {
            "machines" => self.reset(hands).await,
            _ => Ok(()),
        }
    }

    async fn look(&self, unit: &Unit, _: &CheckName, eyes: &Eyes) -> Verdict {
        self.site.marked(match (unit.stage.as_str(), self.seen(eyes).await) {
            (_, Err(cause)) => Verdict::failed(*cause),
            ("inventory", Ok(seen)) => self.inventory(&seen, eyes),
            ("machines", Ok(seen)) => released(&seen),
            (_, Ok(seen)) => zero::look(&self.site, &seen, eyes),
        })
    }

    async fn probe(&self, unit: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Err(Failure::permanent(format!("{unit} has no probe")).into())
    }

    async fn inputs(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Err(Failure::permanent(format!("{unit} has no probe")))
    }

    fn next_steps(&self, _: &Unit, cause: &Cause) -> Vec<NextStep> {
        if !cause.next.is_empty() {
            return cause.next.clone();
        }
        let nodes = self.site.plan.nodes.iter();
        let addresses: Vec<_> = nodes.map(|node| node.address.to_string()).collect();
        let command = format!("seaworthy talos probe {}", addresses.join(" "));
        vec![NextStep { command, tells: "shows which mode the machines are in".to_owned() }]
    }
}
