//! The server of a node's API: a listener whose TLS may change under it.

mod connection;
mod gate;
mod severed;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{net::TcpListener, sync::watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::service::Routes;

pub(super) use gate::Caller;

use super::{node::Machine, tls::Tls};

/// How long connections may take to come to an end, in real time: a peer that
/// reads nothing would keep them open for ever.
const DRAIN: Duration = Duration::from_secs(1);

/// A server that listens until it is stopped or dropped.
pub(super) struct ApiServer {
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

/// What the listener and its connections share.
struct Shared {
    machine: Arc<Machine>,
    routes: Routes,
    tls: Mutex<Tls>,
    /// Ends the listener, and the connections once their answers are out.
    stop: CancellationToken,
    /// Ends everything at once.
    kill: CancellationToken,
    /// Whether connections are broken off as soon as they are made.
    refuse: watch::Sender<bool>,
}

impl ApiServer {
    /// Accepts connections from now on.
    pub(super) fn start(
        listener: TcpListener,
        tls: Tls,
        routes: Routes,
        machine: Arc<Machine>,
    ) -> Self {
        let shared = Arc::new(Shared {
            machine,
            routes,
            tls: Mutex::new(tls),
            stop: CancellationToken::new(),
            kill: CancellationToken::new(),
            refuse: watch::Sender::new(false),
        });
        let tasks = TaskTracker::new();
        tasks.spawn(accept(listener, Arc::clone(&shared), tasks.clone()));
        Self { shared, tasks }
    }

    /// Gives new connections another certificate or admission.
    pub(super) fn present(&self, tls: Tls) {
        *self.shared.tls.lock().unwrap_or_else(PoisonError::into_inner) = tls;
    }

    /// Breaks connections off, or lets them be.
    pub(super) fn refuse(&self, refuse: bool) {
        self.shared.refuse.send_replace(refuse);
    }

    /// Closes the port, lets answers go out that are on their way, and ends.
    pub(super) async fn stop(self) {
        self.shared.stop.cancel();
        self.tasks.close();
        // Whatever is left after that is cut off when `self` is dropped.
        let _ = tokio::time::timeout(DRAIN, self.tasks.wait()).await;
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        self.shared.kill.cancel();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, tasks: TaskTracker) {
    while let Some(accepted) = shared.stop.run_until_cancelled(listener.accept()).await {
        // A connection that broke before it was accepted is no reason to stop.
        let Ok((stream, _)) = accepted else { continue };
        // Small frames wait for nobody, as with every gRPC server.
        let _ = stream.set_nodelay(true);
        let connection = connection::serve(Arc::clone(&shared), stream);
        let kill = shared.kill.clone();
        tasks.spawn(async move { kill.run_until_cancelled(connection).await });
    }
}
