//! Dialling, step by step, so that the step that failed can be named.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// More than the first frames of any server of HTTP/2.
const FIRST: usize = 4096;

/// When a silent link is asked whether it is still there, how often, and how
/// often in vain before it counts as dead. This is asked of the kernel and not
/// by pings of HTTP/2: the library of Talos's servers ends connections whose
/// client pings more often than every five minutes.
const SILENT: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(5);
const IN_VAIN: u32 = 3;

/// A connection on which the node has spoken, and what it said first.
pub(crate) type Dialled = (TlsStream<TcpStream>, Vec<u8>);

/// How far a connection came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nobody has answered yet.
    Tcp,
    /// Somebody has, and TLS is not agreed upon.
    Tls,
    /// It is, and the node has not spoken.
    First,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Something went wrong.
    At(Step, io::Error),
    /// Nothing came in time.
    Late(Step),
}

/// Connects as far as TCP goes. Whoever needs long to make up what to say in
/// TLS does so after that: a node that starts refuses many connections.
pub(crate) async fn reach(address: SocketAddr, until: Instant) -> Result<TcpStream, Failed> {
    let tcp = by(until, Step::Tcp, TcpStream::connect(address)).await?;
    // Small frames matter more here than large ones.
    let settle = || {
        tcp.set_nodelay(true)?;
        let alive = TcpKeepalive::new().with_time(SILENT).with_interval(AGAIN);
        SockRef::from(&tcp).set_tcp_keepalive(&alive.with_retries(IN_VAIN))
    };
    settle().map_err(|error| Failed::At(Step::Tcp, error))?;
    Ok(tcp)
}

/// Agrees upon TLS, and waits until the node speaks.
pub(crate) async fn listen(
    tcp: TcpStream,
    address: SocketAddr,
    config: ClientConfig,
    until: Instant,
) -> Result<Dialled, Failed> {
    let mut stream = shake_hands(tcp, address, config, until).await?;
    let mut first = vec![0; FIRST];
    let length = by(until, Step::First, stream.read(&mut first)).await?;
    if length == 0 {
        return Err(Failed::At(Step::First, io::ErrorKind::UnexpectedEof.into()));
    }
    first.truncate(length);
    Ok((stream, first))
}

/// Agrees upon TLS.
pub(crate) async fn shake_hands(
    tcp: TcpStream,
    address: SocketAddr,
    config: ClientConfig,
    until: Instant,
) -> Result<TlsStream<TcpStream>, Failed> {
    let name = ServerName::IpAddress(address.ip().into());
    by(until, Step::Tls, TlsConnector::from(Arc::new(config)).connect(name, tcp)).await
}

async fn by<T>(
    until: Instant,
    step: Step,
    attempt: impl Future<Output = io::Result<T>>,
) -> Result<T, Failed> {
    match timeout_at(until, attempt).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Failed::At(step, error)),
        Err(_) => Err(Failed::Late(step)),
    }
}
