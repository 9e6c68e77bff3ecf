//! One request and its answer.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER, USER_AGENT, WARNING,
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use kube::client::Body;
use serde::de::DeserializeOwned;

use crate::{ApiError, Trouble};

const AGENT: &str = concat!("seaworthy/", env!("CARGO_PKG_VERSION"));
const JSON: &str = "application/json";

/// A request that is about to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// Completes "could not …".
    pub(crate) tried: String,
    method: Method,
    target: String,
    accept: &'static str,
    body: Option<(&'static str, Bytes)>,
}

/// An answer that says yes.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Bytes,
}

// === impl Ask ===

impl Ask {
    pub(crate) fn new(method: Method, path: impl Into<String>, tried: impl Into<String>) -> Self {
        Self { tried: tried.into(), method, target: path.into(), accept: JSON, body: None }
    }

    pub(crate) fn get(path: impl Into<String>, tried: impl Into<String>) -> Self {
        Self::new(Method::GET, path, tried)
    }

    /// Adds a parameter.
    pub(crate) fn with(mut self, key: &str, value: &str) -> Self {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        self.target.push_str(key);
        self.target.push('=');
        self.target.push_str(&escaped(value));
        self
    }

    /// Returns whether it may change something.
    pub(crate) fn changes(&self) -> bool {
        self.method != Method::GET
    }

    pub(crate) fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub(crate) fn sending(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.body = Some((content_type, body.into()));
        self
    }

    /// Makes the request, with what is shown to the API.
    pub(crate) fn request(
        &self,
        authorization: Option<&HeaderValue>,
    ) -> Result<Request<Body>, ApiError> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(&self.target)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, self.accept);
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        let mut body = Body::empty();
        if let Some((content_type, bytes)) = &self.body {
            request = request.header(CONTENT_TYPE, *content_type);
            body = Body::from(bytes.clone());
        }
        request.body(body).map_err(|error| {
            // Names come from manifests: what cannot stand in a path ends here.
            let (code, message) = (400, error.to_string());
            ApiError::new(&self.tried, Trouble::Refused { code, message })
        })
    }
}

// === impl Answer ===

impl Answer {
    /// Reads an answer that says no as an error.
    pub(crate) fn read(
        tried: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Self, ApiError> {
        let warnings = warnings(headers);
        if status.is_success() {
            return Ok(Self { status, warnings, body });
        }
        let trouble = if status.is_redirection() {
            Trouble::Redirected { code: status.as_u16(), to: target(headers) }
        } else {
            Trouble::of(status.as_u16(), retry_after(headers), &body)
        };
        Err(ApiError::new(tried, trouble).warned(warnings))
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, tried: &str) -> Result<T, ApiError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| ApiError::new(tried, Trouble::Garbled(error.to_string())))
    }
}

/// Returns where a redirect leads, without what it repeats of our request.
fn target(headers: &HeaderMap) -> Option<String> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    let place = location.split(['?', '#']).next().unwrap_or_default();
    Some(events::text::clip(&events::text::line(&peers::without_user_info(place)), 200))
}

/// Warnings look like `299 - "spec.x is deprecated"`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all(WARNING).iter().filter_map(|value| value.to_str().ok());
    texts.filter_map(quoted).collect()
}

fn quoted(warning: &str) -> Option<String> {
    let start = warning.find('"')?;
    let mut text = String::new();
    let mut characters = warning[start + 1..].chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some(text),
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    None
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Escapes a part of a path or a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            other => write!(escaped, "%{other:02X}").expect("a String takes everything"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_escaped() {
        let ask = Ask::get("/api/v1/pods", "look").with("labelSelector", "a=b,c").with("x", "ü");
        assert_eq!(ask.target, "/api/v1/pods?labelSelector=a%3Db%2Cc&x=%C3%BC");
    }

    #[test]
    fn warnings_are_read_out_of_their_quotes() {
        let mut headers = HeaderMap::new();
        for value in [r#"299 - "use \"v2\"""#, r#"299 - "spec.x: gone""#, "299 - broken"] {
            headers.append(WARNING, HeaderValue::from_static(value));
        }
        assert_eq!(warnings(&headers), [r#"use "v2""#, "spec.x: gone"]);
    }
}
