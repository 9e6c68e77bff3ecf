//! What the probes have in common: they make things of their own in a
//! namespace of their own, and leave nothing behind.

use addons::probe::{Mark, ProbeKind};
use engine::{ActError, Hands, SendError, Sight};
use events::{Because, Cause, Failure, Made, Verdict};
use objects::{Cluster, Deletion, Doomed, Object, Propagation, Scope};
use serde_json::Value;

use crate::hetzner::explain;
use crate::{Site, codes, delivery, kube};

/// One probe of one run.
pub(super) struct Probing<'a> {
    pub(super) site: &'a Site,
    pub(super) hands: &'a Hands,
    pub(super) kind: ProbeKind,
}

impl Probing<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark { run: self.hands.eyes().run(), kind: self.kind }
    }

    /// Returns what the probe found, once it has.
    pub(super) fn found(&self) -> Option<String> {
        self.hands.eyes().pinned(&self.key())
    }

    /// Keeps what the probe found, while it clears up behind itself.
    pub(super) async fn find(&self, what: &str) -> Result<(), ActError> {
        self.hands.pin(&self.key(), what).await?;
        Ok(())
    }

    pub(super) async fn make(&self, objects: Vec<Value>) -> Result<(), ActError> {
        let objects: Result<Vec<_>, _> = objects.into_iter().map(Object::new).collect();
        let objects = objects.map_err(|error| Failure::permanent(error.to_string()))?;
        delivery::apply(self.site, self.hands, objects).await
    }

    /// Takes away what this probe has made, in this run or an earlier one, and
    /// says what is left of it.
    pub(super) async fn clear(&self) -> Result<Option<Verdict>, ActError> {
        let cluster = kube::any(self.site).await?;
        let label = format!("{}={}", Mark::PROBE, self.kind.as_str());
        let scope = Scope::all(kube::kind("v1", "Namespace")).labelled(label);
        let left = kube::list(self.site, &scope).await?;
        for namespace in &left {
            self.delete(&cluster, namespace).await?;
        }
        Ok(left.first().map(going))
    }

    async fn delete(&self, cluster: &Cluster, object: &Object) -> Result<(), ActError> {
        let uid = object.uid().unwrap_or_default().to_owned();
        let doomed = Doomed { id: object.id().clone(), uid };
        let going = object.at("/metadata/deletionTimestamp").is_some();
        let look =
            async |_| Ok(if going { Sight::There(Made::default()) } else { Sight::NotThere });
        let (client, condemned) = (cluster.clone(), doomed.clone());
        let send = move |permit| async move {
            match client.delete(permit, &condemned, Propagation::Background).await {
                Ok(done) => {
                    let _: Deletion = done.deletion;
                    Ok(Made::default())
                }
                Err(error) => Err(SendError::new(error.failure(), error.arrival())),
            }
        };
        self.hands.ensure(Cluster::delete_call(&doomed), look, send).await?;
        Ok(())
    }

    fn key(&self) -> String {
        format!("{} probe of run {}", self.kind.as_str(), self.hands.eyes().run())
    }
}

fn going(namespace: &Object) -> Verdict {
    let (id, what) = (namespace.id(), format!("{} is going away", namespace.id()));
    let cause = Cause::new(codes::PROBE_LEFTOVER, format!("{id} of a probe does not go away"))
        .next(format!("kubectl get namespace {} -o yaml", id.name), "shows what keeps it")
        .next(explain(codes::PROBE_LEFTOVER), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}
