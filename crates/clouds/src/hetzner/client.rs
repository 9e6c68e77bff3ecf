//! The client: looks, and calls that a permit allows.

use std::fmt;

use events::{ClusterId, Permit};
use http::Method;
use peers::bounds;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::{One, Page, Started};
use super::http::{Ask, Http};
use super::query::Query;
use super::{
    Endpoint, HetznerError, Id, Listed, Ours, Proof, RateLimit, Resource, Settings, SettingsError,
    Wish,
};
use crate::ownership::CLUSTER_ID;
use crate::{Labels, Ownership};

/// A project at Hetzner, seen as one cluster's. Clones share their connections.
///
/// It never waits and never tries again: gates poll, and the engine knows when
/// a call may be repeated.
#[derive(Clone)]
pub struct Hetzner {
    http: Http,
    cluster: ClusterId,
}

/// The largest page that Hetzner gives.
const PAGE: u32 = 50;

impl Hetzner {
    /// A client with these settings. It dials nobody yet.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let cluster = settings.cluster;
        Ok(Self { http: Http::new(settings)?, cluster })
    }

    /// Returns the same project, seen as another cluster's.
    #[must_use]
    pub fn seen_as(&self, cluster: ClusterId) -> Self {
        Self { http: self.http.clone(), cluster }
    }

    /// Returns the cluster that everything is made for.
    pub fn cluster(&self) -> ClusterId {
        self.cluster
    }

    /// Returns where the API is.
    pub fn endpoint(&self) -> &Endpoint {
        self.http.endpoint()
    }

    /// Returns what the last answer said about the calls that are left.
    pub fn rate_limit(&self) -> Option<RateLimit> {
        self.http.rate_limit()
    }

    /// Finds what has a name. If it is not ours, that is an error: our names
    /// are not free there, and we leave it alone.
    pub async fn find<R: Resource>(&self, name: &str) -> Result<Option<Ours<R>>, HetznerError> {
        let attempt = format!("look for {} {name}", R::KIND);
        let named = self.list::<R>(&attempt, Query::default().with("name", name)).await?;
        let Some(found) = named.into_iter().find(|found| found.name() == name) else {
            return Ok(None);
        };
        match Ownership::of(found.labels(), self.cluster) {
            Ownership::Ours => Ok(Some(Ours::new(found, Proof::Label))),
            Ownership::Foreign { claimed_by } => Err(HetznerError::Foreign {
                kind: R::KIND,
                name: name.to_owned(),
                id: found.id().number(),
                claimed_by,
            }),
        }
    }

    /// Returns what has an id, whosever it is.
    pub async fn get<R: Resource>(&self, id: Id<R>) -> Result<Option<R>, HetznerError> {
        let attempt = format!("look at {} {id}", R::KIND);
        let path = format!("/{}/{id}", R::PLURAL);
        match self.read::<One<R>>(&attempt, &path).await {
            Ok(one) => Ok(Some(one.resource)),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns what an earlier look knew to be ours by this id and name, as
    /// long as it is there. Ids are never given out twice.
    pub async fn recall<R: Resource>(
        &self,
        id: Id<R>,
        name: &str,
    ) -> Result<Option<Ours<R>>, HetznerError> {
        let found = self.get(id).await?.filter(|found| found.name() == name);
        Ok(found.map(|found| Ours::new(found, Proof::Recorded)))
    }

    /// Lists what carries our cluster's id.
    pub async fn ours<R: Resource>(&self) -> Result<Vec<Ours<R>>, HetznerError> {
        let selector = format!("{CLUSTER_ID}={}", self.cluster);
        let query = Query::default().with("label_selector", selector);
        let all = self.list::<R>(&format!("list our {}s", R::KIND), query).await?;
        // The selector is Hetzner's opinion; what may be deleted is decided here.
        let is_ours = |one: &R| Ownership::of(one.labels(), self.cluster) == Ownership::Ours;
        Ok(all.into_iter().filter(is_ours).map(|one| Ours::new(one, Proof::Label)).collect())
    }

    /// Lists all there are in the project, whosever they are.
    pub async fn all<R: Resource>(&self) -> Result<Vec<R>, HetznerError> {
        self.list(&format!("list {}s", R::KIND), Query::default()).await
    }

    /// Looks whether a wish is fulfilled.
    pub async fn look<W: Wish>(&self, wish: &W) -> Result<Option<events::Made>, HetznerError> {
        wish.look(self).await
    }

    /// Makes the one call that fulfils a wish.
    pub async fn send<W: Wish>(
        &self,
        permit: Permit,
        wish: &W,
    ) -> Result<events::Made, HetznerError> {
        let call = wish.call();
        if *permit.call() != call {
            let permitted = permit.call().to_string();
            return Err(HetznerError::WrongPermit { attempt: call.to_string(), permitted });
        }
        wish.send(self, Pass { attempt: call.to_string() }).await
    }

    /// Returns the labels with those that make something ours.
    pub(super) fn claim(&self, labels: &Labels) -> Labels {
        crate::ownership::claimed(labels, self.cluster)
    }

    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        attempt: &str,
        path: &str,
    ) -> Result<T, HetznerError> {
        self.http.ask(Ask { attempt, method: Method::GET, path, body: None }).await
    }

    /// Reads all pages of a list, or none.
    pub(super) async fn list<R: Listed>(
        &self,
        attempt: &str,
        query: Query,
    ) -> Result<Vec<R>, HetznerError> {
        let (mut items, mut total, mut number, mut pages) = (Vec::new(), None, 1, 0);
        loop {
            let query = query.clone().with("page", number).with("per_page", PAGE);
            let path = format!("/{}{query}", R::PLURAL);
            let page: Page<R> = self.read(attempt, &path).await?;
            items.extend(page.items);
            pages += 1;
            // What came or went has moved the border between two pages.
            let steady = number == 1 || page.total == total;
            match page.next {
                _ if !steady => return Err(HetznerError::Shifted { attempt: attempt.to_owned() }),
                None => return Ok(items),
                Some(_) if pages >= bounds::CLOUD_PAGES => {
                    let attempt = attempt.to_owned();
                    return Err(HetznerError::EndlessPages { attempt, pages });
                }
                Some(next) if next <= number => {
                    return Err(HetznerError::Shifted { attempt: attempt.to_owned() });
                }
                Some(next) => (number, total) = (next, page.total),
            }
        }
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        pass: Pass,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, HetznerError> {
        let body = serde_json::to_vec(body).expect("requests are plain data");
        let attempt = &pass.attempt;
        self.http.ask(Ask { attempt, method: Method::POST, path, body: Some(body) }).await
    }

    pub(super) async fn delete(&self, pass: Pass, path: &str) -> Result<Started, HetznerError> {
        let attempt = &pass.attempt;
        self.http.ask(Ask { attempt, method: Method::DELETE, path, body: None }).await
    }
}

/// What is left of a permit that was found to be for the wish: it is used up
/// by one request.
#[derive(Debug)]
pub struct Pass {
    attempt: String,
}

impl fmt::Debug for Hetzner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hetzner").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}
