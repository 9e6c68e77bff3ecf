//! Connecting to a node.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use events::Arrival;
use rustls::ClientConfig;
use tokio::time::Instant;
use tonic::{Code, Response, Status};

use super::{ClientError, Deadlines, Reason};
use crate::credentials::Identity;
use crate::pki::{Certificate, SpkiHash};
use crate::wire::{self, Asked, Dialled, Fate, Line, Shown, Stream};

/// A node of which the address is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The address and port of its API.
    pub address: SocketAddr,
    /// How long to wait for it.
    pub deadlines: Deadlines,
}

/// One connection to a node.
#[derive(Clone)]
pub struct Client {
    pub(super) node: Node,
    pub(super) line: Line,
    fate: Fate,
    certificate: Arc<Certificate>,
}

/// That a node lets us administer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminProof {
    /// How often the node's config has changed, as the node counts it.
    pub config_version: String,
    /// The certificate that the node showed.
    pub certificate: Certificate,
}

// === impl Node ===

impl Node {
    /// The port of the Talos API.
    pub const PORT: u16 = 50000;

    /// A node with the usual deadlines.
    pub fn at(address: SocketAddr) -> Self {
        Self { address, deadlines: Deadlines::default() }
    }

    /// Connects to a node in maintenance mode, whose certificate nobody has
    /// signed. Its fingerprint is in [`Client::certificate`]; with a `pin`,
    /// only the node with that fingerprint is spoken to.
    pub async fn maintenance(&self, pin: Option<SpkiHash>) -> Result<Client, ClientError> {
        self.connect(|shown| Ok(wire::anonymous(shown, pin, Asked::default())), pin).await
    }

    /// Connects to a node that has its config, as `identity`.
    pub async fn authenticated(&self, identity: &Identity) -> Result<Client, ClientError> {
        self.connect(|shown| wire::authenticated(shown, identity), None).await
    }

    /// Proves that the node has taken its config and lets `identity`
    /// administer it: by a question that only administrators may ask, on a new
    /// connection.
    pub async fn prove_admin(&self, identity: &Identity) -> Result<AdminProof, ClientError> {
        let client = self.authenticated(identity).await?;
        let config_version = client.config_version().await?;
        Ok(AdminProof { config_version, certificate: client.certificate().clone() })
    }

    async fn connect(
        &self,
        tls: impl FnOnce(Shown) -> Result<ClientConfig, rustls::Error>,
        pin: Option<SpkiHash>,
    ) -> Result<Client, ClientError> {
        let (shown, until) = (Shown::default(), Instant::now() + self.deadlines.connect);
        let failed = |failed| self.unconnected(Reason::of_failed(&failed, &shown, pin));
        let tcp = wire::reach(self.address, until).await.map_err(failed)?;
        let config = tls(shown.clone())
            .map_err(|error| self.unconnected(Reason::Credentials(error.to_string())))?;
        let dialled = wire::listen(tcp, self.address, config, until).await.map_err(failed)?;
        let certificate = shown.leaf().ok_or_else(|| self.unconnected(Reason::NotTls))?;
        self.client(dialled, certificate).await
    }

    async fn client(
        &self,
        (stream, first): Dialled,
        certificate: Certificate,
    ) -> Result<Client, ClientError> {
        let stream = Stream::new(stream, first);
        let fate = stream.fate();
        let line = Line::over(stream, self.address)
            .await
            .map_err(|_| self.unconnected(fate.now().map_or(Reason::Closed, Reason::of_ending)))?;
        Ok(Client { node: *self, line, fate, certificate: Arc::new(certificate) })
    }

    fn unconnected(&self, reason: Reason) -> ClientError {
        let arrival = Arrival::No;
        ClientError { attempt: "connect", node: self.address, arrival, reason }
    }
}

// === impl Client ===

impl Client {
    /// Returns the certificate that the node showed.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the address of the node.
    pub fn address(&self) -> SocketAddr {
        self.node.address
    }

    /// Waits until the node has ended this connection, and says whether it has
    /// within `patience`. A node that takes its config ends those of
    /// maintenance mode as it restarts its API: whoever waits for that need
    /// not knock again and again meanwhile.
    pub async fn ends(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.fate.end()).await.is_ok()
    }

    /// Fails where the connection has ended before anything was sent on it.
    pub(super) fn still_there(&self, attempt: &'static str) -> Result<(), ClientError> {
        match self.fate.now() {
            None => Ok(()),
            Some(ending) => Err(ClientError {
                arrival: Arrival::No,
                ..self.error(attempt, Reason::of_ending(ending))
            }),
        }
    }

    /// Returns the body of an answer, or why there is none.
    pub(super) fn answer<T>(&self, answer: Result<Response<T>, Status>) -> Result<T, Reason> {
        answer.map(Response::into_inner).map_err(|status| self.reason(&status))
    }

    /// Once the connection is over, the library makes up statuses of its own:
    /// with a source, or `Unavailable` because it cannot connect anew.
    pub(super) fn reason(&self, status: &Status) -> Reason {
        let made_up =
            status.code() == Code::Unavailable || std::error::Error::source(status).is_some();
        match self.fate.now() {
            Some(ending) if made_up => Reason::of_ending(ending),
            _ => Reason::of_status(status.code(), status.message()),
        }
    }

    pub(super) fn error(&self, attempt: &'static str, reason: Reason) -> ClientError {
        let arrival = if reason.is_refusal() { Arrival::No } else { Arrival::Maybe };
        ClientError { attempt, node: self.node.address, arrival, reason }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spki = self.certificate.spki();
        f.debug_struct("Client")
            .field("node", &self.node)
            .field("spki", &spki)
            .finish_non_exhaustive()
    }
}
