//! The API of one cluster.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use events::Secret;
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use peers::{Echoes, bounds};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::discovery::Discovery;
use crate::line::{Line, Numbered};
use crate::near_field::NearFields;
use crate::order::is_kubernetes_own;
use crate::request::{Answer, Ask};
use crate::{ApiError, Kind, NotAnObject, Object, ObjectId, Timeouts, Trouble};

/// The API of one cluster, as one user. Clones share connections and discovery.
#[derive(Clone)]
pub struct Cluster {
    inner: Arc<Inner>,
    /// When every request is given up, whatever its own time is.
    until: Option<Instant>,
}

struct Inner {
    line: Line,
    site: Site,
    timeouts: Timeouts,
    discovery: Discovery,
    near_fields: NearFields,
    /// What stands in URLs of the kubeconfig and must not be shown.
    secrets: Vec<Secret>,
}

/// What a kubeconfig says of a cluster, for people.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) server: String,
    /// The namespace of the context.
    pub(crate) namespace: String,
}

/// The head and the body of an answer.
type Exchange = (http::response::Parts, Bytes);

/// What a health endpoint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Whether it says yes.
    pub ok: bool,
    /// The checks that fail, such as `etcd`.
    pub failing: Vec<String>,
}

/// The server's version.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerVersion {
    /// The version with its `v`, such as `v1.36.3`.
    pub git_version: String,
    /// What it was built for, such as `linux/arm64`.
    #[serde(default)]
    pub platform: String,
    /// What built it: `gc`, or `simulated` where there is no real server.
    #[serde(default)]
    pub compiler: String,
}

impl Cluster {
    pub(crate) fn new(line: Line, site: Site, timeouts: Timeouts, secrets: Vec<Secret>) -> Self {
        let (discovery, near_fields) = (Discovery::default(), NearFields::default());
        let inner = Inner { line, site, timeouts, discovery, near_fields, secrets };
        Self { inner: Arc::new(inner), until: None }
    }

    /// Gives every request up at a moment, whatever its own time is: a server
    /// that answers byte by byte must not hold up whoever said how long to wait.
    #[must_use]
    pub fn until(mut self, end: Instant) -> Self {
        self.until = Some(end);
        self
    }

    /// Returns what must not be shown: what is shown to the API now, and what
    /// stands in URLs of the kubeconfig.
    pub fn secrets(&self) -> Vec<Secret> {
        let mut secrets = self.inner.line.secrets();
        secrets.extend_from_slice(&self.inner.secrets);
        secrets
    }

    /// Returns the address.
    pub fn server(&self) -> &str {
        &self.inner.site.server
    }

    /// Returns the namespace of the kubeconfig's context.
    pub fn default_namespace(&self) -> &str {
        &self.inner.site.namespace
    }

    pub(crate) fn discovery(&self) -> &Discovery {
        &self.inner.discovery
    }

    pub(crate) fn near_fields(&self) -> &NearFields {
        &self.inner.near_fields
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.inner.timeouts
    }

    /// Returns what the server calls itself.
    pub async fn version(&self) -> Result<ServerVersion, ApiError> {
        let ask = Ask::get("/version", format!("ask {} for its version", self.server()));
        let tried = ask.tried.clone();
        self.send(ask).await?.json(&tried)
    }

    /// Asks `/readyz`. An answer that says no is an answer; an error is none.
    pub async fn readyz(&self) -> Result<Health, ApiError> {
        let ask = Ask::get("/readyz", format!("ask {} whether it is ready", self.server()))
            .with("verbose", "")
            .accepting("text/plain, */*");
        let (parts, body) = self.exchange(&ask).await?;
        let text = String::from_utf8_lossy(&body);
        match parts.status.as_u16() {
            200 | 500 if text.contains("readyz check") => Ok(Health::read(&text)),
            _ => Answer::read(&ask.tried, parts.status, &parts.headers, body)
                .map(|_| Health { ok: true, failing: Vec::new() }),
        }
    }

    /// Gets a path as it is, for what is no object.
    pub async fn raw(&self, path: &str) -> Result<Vec<u8>, ApiError> {
        let ask = Ask::get(path, format!("get {path} from {}", self.server()));
        Ok(self.send(ask.accepting("*/*")).await?.body.to_vec())
    }

    /// Returns the HTTP status with which a path is answered, whatever it says.
    pub async fn status(&self, path: &str) -> Result<u16, ApiError> {
        let ask = Ask::get(path, format!("get {path} from {}", self.server())).accepting("*/*");
        let (parts, _) = self.exchange(&ask).await?;
        Ok(parts.status.as_u16())
    }

