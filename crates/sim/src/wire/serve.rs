//! Serving an axum router on a listener, with or without TLS.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// A running server; dropping it stops it and cuts its connections.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    task: AbortHandle,
}

/// An answer that gets lost: its connection is cut without a byte of it.
#[derive(Clone, Copy, Debug)]
pub struct LostAnswer;

impl Serving {
    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl IntoResponse for LostAnswer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(self);
        response
    }
}

/// Serves a router on a listener until the handle is dropped.
pub fn serve(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    router: Router,
) -> io::Result<Serving> {
    let address = listener.local_addr()?;
    let tls = tls.map(TlsAcceptor::from);
    let task = tokio::spawn(async move {
        // The set is dropped with this task, and the connections with the set.
        let mut connections = JoinSet::new();
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                connections.spawn(connection(stream, tls.clone(), router.clone()));
            }
            while connections.try_join_next().is_some() {}
        }
    });
    Ok(Serving { address, task: task.abort_handle() })
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router) {
    // A refused handshake is the client's story; there is nobody here to tell.
    match tls {
        None => answer(stream, router).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                answer(stream, router).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let cut = Arc::new(Notify::new());
    let service = service_fn(|request: http::Request<Incoming>| {
        let (router, cut) = (router.clone(), Arc::clone(&cut));
        async move {
            let answered = router.oneshot(request.map(Body::new)).await;
            if answered.as_ref().is_ok_and(is_lost) {
                cut.notify_one();
                pending::<()>().await;
            }
            answered
        }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    let served = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::select! {
        _ended = served => {}
        () = cut.notified() => {}
    }
}

fn is_lost(response: &Response) -> bool {
    response.extensions().get::<LostAnswer>().is_some()
}
