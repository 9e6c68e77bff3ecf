//! Inventories where something goes wrong: what is not known stays remembered.

use objects::diff::Veil;
use objects::set::{Inventory, Settings};
use objects::{ApiError, Object, ObjectId, Trouble};
use rig::proxy::{Fault, Matching, Rule};

use crate::harbour::{Harbour, means};
use crate::inventory::ends;

const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";

impl Harbour {
    async fn find_maps(&self, objects: &[Object]) -> Result<Vec<Object>, ApiError> {
        let ids: Vec<ObjectId> = objects.iter().map(|object| object.id().clone()).collect();
        self.fresh().await.find(&ids, |live| live).await
    }

    async fn drift_of_members(&self) -> Result<usize, String> {
        let inventory = Inventory::parse("shop", self.namespace.name()).unwrap();
        let (settings, veil) = (Settings::default(), Veil::new([7; 32]));
        let cluster = self.fresh().await;
        let looked = cluster.drift_of_members(inventory, settings, &means(), &veil).await;
        looked.map(|(count, _)| count).map_err(|error| error.to_string())
    }
}

/// Whoever stands before the API may say of any path that it is not found.
#[tokio::test]
async fn what_was_not_found_by_somebody_else_is_not_gone() {
    let Some(opening) = Harbour::open() else { return };
    let mut harbour = opening.harbour().await;
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let all = harbour.maps(&names);
    harbour.prune_set(all.clone(), Settings::default()).await.unwrap();

    // Nothing of it is an API.
    harbour.proxy.add(Rule::always(Matching::any(), Fault::Status(404)));
    for some in [&all[..], &all[..1]] {
        let error = harbour.find_maps(some).await.unwrap_err();
        assert!(matches!(error.trouble(), Trouble::NoApi(_)), "{error:?}");
        let told = error.to_string();
        assert!(told.contains("no Kubernetes API answers there: /api is not found"), "{told}");
        assert!(told.contains("look at the server of the kubeconfig"), "{told}");
    }
    assert!(harbour.drift_of_members().await.unwrap_err().contains("no Kubernetes API"));

    // It is one, and one path of it leads elsewhere.
    harbour.proxy.behave();
    harbour.proxy.add(Rule::always(Matching::class("list", "configmaps"), Fault::Status(404)));
    let not_gone = "the API does not say that the kind is gone";
    let error = harbour.find_maps(&all).await.unwrap_err().to_string();
    assert!(error.contains(not_gone), "{error}");
    let error = harbour.drift_of_members().await.unwrap_err();
    assert!(error.contains(not_gone), "{error}");
    harbour.cluster = harbour.fresh().await;
    let account = harbour.object("v1", "ServiceAccount", "runner", serde_json::json!({}));
    let report = harbour.prune_set(vec![account], Settings::default()).await.unwrap();
    assert!(!report.is_whole() && ends(&report)[0].contains(not_gone), "{:?}", ends(&report));
    let kinds = harbour.parent()["metadata"]["annotations"][KINDS].clone();
    assert_eq!(kinds, "ConfigMap,ServiceAccount", "nothing is forgotten");

    harbour.proxy.behave();
    assert_eq!(harbour.drift_of_members().await, Ok(10));
    assert_eq!(harbour.live_maps(), names);
}
