//! Connecting by TCP, directly or through a proxy.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use events::io_reason;
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tower::Service;

use crate::proxy::{Protocol, Proxy, connect, place, socks};
use crate::{DialError, ProxyProblem, Route};

/// Connects to the servers of URLs. TLS is for whoever wraps it.
#[derive(Clone, Debug)]
pub struct Dialer {
    route: Route,
    within: Duration,
}

impl Dialer {
    /// Connects by a route, within a time that the proxy's answer counts to.
    pub fn new(route: Route, within: Duration) -> Self {
        Self { route, within }
    }

    async fn dial(self, server: Uri) -> Result<TcpStream, DialError> {
        let https = server.scheme_str() != Some("http");
        let host = server.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = server.port_u16().unwrap_or(if https { 443 } else { 80 });
        let until = Instant::now() + self.within;
        match self.route.to(https, host, port) {
            None => self.tcp(host, port, until).await,
            Some(proxy) => self.through(proxy, host, port, until).await,
        }
    }

    async fn through(
        &self,
        proxy: &Proxy,
        host: &str,
        port: u16,
        until: Instant,
    ) -> Result<TcpStream, DialError> {
        let failed = |problem| DialError::Proxy { proxy: proxy.place(), problem };
        let (proxy_host, proxy_port) = proxy.address();
        let reached = self.tcp(proxy_host, proxy_port, until).await;
        let mut stream =
            reached.map_err(|error| failed(ProxyProblem::Unreachable(Box::new(error))))?;
        let target = place(host, port);
        let tunnel = async {
            match proxy.protocol {
                Protocol::Http => connect::tunnel(&mut stream, proxy, &target).await,
                Protocol::Socks5 => socks::tunnel(&mut stream, proxy, host, port).await,
            }
        };
        match timeout_at(until, tunnel).await {
            Ok(done) => done.map_err(failed)?,
            Err(_) => return Err(failed(ProxyProblem::Garbled("no answer in time"))),
        }
        Ok(stream)
    }

    /// Tries every address of a name, each for its share of the time.
    async fn tcp(&self, host: &str, port: u16, until: Instant) -> Result<TcpStream, DialError> {
        let at = place(host, port);
        let late = || DialError::TimedOut { at: at.clone(), after: self.within };
        let unnamed = |reason| DialError::Name { host: host.to_owned(), reason };
        let found = timeout_at(until, lookup_host((host, port))).await.map_err(|_| late())?;
        let found: Vec<SocketAddr> = match found {
            Ok(found) => found.collect(),
            Err(error) => return Err(unresolved(&at, host, &error)),
        };
        let mut last = unnamed("it has no address".to_owned());
        let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
        for (tried, address) in (0..count).zip(found) {
            let left = until.saturating_duration_since(Instant::now()) / (count - tried);
            match timeout_at(Instant::now() + left, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true).map_err(|error| DialError::of(&at, &error))?;
                    return Ok(stream);
                }
                Ok(Err(error)) => last = DialError::of(&at, &error),
                Err(_) => last = late(),
            }
        }
        Err(last)
    }
}

/// A resolver that has run out of files has not said that there is no such name.
fn unresolved(at: &str, host: &str, error: &io::Error) -> DialError {
    match error.raw_os_error() {
        Some(_) => DialError::of(at, error),
        None => DialError::Name { host: host.to_owned(), reason: resolver_words(error) },
    }
}

/// The system's resolver says `failed to lookup address information: …`.
fn resolver_words(error: &io::Error) -> String {
    let words = io_reason(error);
    match words.rsplit_once(": ") {
        Some((_, reason)) => reason.to_lowercase(),
        None => words,
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = DialError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move { dialer.dial(server).await.map(TokioIo::new) })
    }
}
