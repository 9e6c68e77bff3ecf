//! A simulated world with one cluster's state folder beside it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clouds::hetzner::{Endpoint, Hetzner, Server, Settings, Trust};
use engine::{Backoff, Cancel, Chance, Engine, Opening, Session, StateFolder, Until, Work};
use events::journal::Durability;
use events::{Clock, ClusterId, Code, Event, Plan, RunOutcome, Secret, UnitOutcome, What};
use lifecycle::down::{self, Down};
use lifecycle::up::{self, Circumstances, Outlook, Up};
use lifecycle::{CredentialsError, GitAccess, Ground, Site, Source, Way};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use report::Story;
use report::terminal::{Palette, Plain, Printer as _};
use serde_json::Value;
use sim::Tempo;
use sim::hetzner::ForeignCluster;
use sim::world::World;
use spec::plan::{Stage, Timeouts};
use talos::pki::PrivateKey;
use talos::secrets::Bundle;

/// How fast the world runs.
const SPEED: u32 = 100;

/// How fast runs take the world to be that are to fail. They look at it less
/// often, which leaves the machine to the other worlds, and give whatever is
/// well the more time.
const CALM: u32 = 25;

/// How long such a run waits for what will never be ready, in simulated time.
const PATIENCE: spec::Duration = spec::Duration::from_secs(250);

const TOKEN: &str = "canary-token-of-the-simulated-project-0123456789abcdefghijklmnopq";

const ADDONS: &str = "    cilium: {}
    hcloud-ccm: {}
    hcloud-csi: {}
    sealed-secrets: {}
    metrics-server: {}
    flux: { repository: \"ssh://git@example.com/fleet\", branch: main, path: clusters/demo }
";

/// What Flux follows, where there is Flux.
const REPOSITORY: &str = "ssh://git@example.com/fleet";
const DEPLOY_KEY: &str = "canary-deploy-key-of-the-simulated-repository";
const COMMIT: &str = "4be1f0c2a9d3e8b7c6a5f4e3d2c1b0a998877665";

/// The stage that runs go to.
pub(crate) const LAST: &str = "proof";

/// A world and the state of a cluster in it.
pub(crate) struct Harbour {
    pub(crate) world: Arc<World>,
    state: tempfile::TempDir,
    cluster: spec::Cluster,
    pace: u32,
    /// The stage for which a run has less patience than usual.
    hopeless: Option<Stage>,
}

/// What made a stage fail, whichever of its units it was: a check, or what it
/// wanted to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fall {
    stage: String,
    check: Option<String>,
    code: Code,
}

impl Fall {
    pub(crate) fn check(stage: &str, check: &str, code: u16) -> Self {
        Self { check: Some(check.to_owned()), ..Self::act(stage, code) }
    }

    pub(crate) fn act(stage: &str, code: u16) -> Self {
        Self { stage: stage.to_owned(), check: None, code: Code(code) }
    }

    fn of(event: &Event) -> Option<Self> {
        let What::StageDone { unit, outcome: UnitOutcome::Failed { cause } } = &event.what else {
            return None;
        };
        let check = cause.shown_by.as_ref().map(|by| by.check.to_string());
        Some(Self { stage: unit.stage.to_string(), check, code: cause.code })
    }
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) outcome: RunOutcome,
    pub(crate) is_done: bool,
    /// What failed.
    pub(crate) falls: BTreeSet<Fall>,
    /// What a terminal would have shown.
    pub(crate) text: String,
    /// All that happened, and what reports make of it.
    pub(crate) events: Vec<Event>,
    pub(crate) story: Story,
}

impl Harbour {
    pub(crate) async fn new(number: &str, control_planes: u32, workers: u32) -> Self {
        Self::at_speed(SPEED, number, control_planes, workers).await
    }

    /// A world at another speed than usual. Deadlines are the usual ones.
    pub(crate) async fn at_speed(
        speed: u32,
        number: &str,
        control_planes: u32,
        workers: u32,
    ) -> Self {
        Self::with(speed, number, cluster(control_planes, workers, ADDONS), |_| true).await
    }

    /// A world with a single node and these addons. Its repository holds those
    /// that come by gitops, as far as `holds` says.
    pub(crate) async fn with_addons(number: &str, addons: &str, holds: fn(&Value) -> bool) -> Self {
        Self::with(SPEED, number, cluster(1, 0, addons), holds).await
    }

    /// A world for any cluster.
    pub(crate) async fn of(number: &str, cluster: spec::Cluster) -> Self {
        Self::with(SPEED, number, cluster, |_| true).await
    }

