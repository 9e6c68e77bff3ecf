//! What goes back to a client.

use std::convert::Infallible;

use bytes::Bytes;
use futures::Stream;
use http::{Response, StatusCode, header};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::Value;

use crate::kube::refusal::Refusal;

/// A body of any sort.
pub(super) type Body = BoxBody<Bytes, Infallible>;

/// Writes a document.
pub(super) fn json(code: u16, value: &Value) -> Response<Body> {
    with_type(code, "application/json", value.to_string())
}

/// Writes a document of another type.
pub(super) fn with_type(code: u16, kind: &str, text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if let Ok(kind) = kind.parse() {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache, private"));
    response
}

/// Writes a line for people.
pub(super) fn text(code: u16, text: impl Into<String>) -> Response<Body> {
    with_type(code, "text/plain; charset=utf-8", text.into())
}

/// Writes a refusal.
pub(super) fn refusal(refusal: &Refusal) -> Response<Body> {
    json(refusal.code, &refusal.body())
}

/// Writes documents as they come.
pub(super) fn lines(
    documents: impl Stream<Item = Value> + Send + Sync + 'static,
) -> Response<Body> {
    use futures::StreamExt;
    let frames = documents.map(|document| Ok(Frame::data(Bytes::from(format!("{document}\n")))));
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(frames)));
    let kind = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
