//! Calls over one connection.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::USER_AGENT;
use http::uri::{Authority, Parts, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite, BufWriter};
use tonic::body::Body;
use tower::Service;

/// How we call ourselves in the log of a node.
const NAME: HeaderValue =
    HeaderValue::from_static(concat!("seaworthy/", env!("CARGO_PKG_VERSION")));

/// One connection to a node, for calls.
///
/// The channel of the gRPC library makes a connection anew that has ended.
/// Whoever holds this one must learn that it has.
#[derive(Clone)]
pub(crate) struct Line {
    requests: SendRequest<Body>,
    node: Authority,
}

impl Line {
    /// Speaks HTTP/2 on a stream. It ends with the stream, or with the last
    /// that holds it.
    pub(crate) async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        address: SocketAddr,
    ) -> Result<Self, hyper::Error> {
        // A call is several frames: they go out together.
        let stream = TokioIo::new(BufWriter::new(stream));
        let (requests, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        // How it ends, the stream remembers.
        tokio::spawn(connection);
        let node = address.to_string();
        let node = node.parse().expect("an address with a port is an authority");
        Ok(Self { requests, node })
    }

    fn addressed(&self, request: &mut Request<Body>) {
        let mut parts = Parts::from(std::mem::take(request.uri_mut()));
        parts.scheme = Some(Scheme::HTTPS);
        parts.authority = Some(self.node.clone());
        *request.uri_mut() = Uri::from_parts(parts).expect("the path of a call is a path");
        request.headers_mut().insert(USER_AGENT, NAME);
    }
}

impl Service<Request<Body>> for Line {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    /// Whether the connection has ended is an answer to a call: the gRPC
    /// library makes a mere text of what is said here.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        self.addressed(&mut request);
        let mut requests = self.requests.clone();
        Box::pin(async move {
            requests.ready().await?;
            requests.send_request(request).await
        })
    }
}
