//! How to reach an API: from a kubeconfig, or from certificates.
//!
//! Requests go over HTTP/1.1, on as many connections as there are requests at
//! the same time. Against a real API server, 1,000 applies with 32 in flight
//! took as long over 32 connections as over one of HTTP/2 (medians 2.3 and
//! 2.3 s of six each, on a machine that was never quiet), and a connection that
//! breaks takes one request with it instead of all.

mod client;
mod credential;
mod error;
mod plugin;
mod server;
mod syntax;

pub(crate) use credential::Credential;
pub use error::AccessError;
pub use syntax::SyntaxProblem;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use events::{Clock, Secret};
use kube::Config;
use kube::config::{ExecInteractiveMode, KubeConfigOptions, Kubeconfig};
use peers::{Proxies, Proxy, Route};
use serde_json::json;

use crate::Cluster;
use crate::cluster::Site;
use crate::line::Line;
use credential::Source;
use server::Server;

/// How to reach the API of a cluster, and as whom.
#[derive(Clone, Debug)]
pub struct Access {
    kubeconfig: Kubeconfig,
    context: Option<String>,
    server: Option<String>,
    tls_server_name: Option<String>,
    timeouts: Timeouts,
    proxies: Arc<Proxies>,
    /// How long a credential may take.
    patience: Option<Duration>,
    /// Who has to know every credential before it is sent anywhere.
    told: Option<Told>,
    clock: Clock,
}

/// Hears of secrets.
#[derive(Clone)]
struct Told(Arc<Listener>);

type Listener = dyn Fn(&[Secret]) + Send + Sync;

/// All that a client is made of.
pub(crate) struct Parts {
    config: Config,
    source: Source,
    route: Route,
    site: Site,
    /// What a URL of the kubeconfig holds that must not be shown.
    secrets: Vec<Secret>,
}

/// How long to wait for the other side. Never scaled: its patience does not
/// grow with ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// For a whole answer to a question.
    pub answer: Duration,
    /// For a whole answer to a change, which webhooks look at first.
    pub change: Duration,
    /// For the next sign of life in a watch; the API sends a bookmark every minute.
    pub silence: Duration,
}

// === impl Access ===

