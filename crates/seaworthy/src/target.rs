//! Which cluster a command is about, and how its cloud is reached.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clouds::hetzner::{Endpoint, Hetzner, Settings, Trust};
use engine::{Chance, StateFolder};
use events::{Clock, ClusterId, Digest, Redactor, Secret};
use lifecycle::{GitAccess, Ground, Invocation, Site, Source};
use peers::{Proxies, Route};
use spec::plan::{Stage, Timeouts};
use spec::{CloudKind, Cluster, Duration, Plan, SourceRange};

use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::commands::{CLUSTER_FILE, read_cluster, read_file, state_dir};
use crate::exit::Exit;
use crate::git_access;
use crate::git_remote::newest_commit;
use crate::proxies::proxies;
use crate::referenced_files::{ReferencedFiles, followed};
use crate::rehearsed::Rehearsed;
use crate::stand_ins;
use crate::standing::{self, Reach};
use crate::ui::Ui;
use crate::world_file;

/// Which cluster is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct TargetArgs {
    /// The cluster file [default: cluster.yaml]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The rehearsed cluster that `rehearse --keep` has left standing
    #[arg(long)]
    rehearsal: bool,

    #[command(flatten)]
    cloud: CloudArgs,
}

/// How the cloud is reached. The token comes from the environment variable
/// `HCLOUD_TOKEN` or from a file, never from a flag or the cluster file.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cloud")]
pub(crate) struct CloudArgs {
    /// The cloud's API, where it is not the public one
    #[arg(long, value_name = "URL", env = "HCLOUD_ENDPOINT", default_value = Endpoint::PUBLIC)]
    pub(crate) cloud_endpoint: String,

    /// Trust only these certificate authorities for the cloud's API
    #[arg(long, value_name = "PEM FILE", env = "SEAWORTHY_CLOUD_CA")]
    pub(crate) cloud_ca: Option<PathBuf>,

    /// The file that holds the cloud's token [default: the variable `HCLOUD_TOKEN`]
    #[arg(long, value_name = "FILE", env = "HCLOUD_TOKEN_FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// The public address of this machine, for `my-ip` in the firewall; never looked up (can be
    /// repeated)
    #[arg(long, value_name = "ADDRESS", env = "SEAWORTHY_MY_IP", value_delimiter = ',')]
    pub(crate) my_ip: Vec<IpAddr>,

    /// The simulated world that `sim` runs, by the file that it holds
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["cloud_endpoint", "cloud_ca", "token_file"]
    )]
    pub(crate) world: Option<PathBuf>,

    /// How the world of a rehearsal is reached. Only a world that runs has one.
    #[arg(skip)]
    pub(crate) reach: Option<Reach>,
}

/// A cluster with all that a run of it needs.
pub(crate) struct Target {
    pub(crate) cluster: Cluster,
    pub(crate) digest: Digest,
    pub(crate) folder: StateFolder,
    pub(crate) site: Arc<Site>,
    pub(crate) token: Secret,
    pub(crate) speed: Option<u32>,
}

/// A cluster that is only looked at: nothing is made for it, not even a state
/// folder.
pub(crate) struct Sight {
    pub(crate) plan: Plan,
    /// The cluster's state folder, which may not be there.
    pub(crate) state: PathBuf,
    /// Whether the cluster has an identity yet.
    pub(crate) is_known: bool,
    /// All that looking needs; the error says why there is none.
    pub(crate) site: Result<Site, CommandError>,
}

impl TargetArgs {
    /// Returns the cluster file that is meant.
    fn file(&self) -> &Path {
        self.file.as_deref().unwrap_or(Path::new(CLUSTER_FILE))
    }

    /// Returns how the command was called.
    pub(crate) fn invocation(&self, shared: &Shared) -> Invocation {
        Invocation {
            file: self.file.clone(),
            rehearsal: self.rehearsal,
            state_dir: shared.state_dir.clone(),
            cloud: self.cloud.options(),
            ..Invocation::default()
        }
    }

    /// Whether a rehearsed cluster is meant.
    pub(crate) fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    /// Whether no cluster is named, and none lies here.
    pub(crate) fn names_nothing(&self) -> bool {
        self.file.is_none() && !self.rehearsal && !self.file().exists()
    }

