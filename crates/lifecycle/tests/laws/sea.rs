//! A simulated world on a thread of its own, so that it outlives the voyages
//! that crash in it, with one cluster's state folder beside it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use addons::seal::{Lifetime, SealingKey, Strength};
use clouds::hetzner::{Endpoint, Hetzner, Settings, Trust};
use engine::laws::{Breadth, Effects};
use engine::{Backoff, Chance, StateFolder};
use events::{Clock, Plan, Secret, private};
use lifecycle::{Ground, Site};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use sim::Tempo;
use sim::hetzner::{ForeignCluster, Holding};
use sim::world::World;
use talos::pki::PrivateKey;
use talos::secrets::Bundle;
use tokio::runtime::{Builder, Runtime};

/// How fast the world runs. Its delays are then milliseconds, and what a voyage
/// takes is its own work and the world's.
pub(crate) const SPEED: u32 = 200;

/// How many worlds there are at once: most of them wait for something.
pub(crate) const AT_ONCE: usize = 4;

/// The pauses between tries, as fast as the world.
pub(crate) const BACKOFF: Backoff =
    Backoff { first: Duration::from_millis(10), longest: Duration::from_millis(60) };

const TOKEN: &str = "canary-token-of-the-simulated-project-0123456789abcdefghijklmnopq";

/// How many nodes of which kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) control_planes: usize,
    pub(crate) workers: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.control_planes, self.workers)
    }
}

/// A world and the state of a cluster in it.
pub(crate) struct Sea {
    pub(crate) world: World,
    pub(crate) shape: Shape,
    /// What there was before the first voyage: others' things.
    pub(crate) of_others: Vec<Holding>,
    state: PathBuf,
    cluster: spec::Cluster,
    /// The world's own; gone after the world.
    _runtime: Runtime,
}

