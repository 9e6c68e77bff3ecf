//! The limit: a client that knows its requests beforehand, with 32 of them in
//! flight, and does nothing with the answers but look at their status.
//!
//! It runs as a process of its own, as the peers do, so that start, TLS and
//! memory are measured alike.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::ConfigExt as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};

/// Enough to keep the server busy; more only makes a queue there.
const IN_FLIGHT: usize = 32;

type Http = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// What the raw client does to each object of a manifest.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Server-side apply.
    Apply,
    /// Delete.
    Delete,
}

impl Work {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "apply" => Self::Apply,
            "delete" => Self::Delete,
            other => panic!("no work is called {other}"),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Delete => "delete",
        }
    }

    fn request(self, server: &str, object: &Value) -> Request<Full<Bytes>> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap();
        let path = format!(
            "{server}/api/v1/namespaces/{}/configmaps/{}",
            text("/metadata/namespace"),
            text("/metadata/name")
        );
        match self {
            Self::Apply => Request::builder()
                .method(Method::PATCH)
                .uri(format!("{path}?fieldManager=raw&force=true"))
                .header("content-type", "application/apply-patch+yaml")
                .body(Full::from(object.to_string())),
            Self::Delete => {
                Request::builder().method(Method::DELETE).uri(path).body(Full::default())
            }
        }
        .unwrap()
    }
}

/// Somebody who changes a map at a moment that is known.
pub(crate) struct Hand {
    runtime: tokio::runtime::Runtime,
    http: Http,
    server: String,
}

impl Hand {
    pub(crate) fn new(kubeconfig: &Path) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (http, server) = runtime.block_on(connect(kubeconfig));
        Self { runtime, http, server }
    }

    /// Makes `k` of a map this value.
    pub(crate) fn set(&self, namespace: &str, name: &str, value: &str) {
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": namespace }, "data": { "k": value } });
        let request = Work::Apply.request(&self.server, &map);
        let answer = self.runtime.block_on(self.http.request(request)).unwrap();
        assert!(answer.status().is_success(), "{}", answer.status());
    }
}

/// Sends one request for each object, and returns how many were answered well.
pub(crate) async fn run(kubeconfig: &Path, objects: Vec<Value>, work: Work) -> usize {
    let (http, server) = connect(kubeconfig).await;
    let next = Arc::new(AtomicUsize::new(0));
    let objects = Arc::new(objects);
    let lanes = (0..IN_FLIGHT).map(|_| {
        let (http, server) = (http.clone(), server.clone());
        let (next, objects) = (Arc::clone(&next), Arc::clone(&objects));
        tokio::spawn(async move {
            let mut good = 0;
            while let Some(object) = objects.get(next.fetch_add(1, Ordering::Relaxed)) {
                let answer = http.request(work.request(&server, object)).await.unwrap();
                let status = answer.status();
                answer.into_body().collect().await.unwrap();
                good += usize::from(status.is_success());
            }
            good
        })
    });
    let mut good = 0;
    for lane in lanes.collect::<Vec<_>>() {
        good += lane.await.unwrap();
    }
    good
}

async fn connect(kubeconfig: &Path) -> (Http, String) {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let tls = config.rustls_client_config().unwrap();
    let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_only();
    let https = https.enable_http1().wrap_connector(tcp);
    (Client::builder(TokioExecutor::new()).build(https), server)
}
