//! Passing requests on, or failing to, as the rules say.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::json;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

use super::tls::{Client, Tls};
use super::{Class, Desk, Fault};

type Answer = BoxBody<Bytes, Failure>;

/// Why a client gets no answer, or only half of one.
#[derive(Debug, Error)]
enum Failure {
    #[error("the proxy was told to {0}")]
    AsTold(&'static str),
    #[error("could not connect to the server")]
    Connect(#[from] io::Error),
    #[error("could not pass the request on")]
    Forward(#[from] hyper::Error),
    #[error("could not write the request anew")]
    Rewrite(#[from] hyper::http::Error),
    #[error("could not say who asks")]
    Vouch(#[from] InvalidHeaderValue),
}

/// Headers that are between two neighbours, and not for passing on.
const HOP_BY_HOP: [HeaderName; 6] = [
    header::CONNECTION,
    header::HOST,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

const REMOTE_USER: HeaderName = HeaderName::from_static("x-remote-user");
const REMOTE_GROUP: HeaderName = HeaderName::from_static("x-remote-group");

/// One client's connection, and the one to the server that goes with it.
struct Connection {
    tls: Tls,
    desk: Arc<Desk>,
    client: Option<Client>,
    upstream: Mutex<Option<SendRequest<Incoming>>>,
}

pub(super) async fn serve(listener: TcpListener, tls: Tls, desk: Arc<Desk>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(attend(stream, tls.clone(), Arc::clone(&desk)));
    }
}

/// Serves one connection to its end; whatever ends it is the client's to see.
async fn attend(stream: TcpStream, tls: Tls, desk: Arc<Desk>) {
    let Ok(stream) = tls.acceptor.clone().accept(stream).await else {
        return;
    };
    let certificates = stream.get_ref().1.peer_certificates();
    let client = certificates.and_then(|chain| Client::of(chain.first()?));
    let connection = Arc::new(Connection { tls, desk, client, upstream: Mutex::default() });
    let service = service_fn(move |request| {
        let connection = Arc::clone(&connection);
        async move { connection.answer(request).await }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

impl Connection {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Answer>, Failure> {
        let path = request.uri().path();
        let query = request.uri().query().unwrap_or_default();
        let class = Class::of(request.method().as_str(), path, query);
        if request.headers().contains_key(header::UPGRADE) {
            return Ok(refusal(501, "the proxy passes no connection upgrades on"));
        }
        match self.desk.admit(&class, path) {
            None => self.forward(request).await,
            Some(Fault::Status(code)) => Ok(refusal(code, "the proxy was told to answer this")),
            Some(Fault::Throttle { retry_after }) => Ok(throttled(retry_after)),
            Some(Fault::Delay(delay)) => {
                tokio::time::sleep(delay).await;
                self.forward(request).await
            }
            Some(Fault::Drop) => Err(Failure::AsTold("drop this request")),
            Some(Fault::LoseAnswer) => {
                self.forward(request).await?.into_body().collect().await?;
                Err(Failure::AsTold("lose this answer"))
            }
            Some(Fault::CutAfter(left)) => {
                let answer = self.forward(request).await?;
                Ok(answer.map(|body| Cut { body, left, sent: false }.boxed()))
            }
        }
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Answer>, Failure> {
        let (mut parts, body) = request.into_parts();
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        parts.uri = Uri::builder()
            .scheme("https")
            .authority(self.tls.upstream())
            .path_and_query(target)
            .build()?;
        parts.version = Version::HTTP_2;
        for name in &HOP_BY_HOP {
            parts.headers.remove(name);
        }
        self.vouch(&mut parts.headers)?;
        let answer = self.upstream().await?.send_request(Request::from_parts(parts, body)).await?;
        let mut answer = answer.map(|body| body.map_err(Failure::from).boxed());
        // The server adapts it to what the client speaks.
        *answer.version_mut() = Version::HTTP_11;
        Ok(answer)
    }

    /// Says who asks, in the headers that the server believes from us, and
    /// never lets a client write them itself.
    fn vouch(&self, headers: &mut HeaderMap) -> Result<(), Failure> {
        let claimed: Vec<HeaderName> =
            headers.keys().filter(|name| name.as_str().starts_with("x-remote-")).cloned().collect();
        for name in claimed {
            headers.remove(name);
        }
        if let Some(client) = &self.client {
            headers.insert(REMOTE_USER, HeaderValue::from_str(&client.user)?);
            for group in &client.groups {
                headers.append(REMOTE_GROUP, HeaderValue::from_str(group)?);
            }
        }
        Ok(())
    }

    /// Returns the connection to the server, made anew if it broke.
    async fn upstream(&self) -> Result<SendRequest<Incoming>, Failure> {
        let mut upstream = self.upstream.lock().await;
        if let Some(sender) = upstream.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        let stream = self.tls.connect(self.client.as_ref()).await?;
        let (sender, driver) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        Ok(upstream.insert(sender).clone())
    }
}

/// An answer in the shape of Kubernetes' own.
fn refusal(code: u16, message: &str) -> Response<Answer> {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason(code), "code": status.as_u16(),
    });
    let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {});
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.boxed())
        .expect("all parts are valid headers")
}

fn throttled(retry_after: Duration) -> Response<Answer> {
    let mut answer = refusal(429, "the proxy was told to throttle this");
    answer.headers_mut().insert(header::RETRY_AFTER, retry_after.as_secs().into());
    answer
}

fn reason(code: u16) -> &'static str {
    match code {
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}

/// A body that breaks off, but only after what came before was sent.
struct Cut {
    body: Answer,
    left: usize,
    sent: bool,
}

impl Body for Cut {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.left == 0 && !self.sent {
            // The server sends what it holds when a body has nothing ready; an
            // error at once would make it throw that away.
            self.sent = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.left == 0 {
            return Poll::Ready(Some(Err(Failure::AsTold("cut this answer"))));
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(Ok(frame)) = frame else {
            return Poll::Ready(frame);
        };
        let Ok(mut data) = frame.into_data() else {
            return Poll::Ready(None);
        };
        data.truncate(self.left);
        self.left -= data.len();
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}
