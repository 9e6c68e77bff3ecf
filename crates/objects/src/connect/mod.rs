//! How to reach an API: from a kubeconfig, or from certificates.
//!
//! Requests go over HTTP/1.1, on as many connections as there are requests at
//! the same time. Against a real API server, 1,000 applies with 32 in flight
//! took as long over 32 connections as over one of HTTP/2 (medians 2.3 and
//! 2.3 s of six each, on a machine that was never quiet), and a connection that
//! breaks takes one request with it instead of all.

mod error;

pub use error::AccessError;

use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::Config;
use kube::client::ClientBuilder;
use kube::config::{AuthInfo, ExecInteractiveMode, KubeConfigOptions, Kubeconfig};
use serde_json::json;

use crate::Cluster;
use crate::cluster::Site;
use crate::error::command_of;
use crate::line::Line;

/// How to reach the API of a cluster, and as whom.
#[derive(Clone, Debug)]
pub struct Access {
    kubeconfig: Kubeconfig,
    context: Option<String>,
    server: Option<String>,
    tls_server_name: Option<String>,
    timeouts: Timeouts,
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
            .map_err(|error| AccessError::syntax(&error))?;
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

    fn new(kubeconfig: Kubeconfig, context: Option<String>) -> Self {
        let timeouts = Timeouts::default();
        Self { kubeconfig, context, server: None, tls_server_name: None, timeouts }
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

    /// Makes a client. It says nothing yet: the first request connects.
    pub async fn connect(&self) -> Result<Cluster, AccessError> {
        let (client, site) = self.client().await?;
        let access = self.has_fresh_tokens().then(|| self.clone());
        Ok(Cluster::new(Line::new(client, access), site, self.timeouts))
    }

    /// Makes a client of the client library, with what is to be shown now.
    pub(crate) async fn client(&self) -> Result<(kube::Client, Site), AccessError> {
        let config = self.config().await?;
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let namespace = config.default_namespace.clone();
        let command = command_of(&config.auth_info);
        let site = Site { server, namespace, command };
        // A command for a token is waited for, which may take until somebody has
        // typed something: meanwhile others, such as who hears signals, go on.
        let make = move || match ClientBuilder::try_from(config) {
            Ok(builder) => Ok((builder.build(), site)),
            Err(error) => Err(AccessError::of_client(&site.server, &site.command, error)),
        };
        let ended = tokio::task::spawn_blocking(make).await;
        ended.unwrap_or_else(|stopped| std::panic::resume_unwind(stopped.into_panic()))
    }

    /// Returns whether another token may come from where the first one did.
    fn has_fresh_tokens(&self) -> bool {
        let users = self.kubeconfig.auth_infos.iter().filter_map(|it| it.auth_info.as_ref());
        let mut users = users.filter(|user| user.token.is_none());
        users.any(|user| user.token_file.is_some() || user.exec.is_some())
    }

    async fn config(&self) -> Result<Config, AccessError> {
        let options = KubeConfigOptions { context: self.context.clone(), ..Default::default() };
        let mut config = Config::from_custom_kubeconfig(self.kubeconfig.clone(), &options)
            .await
            .map_err(AccessError::kubeconfig)?;
        trim_token(&mut config.auth_info);
        if let Some(server) = &self.server {
            config.cluster_url = address(server)?;
        }
        if let Some(name) = &self.tls_server_name {
            config.tls_server_name = Some(name.clone());
        }
        config.connect_timeout = Some(self.timeouts.connect);
        // Answers have our own timeout, which knows a watch from other requests.
        config.read_timeout = None;
        // Only the caller knows whether a request may be sent again.
        config.default_retry = false;
        Ok(config)
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

/// Puts a relative path into a folder.
fn place(folder: &Path, file: &mut Option<String>) {
    if let Some(file) = file.as_mut().filter(|file| Path::new(file.as_str()).is_relative()) {
        *file = folder.join(file.as_str()).display().to_string();
    }
}

/// Editors end a file with a new line, which cannot be sent. The client library
/// reads the file anew every minute, and would trip over it each time; so it is
/// read here, and again once the API does not take the token any more.
fn trim_token(user: &mut AuthInfo) {
    let Some(file) = user.token_file.as_ref().filter(|_| user.token.is_none()) else { return };
    let Ok(text) = std::fs::read_to_string(file) else { return };
    if text.trim() != text {
        user.token = Some(text.trim().to_owned().into());
        user.token_file = None;
    }
}

fn address(server: &str) -> Result<http::Uri, AccessError> {
    let uri: Option<http::Uri> = server.parse().ok();
    uri.filter(|uri| uri.scheme().is_some() && uri.host().is_some())
        .ok_or_else(|| AccessError::Address(server.to_owned()))
}
