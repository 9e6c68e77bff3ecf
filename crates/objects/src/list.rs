//! Lists of objects, page by page.

use peers::bounds;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cluster::object_of;
use crate::request::{Answer, Ask};
use crate::{ApiError, Cluster, Kind, Object, Resource, Trouble};

/// Large enough to need few requests, small enough to keep answers short.
const PAGE: usize = 500;

/// A page of large objects, such as Secrets of a megabyte, is asked for again
/// with this part of them.
const SMALLER: usize = 10;

/// Which objects of a kind are meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope {
    kind: Kind,
    namespace: Option<String>,
    labels: Option<String>,
    fields: Option<String>,
}

/// A list as it was at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The objects.
    pub objects: Vec<Object>,
    /// The moment, from which a watch can go on.
    pub resource_version: String,
}

// === impl Scope ===

impl Scope {
    /// All objects of a kind, in all namespaces.
    pub fn all(kind: Kind) -> Self {
        Self { kind, namespace: None, labels: None, fields: None }
    }

    /// Only those in a namespace.
    #[must_use]
    pub fn within(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Only those with these labels, in kubectl's form: `app=web,tier!=db`.
    #[must_use]
    pub fn labelled(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Only those with these fields: `involvedObject.uid=…`.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Only the one with this name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.with_fields(format!("metadata.name={name}"))
    }

    /// Returns the kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns the namespace; none for all.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Returns the request to `list` or `watch` them.
    pub(crate) fn ask(&self, resource: &Resource, verb: &str) -> Ask {
        // Nobody may have known that the kind is in no namespace.
        let told = Self {
            namespace: self.namespace.clone().filter(|_| resource.namespaced),
            ..self.clone()
        };
        let tried = format!("{verb} {told}");
        let mut ask = Ask::get(resource.path(self.namespace.as_deref()), tried);
        if let Some(labels) = &self.labels {
            ask = ask.with("labelSelector", labels);
        }
        if let Some(fields) = &self.fields {
            ask = ask.with("fieldSelector", fields);
        }
        ask
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace {namespace}")?;
        }
        let selectors = self.labels.iter().chain(&self.fields);
        selectors.into_iter().try_for_each(|selector| write!(f, " with {selector}"))
    }
}

// === impl Cluster ===

impl Cluster {
    /// Lists objects as they are now.
    pub async fn list(&self, scope: &Scope) -> Result<Listed, ApiError> {
        let mut objects = Vec::new();
        let resource_version = self.list_each(scope, |object| objects.push(object)).await?;
        Ok(Listed { objects, resource_version })
    }

    /// Shows every object once, and keeps no more than the text of a page of
    /// them. Returns the moment of the list.
    pub async fn list_each(
        &self,
        scope: &Scope,
        mut show: impl FnMut(Object),
    ) -> Result<String, ApiError> {
        let mut pages = self.pages(scope).await?;
        while let Some(page) = pages.next().await? {
            for object in page {
                show(object?);
            }
        }
        Ok(pages.moment)
    }

    /// Lists one object, to see whether that can be done.
    pub(crate) async fn first(&self, scope: &Scope) -> Result<(), ApiError> {
        let resource = self.resource(&scope.kind).await?;
        self.send(scope.ask(&resource, "list").with("limit", "1")).await.map(drop)
    }

    /// Begins a list that is read page by page, by whoever has work to do between.
    pub(crate) async fn pages(&self, scope: &Scope) -> Result<Pages, ApiError> {
        let resource = self.resource(&scope.kind).await?;
        let (cluster, scope) = (self.clone(), scope.clone());
        let (go_on, moment) = (Some(String::new()), String::new());
        let (limit, count, bytes) = (PAGE, 0, 0);
        Ok(Pages { cluster, scope, resource, go_on, moment, remaining: 0, limit, count, bytes })
    }
}

/// A list on its way.
pub(crate) struct Pages {
    cluster: Cluster,
    scope: Scope,
    resource: Resource,
    /// What the next page begins with; none after the last.
    go_on: Option<String>,
    /// The moment of the list, once it is over.
    moment: String,
    /// How many objects come after the pages so far. The API does not say so
    /// where a selector chooses them.
    pub(crate) remaining: usize,
    /// How many objects a page may have.
    limit: usize,
    /// How many pages there were, and how many bytes.
    count: usize,
    bytes: usize,
}

impl Pages {
    /// Returns the next page; none after the last. Its objects are read one by
    /// one, since each takes several times the memory of its text.
    pub(crate) async fn next(
        &mut self,
    ) -> Result<Option<impl Iterator<Item = Result<Object, ApiError>> + use<>>, ApiError> {
        let Some(go_on) = self.go_on.take() else { return Ok(None) };
        let (tried, answer) = self.ask(&go_on).await?;
        self.bytes += answer.body.len();
        let page: Page = answer.json(&tried)?;
        self.moment = page.metadata.resource_version;
        self.remaining = page.metadata.remaining_item_count;
        let next = Some(page.metadata.go_on).filter(|next| !next.is_empty());
        self.check(&tried, &go_on, next.as_deref())?;
        self.go_on = next;
        let kind = self.scope.kind.clone();
        let read = move |item: Box<RawValue>| match serde_json::from_str(item.get()) {
            Ok(body) => object_of(&tried, &kind, body),
            Err(error) => Err(ApiError::new(&tried, Trouble::Garbled(error.to_string()))),
        };
        Ok(Some(page.items.into_iter().map(read)))
    }

    /// Asks for a page, and for a smaller one where it is too long.
    async fn ask(&mut self, go_on: &str) -> Result<(String, Answer), ApiError> {
        loop {
            let limit = self.limit.to_string();
            let mut ask = self.scope.ask(&self.resource, "list").with("limit", &limit);
            let tried = ask.tried.clone();
            if !go_on.is_empty() {
                ask = ask.with("continue", go_on);
            }
            match self.cluster.send(ask).await {
                Err(error) if is_too_long(&error) && self.limit >= SMALLER => {
                    self.limit /= SMALLER;
                }
                answer => return Ok((tried, answer?)),
            }
        }
    }

    /// Refuses a list without an end.
    fn check(&mut self, tried: &str, last: &str, next: Option<&str>) -> Result<(), ApiError> {
        self.count += 1;
        let endless = |problem: String| Err(ApiError::new(tried, Trouble::EndlessPages(problem)));
        match next {
            Some(next) if next == last => endless("it goes on where it was".to_owned()),
            Some(_) if self.count >= bounds::PAGES => {
                endless(format!("after {} pages there are more", bounds::PAGES))
            }
            _ if self.bytes > bounds::LIST => {
                let most = bounds::LIST;
                Err(ApiError::new(tried, Trouble::TooLong { what: "the list", most }))
            }
            _ => Ok(()),
        }
    }
}

fn is_too_long(error: &ApiError) -> bool {
    matches!(error.trouble(), Trouble::TooLong { .. })
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMetadata,
    // Go writes an empty list as null.
    #[serde(default, deserialize_with = "null_is_empty")]
    items: Vec<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMetadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default, rename = "continue")]
    go_on: String,
    #[serde(default)]
    remaining_item_count: usize,
}

fn null_is_empty<'de, D>(from: D) -> Result<Vec<Box<RawValue>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