    /// Refuses a cluster that is named beside secrets of another one.
    pub(crate) fn is_unused(&self) -> Result<(), CommandError> {
        if self.file.is_none() && !self.rehearsal {
            return Ok(());
        }
        let message = "a cluster of ours was named, and the secrets of another";
        Err(CommandError::say(Exit::Usage, message)
            .hint("leave one of them out: `--secrets` and `--from` need no cluster file"))
    }

    /// Finds the rehearsal that is meant.
    fn rehearsed(&self, shared: &Shared, ui: &Ui) -> Result<(Rehearsed, Reach), CommandError> {
        let state = state_dir(shared.state_dir.as_ref(), self.file());
        let named = self.file.as_ref().map(|file| read_cluster(file, ui)).transpose()?;
        let name = named.as_ref().map(|(cluster, _)| cluster.name.as_str());
        Rehearsed::find(&state, name, &self.invocation(shared))
    }

    /// Reads the cluster file. Who has only rehearsed has none.
    fn read(&self, shared: &Shared, ui: &Ui) -> Result<(Cluster, Vec<u8>), CommandError> {
        read_cluster(self.file(), ui).map_err(|error| {
            let state = state_dir(shared.state_dir.as_ref(), self.file());
            let called = self.invocation(shared);
            if self.names_nothing() && standing::find(&state, None, &called).is_ok() {
                return error.hint("`--rehearsal` means the rehearsed cluster that stands");
            }
            error
        })
    }

    /// Reads the cluster file, and opens nothing.
    pub(crate) fn look(
        &self,
        timeouts: &[(Stage, Duration)],
        shared: &Shared,
        ui: &Ui,
    ) -> Result<Sight, CommandError> {
        if self.rehearsal {
            let (rehearsed, reach) = self.rehearsed(shared, ui)?;
            let (cloud, token) = (rehearsed.cloud(&reach)?, Secret::new(reach.token.as_str()));
            ui.hidden().add(std::slice::from_ref(&token));
            let state = rehearsed.folder;
            let sight = Sight::of(&rehearsed.cluster, state, &cloud, timeouts, Ok(token))?;
            return Ok(sight.called_as(self.invocation(shared)));
        }
        let cloud = self.cloud.reached()?;
        let (cluster, _) = self.read(shared, ui)?;
        let state = state_dir(shared.state_dir.as_ref(), self.file()).join(cluster.name.as_str());
        let token = token(&cloud, ui);
        let sight = Sight::of(&cluster, state, &cloud, timeouts, token)?;
        Ok(sight.called_as(self.invocation(shared)))
    }

    /// Checks the files that the cluster file names. The file itself was read without errors;
    /// a rehearsal that is named alone keeps none beside it.
    pub(crate) fn check_files(&self) -> Result<(), CommandError> {
        if self.rehearsal && self.file.is_none() {
            return Ok(());
        }
        let bytes = read_file(self.file())?;
        let reading = spec::read(&self.file().display().to_string(), &bytes);
        let checked = reading.cluster().map(|it| ReferencedFiles::read(it, self.file(), &bytes));
        checked.transpose().map(drop)
    }

    /// Reads the cluster file and opens the cluster's state.
    pub(crate) fn open(
        &self,
        timeouts: &[(Stage, Duration)],
        shared: &Shared,
        ui: &Ui,
    ) -> Result<Target, CommandError> {
        if self.rehearsal {
            let (rehearsed, reach) = self.rehearsed(shared, ui)?;
            return Ok(rehearsed.target(&reach)?.called_as(self.invocation(shared)));
        }
        let (cluster, bytes) = self.read(shared, ui)?;
        self.open_read(cluster, &bytes, timeouts, shared, ui)
    }

