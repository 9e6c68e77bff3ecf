//! A connection from one pod to an address.

use std::net::Ipv4Addr;

use serde_json::Value;

use crate::kube::object::{items, name};
use crate::kube::{Kube, PodRequest};
use crate::tenants::Knobs;
use crate::tenants::presence::PODS;

/// Requests above this size need packets that do not fit into a tunnel.
const LARGE: usize = 1400;

/// What a server of TLS says to somebody who does not speak it.
const SPEAK_TLS: &str = "Client sent an HTTP request to an HTTPS server.\n";

/// A request from a pod.
pub(super) struct Dial<'a> {
    pub(super) kube: &'a Kube,
    pub(super) knobs: &'a Knobs,
    pub(super) from: &'a Value,
    pub(super) address: &'a str,
    pub(super) port: u16,
    pub(super) request: &'a str,
}

impl Dial<'_> {
    /// Returns the body of the answer, or what the caller's system says.
    pub(super) fn send(&self, turn: usize) -> Result<String, String> {
        if let Some(service) = self.kube.service_at(self.address) {
            return self.to_service(&service, turn);
        }
        let pods = self.kube.all(&PODS, "");
        let here = |pod: &&std::sync::Arc<Value>| {
            pod["status"]["podIP"] == self.address && pod["spec"]["hostNetwork"] != true
        };
        match pods.iter().find(here) {
            Some(pod) => self.to_pod(pod, self.port),
            None if self.is_outside() => self.to_outside(),
            None => Err(self.failed("connect: no route to host")),
        }
    }

    fn to_service(&self, service: &Value, turn: usize) -> Result<String, String> {
        let ports = items(&service["spec"]["ports"]);
        let Some(port) = ports.iter().find(|port| port["port"] == self.port) else {
            return Err(self.failed("i/o timeout"));
        };
        // The API's own service leads to the control planes.
        if service["spec"]["selector"].is_null() && name(service) == "kubernetes" {
            return Ok(SPEAK_TLS.to_owned());
        }
        match self.kube.endpoint(service, port, turn) {
            Some((pod, port)) => self.to_pod(&pod, port),
            None => Err(self.failed("connect: connection refused")),
        }
    }

    fn to_pod(&self, pod: &Value, port: u16) -> Result<String, String> {
        let node = |pod: &Value| pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
        let (from, to) = (node(self.from), node(pod));
        if self.knobs.cut.contains(&(from.clone(), to.clone())) {
            return Err(self.failed("i/o timeout"));
        }
        if self.knobs.large_packets_lost && from != to && self.request.len() > LARGE {
            let why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
            return Err(format!("Get \"{}\": {why}", self.url()));
        }
        let answer = self.kube.ask(pod, port, &PodRequest::read(self.request));
        answer.map(|it| it.body).ok_or_else(|| self.failed("connect: connection refused"))
    }

    fn to_outside(&self) -> Result<String, String> {
        if self.knobs.egress_blocked {
            return Err(self.failed("i/o timeout"));
        }
        Ok(if self.port == 443 { SPEAK_TLS } else { "ok\n" }.to_owned())
    }

    fn is_outside(&self) -> bool {
        self.address.parse::<Ipv4Addr>().is_ok_and(|ip| !ip.is_private() && !ip.is_loopback())
    }

    fn url(&self) -> String {
        format!("http://{}:{}/{}", self.address, self.port, self.request)
    }

    fn failed(&self, why: &str) -> String {
        format!("Get \"{}\": dial tcp {}:{}: {why}", self.url(), self.address, self.port)
    }
}
