//! One request, one answer: HTTPS without retries, redirects or opinions.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use events::{Clock, Secret};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use peers::{DialError, Dialer, Echoes, bounds};
use serde::de::DeserializeOwned;

use super::refusal::ErrorBody;
use super::{Endpoint, HetznerError, RateLimit, Settings, SettingsError};

/// Talks to one endpoint with one token. Clones share their connections.
#[derive(Clone)]
pub(super) struct Http {
    client: Client<HttpsConnector<Dialer>, Full<Bytes>>,
    endpoint: Endpoint,
    authorization: HeaderValue,
    /// What must not come back in a message: the token, and a proxy's password.
    secrets: Vec<Secret>,
    timeout: Duration,
    clock: Clock,
    last_limit: Arc<Mutex<Option<RateLimit>>>,
}

/// A request, and what it is called when it fails.
pub(super) struct Ask<'a> {
    pub attempt: &'a str,
    pub method: Method,
    pub path: &'a str,
    pub body: Option<Vec<u8>>,
}

/// An answer, before anybody has looked at what it says.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

/// A host that does not take the connection within this is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// Idle connections are given up before the other side does: what is sent on
/// one that closes just then is a call in doubt.
const IDLE: Duration = Duration::from_secs(15);

impl Http {
    pub(super) fn new(settings: Settings) -> Result<Self, SettingsError> {
        let tls = settings.trust.tls(&settings.endpoint)?;
        let mut secrets = settings.route.secrets();
        secrets.push(settings.token.clone());
        let tcp = Dialer::new(settings.route, CONNECT.min(settings.timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_only()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .retry_canceled_requests(false)
            .pool_idle_timeout(IDLE)
            .http1_max_buf_size(bounds::HEAD)
            .http1_max_headers(bounds::HEADER_FIELDS)
            .build(connector);
        let mut authorization =
            HeaderValue::try_from(format!("Bearer {}", settings.token.reveal()))
                .map_err(|_| SettingsError::Token)?;
        authorization.set_sensitive(true);
        Ok(Self {
            client,
            endpoint: settings.endpoint,
            authorization,
            secrets,
            timeout: settings.timeout,
            clock: settings.clock,
            last_limit: Arc::default(),
        })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns what the last answer said about the calls that are left.
    pub(super) fn rate_limit(&self) -> Option<RateLimit> {
        *self.last_limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request and reads its answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, ask: Ask<'_>) -> Result<T, HetznerError> {
        let attempt = ask.attempt;
        let answer = self.send(ask).await?;
        if answer.status.is_success() {
            return self.read(attempt, &answer);
        }
        Err(self.refusal(attempt, &answer))
    }

    /// The time limit is around one request only, and its end is an outcome
    /// like any other: that nobody knows whether the request has arrived.
    async fn send(&self, ask: Ask<'_>) -> Result<Answer, HetznerError> {
        let attempt = ask.attempt;
        let request = self.request(ask);
        let exchange = tokio::time::timeout(self.timeout, self.exchange(attempt, request));
        let timed_out =
            |_| HetznerError::TimedOut { attempt: attempt.to_owned(), after: self.timeout };
        let answer = exchange.await.map_err(timed_out)??;
        if let Some(limit) = RateLimit::of(&answer.headers) {
            *self.last_limit.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
        }
        Ok(answer)
    }

    fn request(&self, ask: Ask<'_>) -> Request<Full<Bytes>> {
        let builder = Request::builder()
            .method(ask.method)
            .uri(self.endpoint.join(ask.path))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(USER_AGENT, concat!("seaworthy/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "application/json");
        let request = match ask.body {
            Some(body) => {
                builder.header(CONTENT_TYPE, "application/json").body(Full::new(body.into()))
            }
            None => builder.body(Full::default()),
        };
        request.expect("an address and headers that were checked before")
    }

    async fn exchange(
        &self,
        attempt: &str,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, HetznerError> {
        let lost = |source: Box<dyn Error + Send + Sync>| {
            let attempt = attempt.to_owned();
            if source.is::<LengthLimitError>() {
                return HetznerError::TooLong { attempt };
            }
            HetznerError::Lost { attempt, source: in_words(source.as_ref()).into() }
        };
        let response = self.client.request(request).await;
        let response = response.map_err(|error| self.unanswered(attempt, &error))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, bounds::CLOUD_ANSWER).collect().await;
        let body = body.map_err(lost)?.to_bytes();
        let is_good = head.status.is_success();
        let body = if is_good { body } else { Echoes::of(&self.secrets).hide(body) };
        Ok(Answer { status: head.status, headers: head.headers, body })
    }

    fn unanswered(&self, attempt: &str, error: &hyper_util::client::legacy::Error) -> HetznerError {
        let (attempt, endpoint) = (attempt.to_owned(), self.endpoint.to_string());
        if let Some(dialled) = dial_error(error).cloned() {
            return match dialled {
                source @ DialError::Proxy { .. } => HetznerError::Proxy { attempt, source },
                source => HetznerError::Connect { attempt, endpoint, source: source.into() },
            };
        }
        match (error.is_connect(), certificate_fault(error)) {
            (_, Some(fault)) => {
                HetznerError::Certificate { attempt, endpoint, source: fault.into() }
            }
            (true, None) => {
                HetznerError::Connect { attempt, endpoint, source: in_words(error).into() }
            }
            (false, None) => HetznerError::Lost { attempt, source: in_words(error).into() },
        }
    }

    fn read<T: DeserializeOwned>(&self, attempt: &str, answer: &Answer) -> Result<T, HetznerError> {
        let body: &[u8] = match answer.status {
            StatusCode::NO_CONTENT => b"{}",
            _ if answer.is_json() => &answer.body,
            _ => return Err(self.not_the_api(attempt, answer)),
        };
        let mut json = serde_json::Deserializer::from_slice(body);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let (attempt, path) = (attempt.to_owned(), error.path().to_string());
            match error.into_inner() {
                source if source.is_eof() => HetznerError::Lost { attempt, source: source.into() },
                source => HetznerError::Unreadable { attempt, path, source },
            }
        })
    }

    fn refusal(&self, attempt: &str, answer: &Answer) -> HetznerError {
        if let (true, Some(to)) = (answer.status.is_redirection(), answer.leads_to()) {
            let (attempt, endpoint) = (attempt.to_owned(), self.endpoint.to_string());
            return HetznerError::Redirected { attempt, endpoint, status: answer.status, to };
        }
        let Ok(body) = serde_json::from_slice::<ErrorBody>(&answer.body) else {
            return self.not_the_api(attempt, answer);
        };
        let mut refusal = body.into_refusal(attempt, answer.status);
        refusal.correlation_id = answer.header("x-correlation-id").map(str::to_owned);
        let limit = RateLimit::of(&answer.headers);
        refusal.pause = limit.map(|limit| limit.pause(self.clock.now()));
        HetznerError::Refused { refusal: Box::new(refusal) }
    }

    fn not_the_api(&self, attempt: &str, answer: &Answer) -> HetznerError {
        HetznerError::NotTheApi {
            attempt: attempt.to_owned(),
            endpoint: self.endpoint.to_string(),
            status: answer.status,
            content: answer.header(CONTENT_TYPE.as_str()).unwrap_or("no content type").to_owned(),
            excerpt: excerpt(&answer.body),
        }
    }
}

// === impl Answer ===

impl Answer {
    fn is_json(&self) -> bool {
        let content = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        content.split(';').next().is_some_and(|kind| kind.trim() == "application/json")
    }

    /// Returns where a redirect leads, without what it may repeat of our request.
    fn leads_to(&self) -> Option<String> {
        let location = self.header(LOCATION.as_str())?;
        let place = location.split(['?', '#']).next().unwrap_or_default();
        Some(events::text::clip(&events::text::line(&peers::without_user_info(place)), 200))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Returns why there is no connection, as the dialler says it.
fn dial_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a DialError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Returns what rustls has against the other side's certificate, if that is what went wrong.
fn certificate_fault(error: &(dyn Error + 'static)) -> Option<rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(fault @ rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return Some(fault.clone());
        }
        // An I/O error does not name what it wraps as its source.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

/// Returns the first words of a foreign answer, fit for a terminal.
fn excerpt(body: &[u8]) -> String {
    const WORDS: usize = 12;
    const LENGTH: usize = 100;
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * LENGTH)]).into_owned();
    let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words = words.into_iter().filter(|word| !word.is_empty()).take(WORDS);
    words.collect::<Vec<_>>().join(" ").chars().take(LENGTH).collect()
}
/// Says what a connection has died of, without the names that libraries have for it.
fn in_words(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    match last.downcast_ref::<std::io::Error>() {
        Some(io) if io.kind() == std::io::ErrorKind::UnexpectedEof => {
            "the connection was closed before the whole answer had come".to_owned()
        }
        Some(io) => events::io_reason(io),
        None => last.to_string(),
    }
}