    fn open_read(
        &self,
        cluster: Cluster,
        bytes: &[u8],
        timeouts: &[(Stage, Duration)],
        shared: &Shared,
        ui: &Ui,
    ) -> Result<Target, CommandError> {
        let cloud = self.cloud.reached()?;
        let state = state_dir(shared.state_dir.as_ref(), self.file()).join(cluster.name.as_str());
        let token = match cluster.cloud {
            spec::Cloud::Hetzner(_) => token(&cloud, ui)?,
            spec::Cloud::Proxmox(_) | spec::Cloud::Machines(_) => Secret::new(""),
        };
        let target = Target::with(cluster, bytes, &state, &cloud, timeouts, token, None)?;
        Ok(target.called_as(self.invocation(shared)))
    }

    /// The same, with all that building the cluster needs besides: what the
    /// file names, and the newest commit of what the cluster follows. What only
    /// looks at a cluster or takes it away does without.
    pub(crate) fn open_to_build(
        &self,
        timeouts: &[(Stage, Duration)],
        shared: &Shared,
        ui: &Ui,
    ) -> Result<Target, CommandError> {
        let file = self.file();
        let mut target = if self.rehearsal {
            self.open(timeouts, shared, ui)?
        } else {
            let (cluster, bytes) = self.read(shared, ui)?;
            if self.cloud.world.is_none() {
                stand_ins::refuse(&cluster, file)?;
            }
            self.open_read(cluster, &bytes, timeouts, shared, ui)?
        };
        if self.rehearsal && self.file.is_none() {
            return Ok(target);
        }
        let files = ReferencedFiles::read(&target.cluster, file, &read_file(file)?)?;
        files.furnish(target.site_mut());
        if !self.rehearsal {
            let beside = file.parent().unwrap_or(Path::new(""));
            let followed =
                source(&target.cluster, newest_commit, |git| git_access::read(git, beside))?;
            target.site_mut().source = followed;
        }
        Ok(target)
    }
}

impl Sight {
    fn of(
        cluster: &Cluster,
        state: PathBuf,
        cloud: &CloudArgs,
        timeouts: &[(Stage, Duration)],
        token: Result<Secret, CommandError>,
    ) -> Result<Self, CommandError> {
        let known = StateFolder::peek(&state).map_err(internal)?;
        // The identity is made by the first run; until then nothing carries it.
        let id = known.unwrap_or(ClusterId::NIL);
        let plan = planned(cluster, id, timeouts)?;
        let (clock, chance) = (Clock::real(), Chance::real());
        let ground = match plan.cloud {
            CloudKind::Hetzner => token.and_then(|token| cloud.connect(token, id, clock)),
            CloudKind::Machines => Ok(Ground::machines(&plan)),
            CloudKind::Proxmox => Err(no_client(&plan)),
        };
        let proxies = Arc::new(proxies()?);
        let site = ground.map(|ground| {
            let mut site = Site::new(plan.clone(), ground, &state, clock, chance);
            site.mine.clone_from(&cloud.my_ip);
            site.speed = cloud.speed();
            site.proxies = Arc::clone(&proxies);
            site
        });
        Ok(Self { plan, state, is_known: known.is_some(), site })
    }

    fn called_as(mut self, invocation: Invocation) -> Self {
        if let Ok(site) = &mut self.site {
            site.invocation = invocation;
        }
        self
    }
}

impl Target {
    /// Opens the state of a cluster, and makes the clients for its cloud.
    pub(crate) fn with(
        cluster: Cluster,
        bytes: &[u8],
        state: &Path,
        cloud: &CloudArgs,
        timeouts: &[(Stage, Duration)],
        token: Secret,
        source: Option<Source>,
    ) -> Result<Self, CommandError> {
        let (clock, chance) = (Clock::real(), Chance::real());
        let folder = StateFolder::open(state, &chance).map_err(internal)?;
        let plan = planned(&cluster, folder.cluster(), timeouts)?;
        let ground = match plan.cloud {
            CloudKind::Hetzner => cloud.connect(token.clone(), folder.cluster(), clock)?,
            CloudKind::Machines => Ground::machines(&plan),
            CloudKind::Proxmox => return Err(no_client(&plan)),
        };
        let mut site = Site::new(plan, ground, state, clock, chance);
        site.mine.clone_from(&cloud.my_ip);
        site.speed = cloud.speed();
        site.proxies = Arc::new(proxies()?);
        site.token = token.clone();
        site.source = source;
        let (digest, speed) = (Digest::of(bytes), cloud.speed());
        Ok(Self { cluster, digest, folder, site: Arc::new(site), token, speed })
    }

