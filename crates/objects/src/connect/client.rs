//! The client library's client, over connections of our own.

use std::time::Duration;

use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::{Body, ClientBuilder, ConfigExt as _};
use peers::{Dialer, Route, bounds};
use tower::ServiceBuilder;
use tower::util::BoxCloneSyncService;

/// A connector: TCP, perhaps through a proxy, then TLS, all within one time.
pub(super) fn client(
    config: &Config,
    route: Route,
    connect: Duration,
) -> Result<kube::Client, kube::Error> {
    let tls = config.rustls_client_config()?;
    let mut https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = config.tls_server_name.clone() {
        let name = name.try_into().map_err(kube::client::RustlsTlsError::InvalidServerName);
        let name = name.map_err(kube::Error::RustlsTls)?;
        https = https.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let https = https.enable_http1().wrap_connector(Dialer::new(route, connect));
    let connector = BoxCloneSyncService::new(ServiceBuilder::new().timeout(connect).service(https));
    let http: legacy::Client<_, Body> = legacy::Client::builder(TokioExecutor::new())
        .http1_max_buf_size(bounds::HEAD)
        .http1_max_headers(bounds::HEADER_FIELDS)
        .build(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(config.extra_headers_layer()?)
        .service(http);
    Ok(ClientBuilder::new(service, config.default_namespace.clone()).build())
}
