//! Health checks: real connections, real requests.

use std::future::pending;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsConnector;

use super::Failure;
use super::front::Front;
use crate::hetzner::desk::Desk;
use crate::hetzner::knobs::HealthChecks;
use crate::hetzner::resources::{HealthCheck, HttpCheck};
use crate::wire::trusting_anybody;

/// Checks are never closer to each other, however fast simulated time passes.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(50);

/// How much of a body is searched for the expected text.
const BODY_LIMIT: usize = 64 * 1024;

type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Checks all backends again and again, until the task is dropped.
pub(super) async fn run(front: Front, desk: Weak<Desk>) {
    let check = &front.service.health_check;
    let simulated = Duration::from_secs(check.interval.into());
    let Some(tempo) = desk.upgrade().map(|desk| desk.look(|project| project.tempo)) else { return };
    let mut ticks = interval(tempo.real(simulated).max(SHORTEST_INTERVAL));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let tls = TlsConnector::from(Arc::new(trusting_anybody()));
    loop {
        ticks.tick().await;
        let Some((mode, backends)) = desk.upgrade().map(|desk| {
            desk.look(|project| {
                let balancer = project.load_balancers.find(front.balancer);
                let backends = balancer.map(|it| it.backends(project)).unwrap_or_default();
                (project.knobs.health_checks.clone(), backends)
            })
        }) else {
            return;
        };
        let checks = backends.iter().map(|it| examine(it.address, check, &mode, &tls));
        let results = join_all(checks).await;
        let Some(desk) = desk.upgrade() else { return };
        desk.touch(|project| {
            for (backend, found) in backends.iter().zip(results) {
                let target = (front.balancer, front.service.listen_port, backend.server);
                if project.servers.find(backend.server).is_some() {
                    project.healths.note(target, found, check.retries);
                }
            }
        });
    }
}

async fn examine(
    address: Ipv4Addr,
    check: &HealthCheck,
    mode: &HealthChecks,
    tls: &TlsConnector,
) -> Result<(), Failure> {
    let http = match (mode, &check.http) {
        (HealthChecks::NeverHealthy, _) => return Err(Failure::NoConnection),
        (HealthChecks::AskFor(path), Some(http)) => {
            Some(HttpCheck { path: path.clone(), ..http.clone() })
        }
        (_, http) => http.clone(),
    };
    // The patience with one request is real: speed scales waits, not sockets.
    let patience = Duration::from_secs(check.timeout.into());
    let connecting = timeout(patience, TcpStream::connect((address, check.port))).await;
    let connected = connecting.map_err(|_| Failure::NoConnectionInTime)?;
    let stream = connected.map_err(|_| Failure::NoConnection)?;
    let Some(http) = http else { return Ok(()) };
    let asking = async {
        if !http.tls {
            return ask(stream, &http).await;
        }
        let name = ServerName::IpAddress(IpAddr::V4(address).into());
        let stream = tls.connect(name, stream).await.map_err(|_| Failure::Other)?;
        ask(stream, &http).await
    };
    timeout(patience, asking).await.unwrap_or(Err(Failure::NoAnswerInTime))
}

/// Asks and judges the answer.
async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    http: &HttpCheck,
) -> Result<(), Failure> {
    let (status, body) = exchange(stream, http).await.map_err(|_| Failure::Other)?;
    if !http.status_codes.iter().any(|pattern| fits(pattern, &status.to_string())) {
        return Err(Failure::Status(status));
    }
    let told = String::from_utf8_lossy(&body).contains(&http.response);
    if told { Ok(()) } else { Err(Failure::Content(status)) }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    http: &HttpCheck,
) -> Result<(u16, Bytes), Problem> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let host = http.domain.as_deref().unwrap_or("localhost");
    let request = Request::get(&http.path).header(header::HOST, host).body(Empty::<Bytes>::new())?;
    let answered = async {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), BODY_LIMIT).collect().await?.to_bytes();
        Ok((status, body))
    };
    // The connection makes no progress unless somebody drives it; it may end
    // before the last of the answer is read.
    let driven = async {
        let _ = connection.await;
        pending().await
    };
    tokio::select! {
        answer = answered => answer,
        never = driven => never,
    }
}

/// Says whether a status is one of a pattern such as `2??`.
fn fits(pattern: &str, status: &str) -> bool {
    pattern.len() == status.len()
        && pattern
            .bytes()
            .zip(status.bytes())
            .all(|(wanted, digit)| wanted == b'?' || wanted == digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_fit_patterns() {
        assert!(fits("2??", "204"));
        assert!(fits("401", "401"));
        assert!(!fits("2??", "401"));
        assert!(!fits("2?", "200"));
    }
}
