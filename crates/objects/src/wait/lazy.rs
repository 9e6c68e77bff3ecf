//! Claims that wait for a pod themselves.

use super::{Goal, Subject, Wait};
use crate::{Claims, Cluster, Kind, Object, Scope};

impl Cluster {
    /// Returns the classes of a wait's claims that bind a volume only once a
    /// pod needs it. Where they may not be seen, every claim has to be bound.
    pub(super) async fn lazy_classes(&self, wait: &Wait) -> Vec<String> {
        let mut kinds = wait.subjects().iter().map(Subject::kind);
        let has_claims = kinds.any(|kind| kind.is("", "PersistentVolumeClaim"));
        let may_wait = wait.terms().claims == Claims::BoundWhenUsed && *wait.goal() == Goal::Ready;
        if !has_claims || !may_wait {
            return Vec::new();
        }
        let class = Kind::new("storage.k8s.io/v1", "StorageClass").expect("it is one");
        let classes = self.list(&Scope::all(class)).await.map(|listed| listed.objects);
        let lazy =
            |class: &&Object| class.text("/volumeBindingMode") == Some("WaitForFirstConsumer");
        let classes = classes.unwrap_or_default();
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
