//! The simulated cloud as its owner sees it.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use ipnet::Ipv4Net;
use rand::rngs::StdRng;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::addresses::Addresses;
use super::api::router;
use super::delays::Delays;
use super::desk::{Desk, PART};
use super::holding::Holding;
use super::insider::Insider;
use super::knobs::Knobs;
use super::machines::Machines;
use super::project::{News, Project};
use super::rate_limit::RateLimit;
use super::resources::system_images;
use super::seed::{ForeignCluster, Snapshot};
use crate::wire::{Authority, AuthorityError, Serving, serve};
use crate::{Clock, Effects, Tempo};

/// What a simulated cloud needs.
pub struct Settings {
    /// Where the API listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The loopback range from which servers and load balancers get addresses.
    pub range: Ipv4Net,
    /// The token of the project.
    pub token: String,
    /// How fast simulated time passes.
    pub tempo: Tempo,
    /// How long things take.
    pub delays: Delays,
    /// How many calls the project may make in a simulated hour.
    pub calls_per_hour: u32,
    /// Where the time of day comes from.
    pub clock: Clock,
    /// Where luck comes from.
    pub rng: StdRng,
    /// Who is told of every change that a client asked for.
    pub effects: Effects,
    /// Who is told of servers that run, stop and vanish.
    pub machines: Arc<dyn Machines>,
}

/// Why a simulated cloud could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The address could not be served.
    #[error("could not listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// There is no certificate for it.
    #[error("could not get a certificate for the API")]
    Certificate(#[from] AuthorityError),
}

/// A running simulated cloud with one project; dropping it stops it.
pub struct Hetzner {
    desk: Arc<Desk>,
    serving: Serving,
}

impl Hetzner {
    /// Starts a cloud whose certificate an authority vouches for.
    pub async fn start(settings: Settings, authority: &Authority) -> Result<Self, StartError> {
        let Settings { listen, token, tempo, effects, machines, .. } = settings;
        let failed = |source| StartError::Listen { address: listen, source };
        let tls = authority.server(&[listen.ip()])?;
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let addresses = Addresses::of(settings.range);
        let mut project =
            Project::new(addresses, tempo, settings.delays, settings.clock, settings.rng);
        for image in system_images(&mut project) {
            project.images.put(image);
        }
        let (news, arriving) = unbounded_channel();
        let limit = RateLimit::per_hour(settings.calls_per_hour, tempo);
        let desk = Desk::new(project, token, effects, limit, news);
        tokio::spawn(tell(arriving, machines));
        let serving = serve(listener, Some(tls), router(Arc::clone(&desk))).map_err(failed)?;
        Ok(Self { desk, serving })
    }

    /// Returns the address below which the API's paths are.
    pub fn endpoint(&self) -> String {
        format!("https://{}/v1", self.serving.address())
    }

    /// Turns the knobs.
    pub fn turn(&self, turn: impl FnOnce(&mut Knobs)) {
        self.desk.touch(|project| turn(&mut project.knobs));
    }

    /// Puts a snapshot into the project and returns its id.
    pub fn add_snapshot(&self, snapshot: Snapshot) -> i64 {
        self.desk.change(|project| project.add_snapshot(snapshot))
    }

    /// Takes all snapshots out of the project.
    pub fn remove_snapshots(&self) {
        self.desk.change(Project::remove_snapshots);
    }

    /// Puts somebody else's cluster into the project.
    pub fn add_foreign_cluster(&self, cluster: &ForeignCluster) {
        self.desk.change(|project| project.add_foreign_cluster(cluster));
    }

    /// Takes a server away without anybody having asked, and says whether
    /// there was one of that name.
    pub fn vanish(&self, server: &str) -> bool {
        self.desk.change(|project| project.vanish(server))
    }

    /// Returns a way into the project beside its API.
    pub fn insider(&self) -> Insider {
        Insider::new(&self.desk)
    }

    /// Returns what the project holds.
    pub fn holdings(&self) -> Vec<Holding> {
        self.desk.look(Project::holdings)
    }

    /// Returns how often each route was called: `GET /servers/{id}`.
    pub fn requests(&self) -> BTreeMap<String, u64> {
        self.desk.effects.counters().requests.remove(PART).unwrap_or_default()
    }
}

impl Drop for Hetzner {
    fn drop(&mut self) {
        self.desk.close();
    }
}

/// Tells the machines one thing after the other.
async fn tell(mut arriving: UnboundedReceiver<News>, machines: Arc<dyn Machines>) {
    while let Some(news) = arriving.recv().await {
        match news {
            News::Runs(machine) => machines.runs(&machine),
            News::Stopped(machine) => machines.stopped(&machine),
            News::Gone(machine) => machines.gone(&machine),
        }
    }
}
