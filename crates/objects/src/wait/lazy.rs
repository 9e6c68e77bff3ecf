//! Claims that wait for a pod themselves.

use events::Clock;

use super::{Goal, Subject, Wait};
use crate::lookout::pause_after;
use crate::{ApiError, Claims, Cluster, Kind, Object, Scope};

impl Cluster {
    /// Returns the classes of a wait's claims that bind a volume only once a
    /// pod needs it. Where they may not be seen, every claim has to be bound;
    /// a moment without an answer does not decide that.
    pub(super) async fn lazy_classes(
        &self,
        wait: &Wait,
        clock: Clock,
        trouble: &mut (dyn FnMut(&ApiError) + Send),
    ) -> Vec<String> {
        let mut kinds = wait.subjects().iter().map(Subject::kind);
        let has_claims = kinds.any(|kind| kind.is("", "PersistentVolumeClaim"));
        let may_wait = wait.terms().claims == Claims::BoundWhenUsed && *wait.goal() == Goal::Ready;
        if !has_claims || !may_wait {
            return Vec::new();
        }
        let class = Kind::new("storage.k8s.io/v1", "StorageClass").expect("it is one");
        let end = clock.elapsed() + wait.terms().timeout;
        let mut tries = 0;
        let classes = loop {
            let error = match self.list(&Scope::all(class.clone())).await {
                Ok(listed) => break listed.objects,
                Err(error) => error,
            };
            tries += 1;
            if !error.class().is_retryable() || clock.elapsed() >= end {
                return Vec::new();
            }
            trouble(&error);
            clock.sleep(pause_after(error.class(), tries)).await;
        };
        let lazy =
            |class: &&Object| class.text("/volumeBindingMode") == Some("WaitForFirstConsumer");
        classes.iter().filter(lazy).map(|class| class.id().name.clone()).collect()
    }
}

impl Wait {
    /// Returns what an object has to be where it is a claim.
    pub(super) fn claims_of(&self, object: &Object) -> Claims {
        let class = object.text("/spec/storageClassName");
        match class.filter(|class| self.is_lazy(class)) {
            Some(_) => Claims::BoundWhenUsed,
            None => Claims::Bound,
        }
    }
}
