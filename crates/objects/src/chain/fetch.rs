//! Fetches what an explanation needs, and no more.

use super::happening::told_as;
use super::leads::{Want, kind, leads, wants};
use super::log::LogOf;
use super::{Chain, Found, Link, Pool, ReadIn, Surroundings, explain, who};
use crate::{ApiError, Cluster, Object, ObjectId, Scope, Trouble};

impl Cluster {
    /// Explains why an object is not ready; an empty chain where it is.
    pub async fn why(&self, id: &ObjectId) -> Result<Chain, ApiError> {
        if let Some(root) = self.get(id).await? {
            return Ok(self.why_of(&root).await);
        }
        let (who, says) = (id.to_string(), "it is not there".to_owned());
        let link = Link { who, says, read_in: ReadIn::Api };
        Ok(Chain { links: vec![link] })
    }

    /// Explains why an object that was just fetched is not ready. What cannot
    /// be looked at is a link of the chain.
    pub async fn why_of(&self, root: &Object) -> Chain {
        let around = self.surroundings(root).await;
        explain(root, &around)
    }

    /// Fetches what lies around an object, as far as it may explain it.
    pub async fn surroundings(&self, root: &Object) -> Surroundings {
        let mut around = Surroundings::default();
        let mut asked = Vec::new();
        // What was fetched shows where to look next, until nothing new does.
        loop {
            let open = open_wants(root, &around, &asked);
            if open.is_empty() {
                break;
            }
            for want in open {
                self.fetch(&want, &mut around).await;
                asked.push(want);
            }
        }
        self.fetch_details(root, &mut around).await;
        around
    }

    async fn fetch(&self, want: &Want, around: &mut Surroundings) {
        let fetched = match want {
            Want::Many(scope) => self.list(scope).await.map(|listed| {
                around.objects.extend(listed.objects);
                around.listed.push(scope.clone());
            }),
            Want::One(id) => self.get(id).await.map(|found| match found {
                Some(object) => around.objects.push(object),
                None => around.absent.push(id.clone()),
            }),
        };
        if let Err(error) = fetched
            && !matches!(error.trouble(), Trouble::KindMissing { .. })
        {
            around.blind.push(error.to_string());
        }
    }

    async fn fetch_details(&self, root: &Object, around: &mut Surroundings) {
        let pool = Pool::of(around);
        let path: Vec<Object> = pool.path(root).iter().filter_map(Found::object).cloned().collect();
        // Only the lowest warning is told: what stands above it is not asked for.
        for object in path.iter().rev() {
            match self.events_about(object).await {
                Ok(events) => around.events.extend(events),
                Err(error) => around.blind.push(error.to_string()),
            }
            if around.events.iter().any(|event| event.text("/type") == Some("Warning")) {
                break;
            }
        }
        let pod = path.last().filter(|last| last.kind().is("", "Pod"));
        let Some((pod, of)) = pod.and_then(|pod| Some((pod, LogOf::pod(pod)?))) else { return };
        match self.log_tail(pod.id(), of).await {
            Ok(log) => around.logs.push(log),
            Err(error) => around.blind.push(format!("{} ({})", error, who(pod.id()))),
        }
    }

    async fn events_about(&self, object: &Object) -> Result<Vec<Object>, ApiError> {
        // Events about what is in no namespace are in the default one.
        let namespace = object.id().namespace.as_deref().unwrap_or("default");
        let scope = Scope::all(kind("v1", "Event")).within(namespace);
        let mut events = Vec::new();
        for uid in told_as(object) {
            let scope = scope.clone().with_fields(format!("involvedObject.uid={uid}"));
            events.extend(self.list(&scope).await?.objects);
        }
        Ok(events)
    }
}

fn open_wants(root: &Object, around: &Surroundings, asked: &[Want]) -> Vec<Want> {
    let pool = Pool::of(around);
    let path = pool.path(root);
    let Some(last) = path.last().and_then(Found::object) else { return Vec::new() };
    let wants = leads(last).into_iter().flat_map(|lead| wants(last, &lead));
    wants.filter(|want| !asked.contains(want)).collect()
}
