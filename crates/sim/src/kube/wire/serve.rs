//! Serving an API on a listener.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Response, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::server::danger::ClientCertVerifier;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::body::{self, Body};
use super::request::Request;
use super::route::Route;
use super::tls::{TlsError, verifier};
use super::{Identity, discovery, health, openapi, verbs};
use crate::kube::Kube;
use crate::kube::refusal::Refusal;
use crate::{Answer, Effect, Effects};

/// The name of this part of the world.
const PART: &str = "kube";

/// Serves one cluster's API to clients of one authority; clones share it.
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    kube: Kube,
    effects: Effects,
    version: String,
    clients: Arc<dyn ClientCertVerifier>,
}

impl Server {
    /// A server of an API that says to be of a version such as `v1.36.3`.
    pub fn new(
        kube: Kube,
        effects: Effects,
        version: &str,
        authority: &str,
    ) -> Result<Self, TlsError> {
        kube.change(|state| state.authority = Some(authority.to_owned()));
        let version = version.to_owned();
        let inner = Inner { kube, effects, version, clients: verifier(authority)? };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Serves on a listener until the future is dropped, and with it every
    /// connection.
    pub async fn serve(&self, listener: TcpListener, tls: Arc<ServerConfig>) {
        let acceptor = TlsAcceptor::from(tls);
        let mut connections = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(self.clone().connection(stream, acceptor.clone()));
                    }
                }
                Some(_) = connections.join_next() => {}
            }
        }
    }

    async fn connection(self, stream: TcpStream, acceptor: TlsAcceptor) {
        // A handshake that fails is the client's affair.
        let Ok(stream) = acceptor.accept(stream).await else { return };
        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let now = self.inner.kube.clock().now();
        let identity = Identity::of(shown, &*self.inner.clients, now);
        let cut = Arc::new(Notify::new());
        let service = service_fn(|request| {
            let (server, identity, cut) = (self.clone(), identity.clone(), Arc::clone(&cut));
            async move { server.answer(request, identity, &cut).await }
        });
        let builder = auto::Builder::new(TokioExecutor::new());
        tokio::select! {
            _ = builder.serve_connection(TokioIo::new(stream), service) => {}
            () = cut.notified() => {}
        }
    }

    async fn answer(
        self,
        request: http::Request<Incoming>,
        identity: Option<Identity>,
        cut: &Notify,
    ) -> Result<Response<Body>, Infallible> {
        let (parts, incoming) = request.into_parts();
        let Ok(body) = incoming.collect().await else {
            return Ok(body::refusal(&Refusal::bad_request(
                "the body of the request is incomplete",
            )));
        };
        let request = Request::new(parts, body.to_bytes());
        match self.respond(&request, identity.as_ref()) {
            Ok((response, Answer::Send)) => Ok(response),
            Ok((_, Answer::Lose)) => {
                cut.notify_one();
                std::future::pending().await
            }
            Err(refusal) => Ok(body::refusal(&refusal)),
        }
    }

    fn respond(
        &self,
        request: &Request,
        identity: Option<&Identity>,
    ) -> Result<(Response<Body>, Answer), Refusal> {
        let identity = identity.ok_or_else(Refusal::unauthorized)?;
        let route = Route::parse(&request.path, &self.inner.kube)?;
        let Route::Object(place) = &route else {
            return Ok((self.document(request, &route), Answer::Send));
        };
        let verb = verbs::verb(request, place);
        self.inner.effects.asked(PART, &format!("{verb} {}", place.resource.key.plural));
        identity.check(verb, place)?;
        let (response, subject) = verbs::answer(&self.inner.kube, request, place)?;
        let Some(subject) = subject.filter(|_| request.query("dryRun").is_empty()) else {
            return Ok((response, Answer::Send));
        };
        let part = if place.subresource.is_empty() { "" } else { "/" };
        let call = format!("{verb} {}{part}{}", place.resource.key.plural, place.subresource);
        let subject = match place.namespace.as_str() {
            "" => subject,
            namespace => format!("{namespace}/{subject}"),
        };
        let answer = self.inner.effects.happened(Effect { part: PART, call, subject });
        Ok((response, answer))
    }

    fn document(&self, request: &Request, route: &Route) -> Response<Body> {
        let resources = self.inner.kube.resources();
        let found = match route {
            Route::Health(check) => {
                return health::answer(&request.path, check, request.flag("verbose"));
            }
            Route::Core | Route::Groups if wants_all(request) => {
                let core = matches!(route, Route::Core);
                let all = discovery::aggregated(&resources, core).to_string();
                return body::with_type(200, AGGREGATED, all);
            }
            Route::Core => Some(discovery::core()),
            Route::Groups => Some(discovery::groups(&resources)),
            Route::Group(name) => discovery::group(&resources, name),
            Route::Kinds(group, version) => discovery::kinds(&resources, group, version),
            Route::Version => Some(discovery::version(&self.inner.version)),
            Route::OpenApi(path) if path.is_empty() => Some(openapi::index(&resources)),
            Route::OpenApi(path) => openapi::document(&resources, path),
            Route::Object(_) | Route::Unknown => None,
        };
        match found {
            Some(document) => body::json(200, &document),
            None => body::text(404, "404 page not found\n"),
        }
    }
}

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn wants_all(request: &Request) -> bool {
    let wanted = request.header(header::ACCEPT);
    wanted.contains("as=APIGroupDiscoveryList") && wanted.contains("v=v2;")
}