    /// Gets an object; none where the API says that it is not there.
    pub async fn get(&self, id: &ObjectId) -> Result<Option<Object>, ApiError> {
        let tried = format!("get {id}");
        let resource = self.resource(&id.kind).await?;
        let ask = Ask::get(resource.path_of(self, id), &tried);
        match self.send(ask).await {
            Ok(answer) => Ok(Some(object_of(&tried, &id.kind, answer.json(&tried)?)?)),
            Err(error) => match error.about(id) {
                error if error.is_absent() => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Gets the definition of a kind; none where it is not defined in the
    /// cluster, as Kubernetes' own are not.
    pub async fn definition(&self, kind: &Kind) -> Result<Option<Object>, ApiError> {
        if is_kubernetes_own(&kind.group) {
            return Ok(None);
        }
        let resource = self.resource(kind).await?;
        let name = format!("{}.{}", resource.plural, kind.group);
        let definitions = Kind {
            group: "apiextensions.k8s.io".to_owned(),
            version: "v1".to_owned(),
            kind: "CustomResourceDefinition".to_owned(),
        };
        self.get(&definitions.named(None, name)).await
    }

    /// Sends a request, and waits for the whole answer.
    pub(crate) async fn send(&self, ask: Ask) -> Result<Answer, ApiError> {
        let (parts, body) = self.exchange(&ask).await?;
        Answer::read(&ask.tried, parts.status, &parts.headers, body)
    }

    /// A request of somebody whom the API does not know had no effect: it is
    /// sent once more where there is a fresh credential.
    async fn exchange(&self, ask: &Ask) -> Result<Exchange, ApiError> {
        let client = self.shown(ask).await?;
        let answer = self.exchange_by(&client, ask).await?;
        if answer.0.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        match self.inner.line.after(&client).await {
            Some(fresh) => self.exchange_by(&fresh, ask).await,
            None => Ok(answer),
        }
    }

    async fn shown(&self, ask: &Ask) -> Result<Numbered, ApiError> {
        let missing = |reason| ApiError::new(&ask.tried, Trouble::NoCredential(Box::new(reason)));
        self.inner.line.client().await.map_err(missing)
    }

    /// Giving up on an answer is an end like a broken connection: the error
    /// says that the request may have had its effect.
    async fn exchange_by(&self, shown: &Numbered, ask: &Ask) -> Result<Exchange, ApiError> {
        let request = ask.request(shown.authorization())?;
        let answer = async {
            let response = shown.client.send(request).await;
            let response = response.map_err(|error| ApiError::lost(&ask.tried, &error))?;
            let (parts, body) = response.into_parts();
            let body = self.whole(ask, parts.status, body).await?;
            Ok((parts, body))
        };
        let Timeouts { answer: for_answer, change: for_change, .. } = self.timeouts();
        let patience = if ask.changes() { for_change } else { for_answer };
        match timeout_at(self.end_of(patience), answer).await {
            Ok(answer) => answer,
            Err(_) => Err(ApiError::late(&ask.tried)),
        }
    }

    /// Reads a body to its end, and no more than the bound of its kind.
    async fn whole(
        &self,
        ask: &Ask,
        status: StatusCode,
        body: kube::client::Body,
    ) -> Result<Bytes, ApiError> {
        let most = if status.is_success() { bounds::ANSWER } else { bounds::REFUSAL };
        let body = Limited::new(body, most).collect().await;
        let body = body.map_err(|error| {
            if error.is::<LengthLimitError>() {
                return ApiError::new(&ask.tried, Trouble::TooLong { what: "the answer", most });
            }
            ApiError::lost(&ask.tried, &*error)
        })?;
        let body = body.to_bytes();
        Ok(if status.is_success() { body } else { self.without_secrets(body) })
    }

    /// An API, or whoever stands before it, may repeat what it was shown.
    fn without_secrets(&self, body: Bytes) -> Bytes {
        let mut echoes = Echoes::of(&self.secrets());
        echoes.hide(body)
    }

    pub(crate) fn end_of(&self, patience: Duration) -> Instant {
        let end = Instant::now() + patience;
        self.until.map_or(end, |until| until.min(end))
    }

    /// Sends a request, and returns the body before it is whole.
    pub(crate) async fn stream(&self, ask: &Ask) -> Result<kube::client::Body, ApiError> {
        let client = self.shown(ask).await?;
        let mut response = self.head(&client, ask).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(fresh) = self.inner.line.after(&client).await
        {
            response = self.head(&fresh, ask).await?;
        }
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        let (parts, body) = response.into_parts();
        let body =
            timeout_at(self.end_of(self.timeouts().answer), self.whole(ask, parts.status, body));
        let body = body.await.map_err(|_| ApiError::late(&ask.tried))??;
        Answer::read(&ask.tried, parts.status, &parts.headers, body)
            .map(|_| kube::client::Body::empty())
    }

    async fn head(
        &self,
        shown: &Numbered,
        ask: &Ask,
    ) -> Result<http::Response<kube::client::Body>, ApiError> {
        let request = ask.request(shown.authorization())?;
        let end = self.end_of(self.timeouts().answer);
        let head = timeout_at(end, shown.client.send(request)).await;
        let response = head.map_err(|_| ApiError::late(&ask.tried))?;
        response.map_err(|error| ApiError::lost(&ask.tried, &error))
    }
}

/// Reads an object of an answer.
pub(crate) fn object_of(tried: &str, kind: &Kind, body: Value) -> Result<Object, ApiError> {
    let garbled = |error: NotAnObject| ApiError::new(tried, Trouble::Garbled(error.to_string()));
    Object::of_kind(kind, body).map_err(garbled)
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster({})", self.server())
    }
}

// === impl Health ===

impl Health {
    /// Reads the verbose form: `[-]etcd failed: reason withheld`.
    fn read(text: &str) -> Self {
        let failing = text.lines().filter_map(|line| line.strip_prefix("[-]"));
        let name = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
        let ok = text.lines().any(|line| line.ends_with("readyz check passed"));
        Self { ok, failing: failing.map(name).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verbose_answer_names_what_fails() {
        let text = "[+]ping ok\n[-]etcd failed: reason withheld\n[-]informer-sync failed: x\n\
            readyz check failed\n";
        let failing = vec!["etcd".to_owned(), "informer-sync".to_owned()];
        assert_eq!(Health::read(text), Health { ok: false, failing });
        let text = "[+]ping ok\nreadyz check passed\n";
        assert_eq!(Health::read(text), Health { ok: true, failing: Vec::new() });
    }
}