    /// Says how the command was called, so that printed commands mean the same cluster.
    pub(crate) fn called_as(mut self, invocation: Invocation) -> Self {
        self.site_mut().invocation = invocation;
        self
    }

    /// Returns the site, as long as nobody else has seen it.
    pub(crate) fn site_mut(&mut self) -> &mut Site {
        Arc::get_mut(&mut self.site).expect("nobody else has seen the site yet")
    }

    /// Refuses to go on where the firewall is to let this machine in and nobody
    /// has said which address that is. It is not looked up: whoever answers such
    /// a question would decide who gets in.
    pub(crate) fn knows_its_address(&self) -> Result<(), CommandError> {
        let rules = self.site.plan.firewall.iter().flat_map(|firewall| &firewall.rules);
        let mut sources = rules.flat_map(|rule| &rule.sources);
        if !self.site.mine.is_empty() || sources.all(|source| *source != SourceRange::MyIp) {
            return Ok(());
        }
        let message = "the firewall is to let in `my-ip`, and nothing says which address that is";
        Err(CommandError::say(Exit::Usage, message)
            .hint("give the public address of this machine: `--my-ip 198.51.100.7`, or SEAWORTHY_MY_IP")
            .hint("or name networks in the cluster file, under `firewall: { talosAPI: […] }`"))
    }
}

/// Returns what must never be written down. Machines need no token.
pub(crate) fn secrets(token: Secret) -> Vec<(String, Secret)> {
    let token = (!token.reveal().is_empty()).then(|| ("cloud token".to_owned(), token));
    // One that cannot be read was refused where the clients were made.
    let proxies: Vec<_> = proxies().iter().flat_map(Proxies::secrets).collect();
    let proxies = proxies.into_iter().filter(Redactor::can_hide);
    token.into_iter().chain(proxies.map(|it| ("password of a proxy".to_owned(), it))).collect()
}

/// Returns what the cluster follows, where it follows anything; `head` tells
/// the newest commit of a branch, `access` how Flux gets there.
pub(crate) fn source(
    cluster: &Cluster,
    head: impl FnOnce(&str, &str) -> Result<String, CommandError>,
    access: impl FnOnce(&spec::GitAccess) -> Result<GitAccess, CommandError>,
) -> Result<Option<Source>, CommandError> {
    let Some(git) = followed(cluster) else { return Ok(None) };
    let repository = git.repository.value.to_string();
    let branch = git.branch.as_ref().map_or_else(|| "main".to_owned(), |it| it.value.to_string());
    let revision = format!("{branch}@sha1:{}", head(&repository, &branch)?);
    let seconds = git.interval.as_ref().map_or(60, |interval| interval.value.as_secs());
    Ok(Some(Source {
        repository,
        branch,
        path: git.path.value.to_string(),
        revision,
        interval: format!("{}m{}s", seconds / 60, seconds % 60),
        access: access(git)?,
    }))
}

/// Plans a cluster, with the deadlines that were given.
fn planned(
    cluster: &Cluster,
    id: ClusterId,
    timeouts: &[(Stage, Duration)],
) -> Result<Plan, CommandError> {
    let mut plan = Plan::of(cluster, id);
    plan.timeouts = timeouts.iter().fold(plan.timeouts, |timeouts, (stage, timeout)| {
        Timeouts::with(timeouts, *stage, *timeout)
    });
    plan.timeouts.check(plan.stability_window).map_err(|error| {
        CommandError::new(Exit::Usage, &error)
            .hint("give `--timeout proof=…` more, or the file a shorter `stabilityWindow`")
    })?;
    Ok(plan)
}

