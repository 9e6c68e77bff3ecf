//! The API's way into the cluster: a request goes on to a pod, or to one of
//! the pods of a service.

use serde_json::Value;

use super::Kube;
use super::api::Place;
use super::controllers::{PODS, named_port};
use super::object::{has_condition, items, name};
use super::processes::{PodAnswer, PodRequest};
use super::refusal::Refusal;
use super::resource::Key;
use super::selector::LabelSelector;

const SERVICES: Key = Key::core("services");

/// A name with what may stand around it: `http:web:8080`.
struct Target<'a> {
    name: &'a str,
    port: &'a str,
}

impl<'a> Target<'a> {
    fn read(text: &'a str) -> Result<Self, Refusal> {
        let (name, port) = match text.split(':').collect::<Vec<_>>().as_slice() {
            [name] => (*name, ""),
            [name, port] | ["" | "http" | "https", name, port] => (*name, *port),
            _ => return Err(Refusal::bad_request(format!("invalid proxy target \"{text}\""))),
        };
        Ok(Self { name, port })
    }
}

impl Kube {
    /// Passes a request on to the pod or the service of a place.
    pub(crate) fn proxy(&self, place: &Place, request: &PodRequest) -> Result<PodAnswer, Refusal> {
        let target = Target::read(&place.name)?;
        let found = self.get(&Place { subresource: String::new(), ..place.named(target.name) })?;
        let (pod, port) = match place.resource.key.plural.as_ref() {
            "pods" => direct(found, &target)?,
            "services" => self.behind(&found, &target)?,
            other => return Err(Refusal::not_implemented(&format!("the proxy of {other}"))),
        };
        self.ask(&pod, port, request).ok_or_else(|| {
            let address = pod["status"]["podIP"].as_str().unwrap_or_default();
            Refusal::service_unavailable(format!(
                "error trying to reach service: dial tcp {address}:{port}: connect: connection refused"
            ))
        })
    }

    /// Returns a ready pod of a service and the port on which it listens.
    fn behind(&self, service: &Value, target: &Target<'_>) -> Result<(Value, u16), Refusal> {
        let ports = items(&service["spec"]["ports"]);
        let fits = |port: &&Value| {
            target.port.is_empty()
                || port["name"] == target.port
                || port["port"].as_u64().is_some_and(|number| number.to_string() == target.port)
        };
        let port = ports.iter().find(fits).ok_or_else(|| {
            let (port, name) = (target.port, target.name);
            Refusal::service_unavailable(format!(
                "no service port \"{port}\" found for service \"{name}\""
            ))
        })?;
        self.endpoint(service, port, 0).ok_or_else(|| {
            let why = format!("no endpoints available for service \"{}\"", target.name);
            Refusal::service_unavailable(why)
        })
    }

    /// Returns one of the ready pods of a service, and its port behind a port of
    /// the service.
    pub(crate) fn endpoint(
        &self,
        service: &Value,
        port: &Value,
        turn: usize,
    ) -> Option<(Value, u16)> {
        let selector = &service["spec"]["selector"];
        if selector.is_null() {
            return None;
        }
        let here = super::object::namespace(service);
        let mut pods = self.matching(&PODS, here, &LabelSelector::of_map(selector));
        pods.retain(|pod| has_condition(pod, "Ready", "True"));
        let pod = pods.get(turn % pods.len().max(1))?;
        let wanted = &port["targetPort"];
        let number = wanted.as_u64().or_else(|| named_port(pod, wanted));
        let number = number.or_else(|| port["port"].as_u64().filter(|_| wanted.is_null()))?;
        Some(((**pod).clone(), u16::try_from(number).ok()?))
    }

    /// Returns the service that has an address.
    pub(crate) fn service_at(&self, address: &str) -> Option<Value> {
        let services = self.all(&SERVICES, "");
        let found = services.iter().find(|one| one["spec"]["clusterIP"] == address)?;
        Some((**found).clone())
    }
}

fn direct(pod: Value, target: &Target<'_>) -> Result<(Value, u16), Refusal> {
    if pod["status"]["podIP"].as_str().is_none() {
        return Err(Refusal::bad_request("address not allowed"));
    }
    let first =
        || items(&pod["spec"]["containers"]).iter().flat_map(|one| items(&one["ports"])).next();
    let port = match target.port {
        "" => first().and_then(|port| port["containerPort"].as_u64()),
        port => port.parse().ok().or_else(|| named_port(&pod, &Value::from(port))),
    };
    let port = port.or(Some(80).filter(|_| target.port.is_empty()));
    let port = port.and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or_else(|| {
        let (port, name) = (target.port, name(&pod));
        Refusal::bad_request(format!("invalid port \"{port}\" of pod \"{name}\""))
    })?;
    Ok((pod, port))
}
