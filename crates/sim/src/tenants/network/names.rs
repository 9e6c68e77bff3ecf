//! Names: those of services, and those of the outside.

use serde_json::Value;

use crate::kube::object::{name, namespace};
use crate::kube::{Key, Kube};
use crate::tenants::Knobs;
use crate::tenants::presence::{Labels, leader};

const SERVICES: Key = Key::core("services");
const DNS: Labels = &[("k8s-app", "kube-dns")];
const DOMAIN: &str = "cluster.local";

/// Why a name is not found, in the words of Go's resolver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lookup {name} on {server}:53: {why}")]
pub(in crate::tenants) struct NameError {
    name: String,
    server: String,
    why: &'static str,
}

/// Returns the address of a name as a pod of a namespace finds it.
pub(in crate::tenants) fn resolve(
    kube: &Kube,
    knobs: &Knobs,
    from: &str,
    wanted: &str,
) -> Result<String, NameError> {
    if wanted.parse::<std::net::IpAddr>().is_ok() {
        return Ok(wanted.to_owned());
    }
    let failed = |why| {
        let server = service(kube, "kube-system", "kube-dns");
        let server = server.and_then(|it| Some(it["spec"]["clusterIP"].as_str()?.to_owned()));
        Err(NameError { name: wanted.to_owned(), server: server.unwrap_or_default(), why })
    };
    if leader(kube, DNS).is_none() {
        return failed("i/o timeout");
    }
    let plain = wanted.trim_end_matches('.');
    if let Some(service) = service(kube, from, plain) {
        let address = service["spec"]["clusterIP"].as_str().unwrap_or_default();
        return if knobs.names_inside_fail {
            failed("no such host")
        } else {
            Ok(address.to_owned())
        };
    }
    if plain.ends_with(DOMAIN) || !plain.contains('.') {
        return failed("no such host");
    }
    if knobs.names_outside_fail {
        return failed("server misbehaving");
    }
    Ok(OUTSIDE.to_owned())
}

/// Where all names of the outside lead: an address that is nobody's.
const OUTSIDE: &str = "198.51.100.7";

/// Returns the service that a name means, by way of the search list of a pod.
fn service(kube: &Kube, from: &str, wanted: &str) -> Option<Value> {
    let searched = [
        format!(".{from}.svc.{DOMAIN}"),
        format!(".svc.{DOMAIN}"),
        format!(".{DOMAIN}"),
        String::new(),
    ];
    let services = kube.all(&SERVICES, "");
    let full = |one: &Value| format!("{}.{}.svc.{DOMAIN}", name(one), namespace(one));
    searched.iter().find_map(|ending| {
        let candidate = format!("{wanted}{ending}");
        services.iter().find(|one| full(one) == candidate).map(|one| (**one).clone())
    })
}