impl Access {
    /// Reads a kubeconfig. Without a context it is the current one.
    pub fn from_kubeconfig(bytes: &[u8], context: Option<&str>) -> Result<Self, AccessError> {
        let text = std::str::from_utf8(bytes).map_err(|_| AccessError::NotUtf8)?;
        let options = serde_saphyr::options! { with_snippet: false };
        let kubeconfig = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| AccessError::Syntax(SyntaxProblem::of(&error, text)))?;
        Ok(Self::new(kubeconfig, context.map(str::to_owned)))
    }

    /// Returns the contexts that the kubeconfig holds.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.kubeconfig.contexts.iter().map(|context| context.name.as_str())
    }

    /// Returns the context that is used: the one that was asked for, or the
    /// current one.
    pub fn context(&self) -> Option<&str> {
        let current = self.kubeconfig.current_context.as_deref().filter(|name| !name.is_empty());
        self.context.as_deref().or(current)
    }

    /// Adds what another kubeconfig has and this one has not, as kubectl does
    /// with a list of files.
    pub fn or(mut self, other: Self) -> Result<Self, AccessError> {
        if self.kubeconfig.current_context.as_deref() == Some("") {
            self.kubeconfig.current_context = None;
        }
        self.kubeconfig =
            self.kubeconfig.merge(other.kubeconfig).map_err(AccessError::kubeconfig)?;
        Ok(self)
    }

    /// Reads the files that the kubeconfig names beside it, where it does not
    /// say where they are, as kubectl does.
    #[must_use]
    pub fn beside(mut self, folder: &Path) -> Self {
        let clusters = self.kubeconfig.clusters.iter_mut().filter_map(|it| it.cluster.as_mut());
        clusters.for_each(|it| place(folder, &mut it.certificate_authority));
        let users = self.kubeconfig.auth_infos.iter_mut().filter_map(|it| it.auth_info.as_mut());
        for user in users {
            place(folder, &mut user.client_certificate);
            place(folder, &mut user.client_key);
            place(folder, &mut user.token_file);
            let command = user.exec.as_mut().map(|exec| &mut exec.command);
            // A bare name is looked for in the path.
            if let Some(command) = command
                && command.as_ref().is_some_and(|command| command.contains('/'))
            {
                place(folder, command);
            }
        }
        self
    }

    /// Nobody is there to be asked: a command for a token that would ask where
    /// somebody is does not, and what it says is told with its failure.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        let users = self.kubeconfig.auth_infos.iter_mut().filter_map(|it| it.auth_info.as_mut());
        for exec in users.filter_map(|user| user.exec.as_mut()) {
            if exec.interactive_mode != Some(ExecInteractiveMode::Always) {
                exec.interactive_mode = Some(ExecInteractiveMode::Never);
            }
        }
        self
    }

    /// Takes certificates and a key, all as PEM.
    pub fn with_certificates(
        server: &str,
        authority: &str,
        certificate: &str,
        key: &str,
    ) -> Result<Self, AccessError> {
        let config = json!({
            "clusters": [{ "name": "it", "cluster": {
                "server": server, "certificate-authority-data": STANDARD.encode(authority),
            }}],
            "users": [{ "name": "it", "user": {
                "client-certificate-data": STANDARD.encode(certificate),
                "client-key-data": STANDARD.encode(key),
            }}],
            "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it" } }],
            "current-context": "it",
        });
        Self::from_kubeconfig(config.to_string().as_bytes(), None)
    }

    /// Makes one for whoever shows no credential.
    pub fn anonymous(server: &str, authority: &str) -> Result<Self, AccessError> {
        let config = json!({
            "clusters": [{ "name": "it", "cluster": {
                "server": server, "certificate-authority-data": STANDARD.encode(authority),
            }}],
            "contexts": [{ "name": "it", "context": { "cluster": "it" } }],
            "current-context": "it",
        });
        Self::from_kubeconfig(config.to_string().as_bytes(), None)
    }

    fn new(kubeconfig: Kubeconfig, context: Option<String>) -> Self {
        Self {
            kubeconfig,
            context,
            server: None,
            tls_server_name: None,
            timeouts: Timeouts::default(),
            proxies: Arc::default(),
            patience: None,
            told: None,
            clock: Clock::real(),
        }
    }

    /// Goes through the proxies of the environment, by their rules. A `proxy-url`
    /// of the kubeconfig counts before them.
    #[must_use]
    pub fn proxies(mut self, proxies: Arc<Proxies>) -> Self {
        self.proxies = proxies;
        self
    }

    /// Waits no longer than this for a credential plugin.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Tells every credential, and every secret in a URL, before it is sent anywhere:
    /// the first and those that replace it.
    #[must_use]
    pub fn telling_secrets(mut self, tell: impl Fn(&[Secret]) + Send + Sync + 'static) -> Self {
        self.told = Some(Told(Arc::new(tell)));
        self
    }

    fn tell(&self, secrets: &[Secret]) {
        if let Some(Told(tell)) = &self.told {
            tell(secrets);
        }
    }

    /// Goes to another address with the same authority and identity, such as
    /// one control plane instead of the load balancer. `tls_server_name` is
    /// the name that its certificate must carry, where it is not the address.
    #[must_use]
    pub fn at(mut self, server: impl Into<String>, tls_server_name: Option<&str>) -> Self {
        self.server = Some(server.into());
        self.tls_server_name = tls_server_name.map(str::to_owned).or(self.tls_server_name);
        self
    }

    /// Changes the timeouts.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Returns the secrets that the kubeconfig itself holds: tokens, passwords, and
    /// those in its URLs. What a file or a plugin gives is told by
    /// [`Cluster::secrets`].
    pub async fn secrets(&self) -> Result<Vec<Secret>, AccessError> {
        let parts = self.parts().await?;
        Ok(parts.source.secrets().into_iter().chain(parts.secrets).collect())
    }

    /// Returns whether a credential would travel without TLS to another machine.
    pub async fn sends_in_the_clear(&self) -> Result<bool, AccessError> {
        let parts = self.parts().await?;
        let url = &parts.config.cluster_url;
        let has_credential = !matches!(parts.source, Source::Nothing);
        Ok(has_credential && url.scheme_str() == Some("http") && !server::is_loopback(url))
    }

    /// Makes a client. It says nothing yet: the first request connects.
    pub async fn connect(&self) -> Result<Cluster, AccessError> {
        let parts = self.parts().await?;
        let site = parts.site.clone();
        let credential = self.fetch(&parts).await?;
        let client = self.client(&parts, &credential).await?;
        let secrets = parts.secrets.clone();
        let renewal = parts.source.renews().then(|| (self.clone(), parts));
        let line = Line::new(client, credential, renewal, self.clock);
        Ok(Cluster::new(line, site, self.timeouts, secrets))
    }

    /// Fetches what is shown to the API.
    pub(crate) async fn fetch(&self, parts: &Parts) -> Result<Credential, AccessError> {
        let fetched = parts.source.fetch(&self.clock, self.patience).await;
        if let Ok(credential) = &fetched {
            self.tell(&credential.secrets);
        }
        let server = || parts.site.server.clone();
        fetched.map_err(|reason| AccessError::NoCredential { server: server(), reason })
    }

    /// Makes a client of the client library, with the certificate that is shown now.
    pub(crate) async fn client(
        &self,
        parts: &Parts,
        credential: &Credential,
    ) -> Result<kube::Client, AccessError> {
        let mut config = parts.config.clone();
        if let Some((certificate, key)) = &credential.identity {
            config.auth_info.client_certificate = None;
            config.auth_info.client_key = None;
            config.auth_info.client_certificate_data = Some(STANDARD.encode(certificate));
            config.auth_info.client_key_data = Some(STANDARD.encode(key.reveal()).into());
        }
        let (route, connect) = (parts.route.clone(), self.timeouts.connect);
        let server = parts.site.server.clone();
        // The authorities of the system are read from the disk.
        let build = move || client::client(&config, route, connect);
        let client = tokio::task::spawn_blocking(build).await;
        let client = client.unwrap_or_else(|end| std::panic::resume_unwind(end.into_panic()));
        client.map_err(|source| AccessError::Certificates { server, source: Box::new(source) })
    }

    async fn parts(&self) -> Result<Parts, AccessError> {
        let options = KubeConfigOptions { context: self.context.clone(), ..Default::default() };
        let mut config = Config::from_custom_kubeconfig(self.without_proxies(), &options)
            .await
            .map_err(AccessError::kubeconfig)?;
        config.proxy_url = None;
        if let Some(server) = &self.server {
            config.cluster_url = server::address(server)?;
        }
        if let Some(name) = &self.tls_server_name {
            config.tls_server_name = Some(name.clone());
        }
        let Server { url, login } = Server::of(&config.cluster_url)?;
        config.cluster_url = url;
        let shown = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let no_credential = |reason| AccessError::NoCredential { server: shown.clone(), reason };
        let mut source = Source::take(&mut config.auth_info).map_err(no_credential)?;
        let route = self.route()?;
        let mut secrets = route.secrets();
        if let Some((user, password)) = login {
            secrets.push(password.clone());
            // As Go does: user info of a URL counts where there is nothing else.
            if matches!(source, Source::Nothing) {
                source = Source::Basic(user, password);
            }
        }
        self.tell(&secrets);
        let site = Site { server: shown, namespace: config.default_namespace.clone() };
        Ok(Parts { config, source, route, site, secrets })
    }

    /// The client library reads `HTTPS_PROXY` by itself where a kubeconfig names
    /// no proxy, and knows no exceptions: it is shown one, which is not used.
    fn without_proxies(&self) -> Kubeconfig {
        let mut kubeconfig = self.kubeconfig.clone();
        let clusters = kubeconfig.clusters.iter_mut().filter_map(|it| it.cluster.as_mut());
        clusters.for_each(|it| it.proxy_url = Some("http://unused.invalid".to_owned()));
        kubeconfig
    }

    /// Returns the way to the server.
    fn route(&self) -> Result<Route, AccessError> {
        let context = self.context().unwrap_or_default();
        let contexts = self.kubeconfig.contexts.iter().find(|it| it.name == context);
        let name = contexts.and_then(|it| Some(&it.context.as_ref()?.cluster));
        let cluster = self.kubeconfig.clusters.iter().find(|it| Some(&it.name) == name);
        let url = cluster.and_then(|it| it.cluster.as_ref()?.proxy_url.as_deref());
        match url.filter(|url| !url.is_empty()) {
            Some(url) => Ok(Route::Through(Proxy::parse("`proxy-url` of the kubeconfig", url)?)),
            None => Ok(Route::Environment(self.proxies.clone())),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Nothing that we ask takes so long, and a gate's look has 30 s in all.
            answer: Duration::from_secs(25),
            // A webhook may take 30 s, and several come one after the other. The
            // API gives up after 60 s, and says which of them was silent.
            change: Duration::from_secs(65),
            silence: Duration::from_secs(100),
        }
    }
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

/// Puts a relative path into a folder.
fn place(folder: &Path, file: &mut Option<String>) {
    if let Some(file) = file.as_mut().filter(|file| Path::new(file.as_str()).is_relative()) {
        *file = folder.join(file.as_str()).display().to_string();
    }
}
