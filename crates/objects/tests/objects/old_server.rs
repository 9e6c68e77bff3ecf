//! Servers of the time before discovery came in one piece: the real one, which
//! is asked less than the client asks for.

use std::convert::Infallible;
use std::net::SocketAddr;

use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use objects::set::Settings;
use objects::{Access, Cluster, Kind, Object};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::harbour::{Harbour, PATIENCE};
use crate::inventory::ends;

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// What a server says when it is asked for all that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// Up to 1.26: which groups there are, and no more.
    Plain,
    /// 1.27 to 1.29: everything, in an earlier version.
    Beta,
}

pub(crate) struct OldServer {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl OldServer {
    pub(crate) async fn start(harbour: &Harbour, age: Age) -> Self {
        let kubeconfig = std::fs::read_to_string(harbour.proxy.kubeconfig()).unwrap();
        let kubeconfig = Kubeconfig::from_yaml(&kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
        config.default_retry = false;
        let client = Client::try_from(config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(attend(stream, client.clone(), age));
            }
        });
        Self { address, serving }
    }

    /// A client that has not asked for anything yet.
    pub(crate) async fn fresh(&self) -> Cluster {
        let kubeconfig = json!({ "apiVersion": "v1", "kind": "Config", "current-context": "old",
            "clusters": [{ "name": "old",
                "cluster": { "server": format!("http://{}", self.address) } }],
            "users": [{ "name": "old", "user": {} }],
            "contexts": [{ "name": "old", "context": { "cluster": "old", "user": "old" } }] });
        let access = Access::from_kubeconfig(kubeconfig.to_string().as_bytes(), None).unwrap();
        access.connect().await.unwrap()
    }
}

impl Drop for OldServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn attend(stream: TcpStream, client: Client, age: Age) {
    let service = service_fn(move |request| {
        let client = client.clone();
        async move { Ok::<_, Infallible>(answer(&client, request, age).await) }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(client: &Client, request: Request<Incoming>, age: Age) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let accept = parts.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let accept = accept.unwrap_or_default().to_owned();
    let whole = age == Age::Beta && accept.contains("v=v2beta1;as=APIGroupDiscoveryList");
    if whole {
        parts.headers.insert(ACCEPT, HeaderValue::from_static(V2));
    } else if accept.contains("APIGroupDiscoveryList") {
        parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    }
    let body = body.collect().await.unwrap().to_bytes();
    let request = Request::from_parts(parts, Body::from(body));
    let mut answer = client.send(request).await.unwrap();
    answer.headers_mut().remove(TRANSFER_ENCODING);
    if !whole {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let text = text.replace("apidiscovery.k8s.io/v2\"", "apidiscovery.k8s.io/v2beta1\"");
    assert!(text.contains("v2beta1"), "{text}");
    Response::from_parts(parts, Body::from(Bytes::from(text).to_vec()))
}

fn policy(name: &str, namespace: &str) -> Object {
    let body = json!({ "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": { "name": name, "namespace": namespace }, "spec": { "podSelector": {} } });
    Object::new(body).unwrap()
}

/// Whoever knows only the kinds that it has met itself takes others for gone.
#[tokio::test]
async fn members_of_a_kind_that_no_manifest_has_are_found_on_an_old_server() {
    for age in [Age::Plain, Age::Beta] {
        let Some(opening) = Harbour::open() else { return };
        let mut harbour = opening.harbour().await;
        let old = OldServer::start(&harbour, age).await;
        harbour.cluster = old.fresh().await;
        let mut set = harbour.maps(&["a"]);
        set.push(policy("left", harbour.namespace.name()));
        let report = harbour.prune_set(set, Settings::default()).await.unwrap();
        assert!(report.is_whole(), "{age:?}: {report:?}");

        harbour.cluster = old.fresh().await;
        let report = harbour.prune_set(harbour.maps(&["a"]), Settings::default()).await.unwrap();
        assert_eq!(ends(&report), ["left deleted"], "{age:?}");
        assert_eq!(harbour.remembered(), "ConfigMap", "{age:?}");
    }
}

#[tokio::test]
async fn a_namespace_stays_for_kinds_that_no_manifest_has_on_an_old_server() {
    for age in [Age::Plain, Age::Beta] {
        let Some(opening) = Harbour::open() else { return };
        let mut harbour = opening.harbour().await;
        let old = OldServer::start(&harbour, age).await;
        harbour.cluster = old.fresh().await;
        let fresh = format!("{}-fresh", harbour.namespace.name());
        let body =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": fresh } });
        let namespace = vec![Object::new(body).unwrap()];
        harbour.prune_set(namespace, Settings::default()).await.unwrap();
        let theirs = harbour.apply(&policy("theirs", &fresh)).await.unwrap().object;

        harbour.cluster = old.fresh().await;
        let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
        let kept = format!("{fresh} kept: {} in it is not of this set", theirs.id());
        assert_eq!(ends(&report), [kept], "{age:?}");

        harbour.namespace.kubectl().run(&["-n", &fresh, "delete", "netpol", "theirs"]).unwrap();
        let report = harbour.prune_set(vec![], Settings::default()).await.unwrap();
        assert_eq!(ends(&report), [format!("{fresh} deleted")], "{age:?}");
    }
}

/// A kind that was known once is not known for ever.
#[tokio::test]
async fn a_kind_that_an_old_server_no_longer_serves_is_gone() {
    for age in [Age::Plain, Age::Beta] {
        let Some(opening) = Harbour::open() else { return };
        let harbour = opening.harbour().await;
        let old = OldServer::start(&harbour, age).await;
        let cluster = old.fresh().await;
        let group = format!("{}.example", harbour.namespace.name());
        let definition = harbour.apply(&crate::discovery::definition(&group)).await.unwrap();
        let kind = Kind::new(&format!("{group}/v1"), "Widget").unwrap();
        let served = async { while cluster.resource(&kind).await.is_err() {} };
        tokio::time::timeout(PATIENCE, served).await.expect("the kind is served");
        harbour.kubectl(&["delete", "crd", &definition.object.id().name]);
        let ids = [kind.named(Some(harbour.namespace.name()), "a")];
        let gone = async { while cluster.find(&ids, |live| live).await.is_err() {} };
        tokio::time::timeout(PATIENCE, gone).await.expect("the kind is gone");
        assert!(cluster.resource(&kind).await.is_err(), "{age:?}");
    }
}

#[tokio::test]
async fn an_old_server_says_everything_as_a_new_one_does() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    for age in [Age::Plain, Age::Beta] {
        let server = OldServer::start(&harbour, age).await;
        let old = server.fresh().await;
        for word in ["deploy", "hpa", "netpol", "ns", "events", "crd", "pods", "leases"] {
            let (theirs, ours) =
                tokio::join!(old.kind_called(word), harbour.cluster.kind_called(word));
            let (theirs, ours) = (theirs.unwrap(), ours.unwrap());
            assert_eq!((&theirs.kind, &theirs.plural), (&ours.kind, &ours.plural), "{age:?}");
            assert_eq!((theirs.namespaced, &theirs.verbs), (ours.namespaced, &ours.verbs));
        }
    }
}
