//! What kube-rs, the client library, makes of the simulated API.

use std::pin::pin;

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node};
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use crate::cluster::Cluster;

async fn client(cluster: &Cluster) -> Client {
    let text = cluster.kubeconfig("admin", Some("system:masters"));
    let config = Kubeconfig::from_yaml(&text).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(config, &options).await.unwrap();
    Client::try_from(config).unwrap()
}

#[test]
fn typed_objects_are_applied_watched_and_ended() {
    let cluster = Cluster::start();
    cluster.runtime.block_on(async {
        let client = client(&cluster).await;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        while namespaces.get_opt("default").await.unwrap().is_none() {
            cluster.kube.revision().changed().await.unwrap();
        }
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" },
            "data": { "k": "v" } });
        let apply = PatchParams::apply("test");
        let made = maps.patch("a", &apply, &Patch::Apply(&map)).await.unwrap();
        assert_eq!(made.data.unwrap()["k"], "v");
        let version = made.metadata.resource_version.unwrap();
        let again = maps.patch("a", &apply, &Patch::Apply(&map)).await.unwrap();
        assert_eq!(again.metadata.resource_version.unwrap(), version, "nothing has changed");
        let options = WatchParams::default().fields("metadata.name=a").timeout(5);
        let mut events = pin!(maps.watch(&options, &version).await.unwrap());
        maps.delete("a", &DeleteParams::default()).await.unwrap();
        let event = events.try_next().await.unwrap().unwrap();
        assert!(matches!(event, WatchEvent::Deleted(_)), "{event:?}");
        let missing = maps.get("a").await.unwrap_err();
        assert!(matches!(missing, kube::Error::Api(status) if status.reason == "NotFound"));
        let stale: ConfigMap =
            serde_json::from_value(json!({ "metadata": { "name": "b" } })).unwrap();
        let made = maps.create(&PostParams::default(), &stale).await.unwrap();
        maps.replace(
            "b",
            &PostParams::default(),
            &ConfigMap { immutable: Some(true), ..made.clone() },
        )
        .await
        .unwrap();
        let late = maps
            .replace(
                "b",
                &PostParams::default(),
                &ConfigMap { data: None, immutable: None, ..made },
            )
            .await;
        assert!(matches!(late, Err(kube::Error::Api(status)) if status.reason == "Conflict"));
        let nodes: Api<Node> = Api::all(client);
        assert!(nodes.list(&ListParams::default()).await.unwrap().items.is_empty());
    });
}