impl Sea {
    /// Makes a world, and a state folder with the keys that take long to make.
    pub(crate) fn new(shape: Shape, state: &Path) -> Self {
        let cluster = cluster(shape);
        let settings = sim::world::Settings {
            range: range(),
            tempo: Tempo::times(SPEED),
            token: TOKEN.to_owned(),
            clock: sim::Clock::real(),
            seed: 1,
            talos: vec![cluster.talos.version.to_string()],
            tenants: sim::tenants::Knobs::default(),
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let world = runtime.block_on(World::start(settings)).unwrap();
        let of_others = runtime.block_on(async { add_neighbours(&world) });
        let sea =
            Self { world, shape, of_others, state: state.to_owned(), cluster, _runtime: runtime };
        sea.folder();
        bundle().save_new(&state.join("secrets.yaml")).unwrap();
        private::write_new(&state.join("sealing-key.pem"), sealing_key().as_bytes()).unwrap();
        sea
    }

    pub(crate) fn folder(&self) -> StateFolder {
        StateFolder::open(&self.state, &Chance::seeded(0)).unwrap()
    }

    /// Returns a client of the cloud.
    pub(crate) fn cloud(&self) -> Hetzner {
        let folder = self.folder();
        let settings = Settings {
            endpoint: Endpoint::parse(&self.world.hetzner().endpoint()).unwrap(),
            token: Secret::new(TOKEN),
            trust: Trust::Only(self.world.authority().as_bytes().to_vec()),
            timeout: Duration::from_secs(10),
            cluster: folder.cluster(),
            route: peers::Route::Direct,
            clock: Clock::real(),
        };
        Hetzner::new(settings).unwrap()
    }

    /// Returns what a new process knows of the cluster's place.
    pub(crate) fn site(&self) -> Site {
        let plan = spec::Plan::of(&self.cluster, self.folder().cluster());
        let ground = Ground::Hetzner(self.cloud());
        let mut site = Site::new(plan, ground, &self.state, Clock::real(), Chance::real());
        site.speed = Some(SPEED);
        site.token = Secret::new(TOKEN);
        site.mine = vec!["127.0.0.1".parse().unwrap()];
        site
    }

    pub(crate) fn tell(&self, effects: Effects) {
        tell(self.world.effects(), effects);
    }

    pub(crate) fn mutations(&self) -> u64 {
        *self.world.effects().count().borrow()
    }
}

/// Tells a voyage of the effects that it has; the answer to the fatal one gets
/// lost.
pub(crate) fn tell(world: &sim::Effects, effects: Effects) {
    let mut count = world.count();
    let mut told = *count.borrow_and_update();
    if let Some(fatal) = effects.fatal() {
        world.lose(told + fatal);
    }
    tokio::spawn(async move {
        while count.changed().await.is_ok() {
            let now = *count.borrow_and_update();
            for _ in told..now {
                effects.happened().await;
            }
            told = now;
        }
    });
}

/// Returns how many points are tried: all of them where that was asked for, or
/// the share that fits into minutes.
pub(crate) fn at_every_point_or(part: Breadth) -> Breadth {
    #[expect(clippy::disallowed_methods, reason = "`cargo xtask laws` asks for every point")]
    let all = std::env::var_os("SEAWORTHY_EVERY_POINT").is_some();
    let breadth = if all { Breadth::WHOLE } else { part };
    Breadth { at_once: AT_ONCE, ..breadth }
}

/// Looks until all is well, since controllers may still be at work; returns
/// what is wrong in the end.
pub(crate) fn settled(look: impl Fn() -> Result<(), String>) -> Result<(), String> {
    for _ in 0..SETTLING {
        if look().is_ok() {
            break;
        }
        #[expect(clippy::disallowed_methods, reason = "the world has threads of its own")]
        std::thread::sleep(Duration::from_millis(20));
    }
    look()
}

/// No law is about deadlines, and a busy machine must not decide about one;
/// and with many worlds at once it is better to look rarely than to wait less.
pub(crate) fn unhurried(mut plan: Plan) -> Plan {
    for check in plan.stages.iter_mut().flat_map(|stage| &mut stage.checks) {
        check.deadline_ms = 120_000;
        check.poll_ms = 50;
        check.stable_ms = check.stable_ms.min(60);
    }
    plan
}

/// How often to look at a world that may not have settled yet.
const SETTLING: usize = 250;

/// Puts somebody else's cluster into the same project, under a similar name.
fn add_neighbours(world: &World) -> Vec<Holding> {
    world.hetzner().add_foreign_cluster(&ForeignCluster {
        name: "demo-staging".to_owned(),
        labels: [("cluster".to_owned(), "demo-staging".to_owned())].into(),
        servers: 3,
    });
    world.hetzner().holdings()
}

/// A /24 that no other world has: processes differ by their number.
pub(crate) fn range() -> ipnet::Ipv4Net {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed) % 250;
    format!("127.{}.{number}.0/24", 100 + std::process::id() % 100).parse().unwrap()
}

pub(crate) fn bundle() -> &'static Bundle {
    static BUNDLE: OnceLock<Bundle> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        // An RSA key takes seconds; Talos takes this one too.
        let key = PrivateKey::p256().unwrap();
        Bundle::generate(key, now(), &mut StdRng::seed_from_u64(1)).unwrap()
    })
}

fn sealing_key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let (lifetime, mut rng) = (Lifetime::ten_years(now()), StdRng::seed_from_u64(2));
        let key = SealingKey::make(Strength::Bits2048, lifetime, &mut rng).unwrap();
        format!("{}{}", key.certificate().pem(), key.private().reveal())
    })
}

#[expect(clippy::disallowed_methods, reason = "the simulated world's timestamps are real")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

fn cluster(shape: Shape) -> spec::Cluster {
    let Shape { control_planes, workers } = shape;
    let pools = match workers {
        0 => String::new(),
        _ => format!("  pools:\n    - {{ name: workers, count: {workers}, type: cax21 }}\n"),
    };
    let text = format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud:
    hetzner: {{ location: fsn1, network: 10.0.0.0/16 }}
  talos: {{ version: v1.14.1 }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{ count: {control_planes}, type: cax11 }}
{pools}  addons:
    cilium: {{}}
    hcloud-ccm: {{}}
    hcloud-csi: {{}}
    sealed-secrets: {{}}
"
    );
    let reading = spec::read("cluster.yaml", text.as_bytes());
    let told = reading.render(spec::Colour::Plain);
    reading.into_cluster().unwrap_or_else(|_| panic!("{told}"))
}