impl CloudArgs {
    /// Returns the options that are not as usual, as they are given again. The
    /// token itself never is: it comes from the environment or a file.
    fn options(&self) -> Vec<(&'static str, String)> {
        let mut options = Vec::new();
        if self.cloud_endpoint != Endpoint::PUBLIC {
            options.push(("--cloud-endpoint", self.cloud_endpoint.clone()));
        }
        let files = [("--cloud-ca", &self.cloud_ca), ("--token-file", &self.token_file)];
        for (name, file) in files {
            options.extend(file.as_ref().map(|file| (name, file.display().to_string())));
        }
        options.extend(self.my_ip.iter().map(|address| ("--my-ip", address.to_string())));
        options.extend(self.world.as_ref().map(|file| ("--world", file.display().to_string())));
        options
    }

    /// Returns the cloud of the world that is named, where one is.
    fn reached(&self) -> Result<Self, CommandError> {
        let Some(file) = &self.world else { return Ok(self.clone()) };
        let reach = world_file::read(file).ok_or_else(|| {
            CommandError::say(Exit::Usage, format!("no world runs at {}", file.display()))
                .hint("`seaworthy sim` starts one, and `--world` names its file")
        })?;
        Ok(Self { my_ip: self.my_ip.clone(), world: self.world.clone(), ..Self::of_world(reach) })
    }

    /// Returns the cloud of a world.
    pub(crate) fn of_world(reach: Reach) -> Self {
        Self {
            cloud_endpoint: reach.endpoint.clone(),
            cloud_ca: None,
            token_file: None,
            my_ip: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            world: None,
            reach: Some(reach),
        }
    }

    /// Returns how many simulated seconds pass in a real one, in a rehearsal.
    fn speed(&self) -> Option<u32> {
        self.reach.as_ref().map(|reach| reach.speed)
    }

    fn connect(
        &self,
        token: Secret,
        cluster: ClusterId,
        clock: Clock,
    ) -> Result<Ground, CommandError> {
        let endpoint = Endpoint::parse(&self.cloud_endpoint).map_err(usage)?;
        let trust = match (&self.reach, &self.cloud_ca) {
            (Some(reach), _) => Trust::Only(reach.authority.clone().into_bytes()),
            (None, None) => Trust::System,
            (None, Some(path)) => Trust::Only(std::fs::read(path).map_err(|error| {
                let message = format!("could not read the authorities {}: {error}", path.display());
                CommandError::say(Exit::Usage, message)
            })?),
        };
        let timeout = std::time::Duration::from_secs(30);
        let route = Route::Environment(Arc::new(proxies()?));
        let settings = Settings { endpoint, token, trust, timeout, cluster, route, clock };
        Hetzner::new(settings).map(Ground::Hetzner).map_err(usage)
    }
}

/// Reads the token; it is never printed from then on.
fn token(cloud: &CloudArgs, ui: &Ui) -> Result<Secret, CommandError> {
    let token = read_token(cloud)?;
    ui.hidden().add(std::slice::from_ref(&token));
    Ok(token)
}

#[expect(clippy::disallowed_methods, reason = "the token enters here")]
fn read_token(cloud: &CloudArgs) -> Result<Secret, CommandError> {
    if let Some(reach) = &cloud.reach {
        return Ok(Secret::new(reach.token.as_str()));
    }
    if let Some(path) = &cloud.token_file {
        let text = std::fs::read_to_string(path).map_err(|error| {
            CommandError::say(
                Exit::Usage,
                format!("could not read the token {}: {error}", path.display()),
            )
        })?;
        return Ok(Secret::new(text.trim()));
    }
    match std::env::var("HCLOUD_TOKEN") {
        Ok(token) if !token.trim().is_empty() => Ok(Secret::new(token.trim())),
        _ => Err(CommandError::say(Exit::Usage, "there is no token for Hetzner Cloud")
            .hint("set HCLOUD_TOKEN, or name a file with `--token-file`")
            .hint("`seaworthy rehearse` needs none")),
    }
}

fn no_client(plan: &Plan) -> CommandError {
    CommandError::say(Exit::Usage, format!("{} is not supported yet", plan.cloud.as_str()))
}

fn usage(error: impl std::error::Error + 'static) -> CommandError {
    CommandError::new(Exit::Usage, &error)
}

fn internal(error: impl std::error::Error + 'static) -> CommandError {
    CommandError::new(Exit::Internal, &error)
}
