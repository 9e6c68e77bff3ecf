//! Forwarding connections to healthy backends.

use std::net::SocketAddr;
use std::sync::Weak;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use super::Health;
use super::front::Front;
use crate::hetzner::desk::Desk;
use crate::hetzner::project::Project;
use crate::wire;

/// How often a port that is still taken is tried again.
const BIND_AGAIN: Duration = Duration::from_millis(100);

/// How long a client that is turned away may take to notice.
const FAREWELL: Duration = Duration::from_secs(1);

/// Accepts connections and forwards each to the next healthy backend, until
/// the task is dropped.
pub(super) async fn run(front: Front, desk: Weak<Desk>) {
    let listener = bind(front.listens_on()).await;
    // The set is dropped with this task, and the connections with the set.
    let mut connections = JoinSet::new();
    for turn in 0.. {
        let Ok((client, _)) = listener.accept().await else { continue };
        let Some(desk) = desk.upgrade() else { return };
        let backend = desk.look(|project| next_healthy(project, &front, turn));
        connections.spawn(async move {
            match backend {
                Some(backend) => forward(client, backend).await,
                None => turn_away(client).await,
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn bind(address: SocketAddr) -> TcpListener {
    let mut again = interval(BIND_AGAIN);
    loop {
        again.tick().await;
        if let Ok(listener) = wire::listen(address) {
            return listener;
        }
    }
}

/// Returns where the connection of this turn goes.
fn next_healthy(project: &Project, front: &Front, turn: usize) -> Option<SocketAddr> {
    let port = front.service.listen_port;
    let mut backends = project.load_balancers.find(front.balancer)?.backends(project);
    backends.retain(|it| project.healths.of(front.balancer, port, it.server) == Health::Healthy);
    let backend = backends.get(turn % backends.len().max(1))?;
    Some((backend.address, front.service.destination_port).into())
}

async fn forward(mut client: TcpStream, backend: SocketAddr) {
    match TcpStream::connect(backend).await {
        // Either side may go away at any time; that ends the connection.
        Ok(mut backend) => drop(copy_bidirectional(&mut client, &mut backend).await),
        Err(_) => turn_away(client).await,
    }
}

/// Closes so that the client reads an end of file. Closing with bytes unread
/// would send a reset instead.
async fn turn_away(mut client: TcpStream) {
    let farewell = async {
        client.shutdown().await?;
        let mut bin = [0; 1024];
        while client.read(&mut bin).await? > 0 {}
        Ok::<(), std::io::Error>(())
    };
    // A client that will not leave is cut off, which ends it just as well.
    drop(timeout(FAREWELL, farewell).await);
}
