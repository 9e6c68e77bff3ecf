//! The API of one cluster.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use crate::discovery::Discovery;
use crate::line::Line;
use crate::near_field::NearFields;
use crate::order::is_kubernetes_own;
use crate::request::{Answer, Ask, retry_after};
use crate::{ApiError, Kind, NotAnObject, Object, ObjectId, Timeouts, Trouble};

/// The API of one cluster, as one user. Clones share connections and discovery.
#[derive(Clone)]
pub struct Cluster {
    inner: Arc<Inner>,
}

struct Inner {
    line: Line,
    site: Site,
    timeouts: Timeouts,
    discovery: Discovery,
    near_fields: NearFields,
}

/// What a kubeconfig says of a cluster, for people.
pub(crate) struct Site {
    pub(crate) server: String,
    /// The namespace of the context.
    pub(crate) namespace: String,
    /// The command that makes tokens; empty where there is none.
    pub(crate) command: String,
}

/// The head and the body of an answer.
type Exchange = (http::response::Parts, bytes::Bytes);

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
    pub(crate) fn new(line: Line, site: Site, timeouts: Timeouts) -> Self {
        let (discovery, near_fields) = (Discovery::default(), NearFields::default());
        Self { inner: Arc::new(Inner { line, site, timeouts, discovery, near_fields }) }
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
    /// sent once more where there is a fresh token.
    async fn exchange(&self, ask: &Ask) -> Result<Exchange, ApiError> {
        let client = self.inner.line.client();
        let answer = self.exchange_by(&client.client, ask).await?;
        if answer.0.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        match self.inner.line.after(&client).await {
            Some(fresh) => self.exchange_by(&fresh.client, ask).await,
            None => Ok(answer),
        }
    }

    /// Giving up on an answer is an end like a broken connection: the error
    /// says that the request may have had its effect.
    async fn exchange_by(&self, client: &kube::Client, ask: &Ask) -> Result<Exchange, ApiError> {
        let request = ask.request()?;
        let answer = async {
            let (parts, body) = client.send(request).await?.into_parts();
            Ok((parts, body.collect().await?.to_bytes()))
        };
        let Timeouts { answer: for_answer, change: for_change, .. } = self.timeouts();
        let patience = if ask.changes() { for_change } else { for_answer };
        match timeout(patience, answer).await {
            Ok(answer) => answer.map_err(|error| self.unsent(ask, error)),
            Err(_) => Err(ApiError::late(&ask.tried)),
        }
    }

    /// Sends a request, and returns the body before it is whole.
    pub(crate) async fn stream(&self, ask: &Ask) -> Result<kube::client::Body, ApiError> {
        let client = self.inner.line.client();
        let mut response = self.head(&client.client, ask).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(fresh) = self.inner.line.after(&client).await
        {
            response = self.head(&fresh.client, ask).await?;
        }
        if response.status().is_success() {
            return Ok(response.into_body());
        }
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| ApiError::lost(&ask.tried, error))?;
        let after = retry_after(&parts.headers);
        let trouble = Trouble::of(parts.status.as_u16(), after, &body.to_bytes());
        Err(ApiError::new(&ask.tried, trouble))
    }

    async fn head(
        &self,
        client: &kube::Client,
        ask: &Ask,
    ) -> Result<http::Response<kube::client::Body>, ApiError> {
        let head = timeout(self.timeouts().answer, client.send(ask.request()?)).await;
        let response = head.map_err(|_| ApiError::late(&ask.tried))?;
        response.map_err(|error| self.unsent(ask, error))
    }

    fn unsent(&self, ask: &Ask, error: kube::Error) -> ApiError {
        ApiError::unsent(&ask.tried, &self.inner.site.command, error)
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
