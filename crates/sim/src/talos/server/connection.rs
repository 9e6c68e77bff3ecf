//! One connection, from its handshake to its end.

use std::{
    pin::pin,
    sync::{Arc, PoisonError},
    time::Duration,
};

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufWriter},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

use super::{
    Shared,
    gate::Gate,
    severed::{Budget, Severed},
};
use crate::talos::{Knobs, tls::Tls};

/// How long a peer may take to read the alert that ends its handshake.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves a connection until either side has had enough.
pub(super) async fn serve(shared: Arc<Shared>, stream: TcpStream) {
    let mut refuse = shared.refuse.subscribe();
    tokio::select! {
        _ = refuse.wait_for(|refuse| *refuse) => {}
        () = converse(&shared, stream) => {}
    }
}

async fn converse(shared: &Shared, stream: TcpStream) {
    let stream = severed(stream, &shared.machine.knobs.borrow());
    let tls = shared.tls.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(stream) = shake_hands(&tls, stream).await else { return };
    let roles = tls.roles(stream.get_ref().1.peer_certificates());
    let cut = CancellationToken::new();
    let gate = Gate::new(shared, tls.admission, roles, cut.clone());
    let service = hyper::service::service_fn(move |request| gate.clone().answer(request));
    // An answer is several frames: they go out together.
    let stream = TokioIo::new(BufWriter::new(stream));
    let served = http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service);
    let mut served = pin!(served);
    let mut stopping = false;
    loop {
        tokio::select! {
            _ = served.as_mut() => return,
            () = cut.cancelled() => return,
            () = shared.stop.cancelled(), if !stopping => {
                stopping = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Returns the stream, which breaks where it is to break.
fn severed(stream: TcpStream, knobs: &Knobs) -> Severed {
    Severed::new(stream, Budget(knobs.cut_after_bytes), Budget(knobs.cut_after_received))
}

/// Returns the encrypted stream, where the peer speaks HTTP/2 and is let in.
async fn shake_hands(tls: &Tls, stream: Severed) -> Option<TlsStream<Severed>> {
    let acceptor = TlsAcceptor::from(Arc::clone(&tls.config));
    match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            http2.then_some(stream)
        }
        Err((_, stream)) => {
            let _ = tokio::time::timeout(LAST_WORDS, part(stream)).await;
            None
        }
    }
}

/// Lets the peer read the alert: closing a socket with unread bytes resets the
/// connection, and the alert would be lost.
async fn part(mut stream: Severed) {
    let _ = stream.shutdown().await;
    let mut unread = [0; 1024];
    while matches!(stream.read(&mut unread).await, Ok(1..)) {}
}