    async fn with(
        speed: u32,
        number: &str,
        cluster: spec::Cluster,
        holds: fn(&Value) -> bool,
    ) -> Self {
        let mut held = lifecycle::addon_objects(
            &spec::Plan::of(&cluster, ClusterId::NIL),
            spec::By::Gitops,
            None,
        )
        .unwrap();
        held.retain(holds);
        let repository = (REPOSITORY.to_owned(), held);
        let branch = ((REPOSITORY.to_owned(), "main".to_owned()), COMMIT.to_owned());
        let settings = sim::world::Settings {
            range: format!("127.77.{number}.0/24").parse().unwrap(),
            tempo: Tempo::times(speed),
            token: TOKEN.to_owned(),
            clock: sim::Clock::real(),
            seed: 1,
            talos: vec![cluster.talos.version.to_string()],
            tenants: sim::tenants::Knobs {
                heads: [branch].into(),
                manifests: [repository].into(),
                ..Default::default()
            },
        };
        let world = Arc::new(World::start(settings).await.unwrap());
        let state = tempfile::tempdir().unwrap();
        new_bundle(1).save_new(&state.path().join("secrets.yaml")).unwrap();
        Self { world, state, cluster, pace: speed, hopeless: None }
    }

    /// Returns how often clients have changed something by a call.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.world.effects().all().iter().filter(|effect| effect.call == call).count()
    }

    /// Takes the world to be slower than it is: all deadlines are so much longer.
    pub(crate) fn take_time(&mut self, times: u32) {
        self.pace /= times;
    }

    /// Takes its time, but for a stage that is to fail.
    pub(crate) fn expect_failure(&mut self, stage: Option<&str>) {
        let named = |it: &&Stage| Some(it.as_str()) == stage;
        self.pace = CALM;
        self.hopeless = Stage::all().iter().find(named).copied();
    }

    pub(crate) async fn up(&self, until: Option<&str>) -> Ran {
        self.up_with(until, |up| up).await
    }

    /// Brings it up with something between the engine and the stages.
    pub(crate) async fn up_with<W: Work>(
        &self,
        until: Option<&str>,
        between: impl FnOnce(Up) -> W,
    ) -> Ran {
        let folder = self.folder();
        let site = self.site(&folder);
        let now = Circumstances { simulated_speed: Some(self.pace), ..Circumstances::default() };
        let plan = up::plan(&site.plan, folder.cluster(), "test", &now);
        let until = until.map_or(Until::TheEnd, |stage| Until::Stage(stage.into()));
        run(&folder, plan, until, Arc::new(between(Up::new(Arc::new(site))))).await
    }

    /// Returns where a kubeconfig would lead.
    pub(crate) async fn api_server(&self, way: &Way) -> Result<String, CredentialsError> {
        lifecycle::api_server(&self.site(&self.folder()), way).await
    }

    /// Returns what `plan` would show.
    pub(crate) async fn outlook(&self) -> Outlook {
        up::outlook(&self.site(&self.folder())).await.unwrap()
    }

    pub(crate) async fn down(&self) -> Ran {
        let folder = self.folder();
        let plan = down::plan("demo", folder.cluster(), "test", Some(SPEED));
        run(&folder, plan, Until::TheEnd, Arc::new(Down::new(self.cloud(&folder), Some(SPEED))))
            .await
    }

    /// Puts somebody else's cluster into the same project, under a similar name.
    pub(crate) fn add_neighbours(&self) {
        self.world.hetzner().add_foreign_cluster(&ForeignCluster {
            name: "demo-staging".to_owned(),
            labels: [("cluster".to_owned(), "demo-staging".to_owned())].into(),
            servers: 3,
        });
    }

    /// Returns the servers that are not ours.
    pub(crate) async fn servers_of_others(&self) -> Vec<(u64, String)> {
        let folder = self.folder();
        let servers = self.cloud(&folder).all::<Server>().await.unwrap();
        let id = folder.cluster().to_string();
        let ours = |server: &Server| server.labels.get(clouds::CLUSTER_ID) == Some(&id);
        let others = servers.into_iter().filter(|server| !ours(server));
        others.map(|server| (server.id.number(), server.name)).collect()
    }

    /// Returns whether a text is anywhere in what the runs have written.
    pub(crate) fn wrote(&self, text: &str) -> bool {
        let mut files = Vec::new();
        collect(&self.root().join("runs"), &mut files);
        files.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(text))
    }

    /// Searches all that was written and shown for secrets.
    pub(crate) fn leaks(&self, shown: &str) -> Vec<String> {
        let bundle = Bundle::load(&self.root().join("secrets.yaml")).unwrap();
        let mut secrets = bundle.secrets();
        secrets.push(("cloud token".to_owned(), Secret::new(TOKEN)));
        secrets.push(("deploy key".to_owned(), Secret::new(DEPLOY_KEY)));
        let mut files = vec![("the terminal".to_owned(), shown.as_bytes().to_vec())];
        collect(&self.root().join("runs"), &mut files);
        assert!(files.len() > 2, "there are journals to search");
        let mut leaks = Vec::new();
        for (name, secret) in &secrets {
            let forms = [secret.reveal().to_owned(), STANDARD.encode(secret.reveal())];
            for (file, bytes) in &files {
                let text = String::from_utf8_lossy(bytes);
                if forms.iter().any(|form| text.contains(form.trim())) {
                    leaks.push(format!("{name} in {file}"));
                }
            }
        }
        leaks
    }

    fn folder(&self) -> StateFolder {
        StateFolder::open(self.root(), &Chance::real()).unwrap()
    }

    pub(crate) fn root(&self) -> &Path {
        self.state.path()
    }

    fn cloud(&self, folder: &StateFolder) -> Hetzner {
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

    fn site(&self, folder: &StateFolder) -> Site {
        let mut plan = spec::Plan::of(&self.cluster, folder.cluster());
        if let Some(stage) = self.hopeless {
            plan.timeouts = Timeouts::with(plan.timeouts, stage, PATIENCE);
        }
        let ground = Ground::Hetzner(self.cloud(folder));
        let mut site = Site::new(plan, ground, self.root(), Clock::real(), Chance::real());
        site.speed = Some(self.pace);
        site.token = Secret::new(TOKEN);
        site.mine = vec!["127.0.0.1".parse().unwrap()];
        site.source = Some(Source {
            repository: REPOSITORY.to_owned(),
            branch: "main".to_owned(),
            path: "clusters/demo".to_owned(),
            revision: format!("main@sha1:{COMMIT}"),
            interval: "1m0s".to_owned(),
            access: GitAccess::Ssh {
                identity: Some(Secret::new(DEPLOY_KEY)),
                known_hosts: "example.com ssh-ed25519 AAAA".to_owned(),
            },
        });
        site
    }
}

