//! The Kubernetes API, as this run's administrator.

use std::sync::Arc;

use events::{Failure, Verdict};
use objects::{Access, AccessError, Cluster, Kind, Listed, Object, ObjectId, Scope};

use crate::Site;

/// Asks an API whether it is ready; the error is what people should read.
pub(crate) async fn is_ready(site: &Site, server: &str) -> Result<(), String> {
    let cluster = connect(site, server).await.map_err(|error| error.to_string())?;
    let health = cluster.readyz().await.map_err(|error| error.failure().to_string())?;
    if health.ok { Ok(()) } else { Err(format!("/readyz fails at {}", health.failing.join(", "))) }
}

/// Connects to a control plane that has answered, or to the endpoint.
pub(crate) async fn any(site: &Site) -> Result<Cluster, Failure> {
    let server =
        site.api().ok_or_else(|| Failure::transient("no control plane has answered yet"))?;
    if let Some(cluster) = site.kube(&server) {
        return Ok(cluster);
    }
    let cluster = at(site, &server).await?;
    site.keep_kube(&server, cluster.clone());
    Ok(cluster)
}

/// Connects to one server.
pub(crate) async fn at(site: &Site, server: &str) -> Result<Cluster, Failure> {
    connect(site, server).await.map_err(|error| Failure::permanent(error.to_string()))
}

/// Lists objects of a kind, in all namespaces.
pub(crate) async fn list(site: &Site, scope: &Scope) -> Result<Vec<Object>, Failure> {
    let Listed { objects, .. } =
        any(site).await?.list(scope).await.map_err(|error| error.failure())?;
    Ok(objects)
}

/// Gets an object.
pub(crate) async fn get(site: &Site, id: &ObjectId) -> Result<Option<Object>, Failure> {
    any(site).await?.get(id).await.map_err(|error| error.failure())
}

/// Returns a kind of ours: its name is known to be one.
pub(crate) fn kind(api_version: &str, kind: &str) -> Kind {
    Kind::new(api_version, kind).expect("the kinds that stages read are written right")
}

/// Says that a look failed.
pub(crate) fn blind(error: Failure) -> Verdict {
    Verdict::blind(error)
}

async fn connect(site: &Site, server: &str) -> Result<Cluster, AccessError> {
    let admin = site.kubernetes_admin();
    let (authority, certificate) = (admin.authority().pem(), admin.certificate().pem());
    let access =
        Access::with_certificates(server, authority, certificate, admin.key().pem().reveal())?;
    access.proxies(Arc::clone(&site.proxies)).connect().await
}