fn collect(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

/// Makes a secrets bundle. An RSA key takes seconds; Talos takes this one too.
pub(crate) fn new_bundle(seed: u64) -> Bundle {
    let key = PrivateKey::p256().unwrap();
    Bundle::generate(key, now(), &mut StdRng::seed_from_u64(seed)).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the simulated world's timestamps are real")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

fn cluster(control_planes: u32, workers: u32, addons: &str) -> spec::Cluster {
    let pools = match workers {
        0 => String::new(),
        _ => format!("  pools:\n    - {{ name: workers, count: {workers}, type: cax21 }}\n"),
    };
    at_hetzner(&format!("count: {control_planes}, type: cax11"), &pools, addons)
}

pub(crate) fn at_hetzner(control_plane: &str, pools: &str, addons: &str) -> spec::Cluster {
    let text = format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud:
    hetzner: {{ location: fsn1, network: 10.0.0.0/16 }}
  talos: {{ version: v1.14.1 }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{ {control_plane} }}
{pools}  addons:
{addons}"
    );
    read(&text)
}

pub(crate) fn read(file: &str) -> spec::Cluster {
    let reading = spec::read("cluster.yaml", file.as_bytes());
    let told = reading.render(spec::Colour::Plain);
    reading.into_cluster().unwrap_or_else(|_| panic!("{told}"))
}

pub(crate) async fn run<W: Work>(
    folder: &StateFolder,
    plan: Plan,
    until: Until,
    work: Arc<W>,
) -> Ran {
    let (clock, chance) = (Clock::real(), Chance::real());
    let told = Arc::new(Mutex::new((Story::default(), Plain::new(Palette::Plain), Vec::new())));
    let telling = Arc::clone(&told);
    let events = Arc::new(Mutex::new(Vec::new()));
    let recording = Arc::clone(&events);
    let observer = move |event: &Event| {
        recording.lock().unwrap().push(event.clone());
        let (story, printer, out) = &mut *telling.lock().unwrap();
        story.apply(event);
        printer.event(story, event, out).unwrap();
    };
    let opening = Opening {
        pid: std::process::id(),
        host: "test".to_owned(),
        command: plan.command.clone(),
        durability: Durability::Unsynced,
        observers: vec![Box::new(observer)],
    };
    let session = Session::open(folder, opening, clock, &chance).unwrap();
    let backoff = Backoff::default().at_speed(plan.simulated_speed);
    let engine = Engine { session, chance, cancel: Cancel::new(), backoff };
    let finished = engine.run(plan, &until, work).await.unwrap();
    let told = &mut *told.lock().unwrap();
    let (story, text) = (std::mem::take(&mut told.0), std::mem::take(&mut told.2));
    let text = String::from_utf8(text).unwrap();
    let events = std::mem::take(&mut *events.lock().unwrap());
    let falls = events.iter().filter_map(Fall::of).collect();
    Ran { outcome: finished.outcome, is_done: finished.is_done, falls, text, events, story }
}
