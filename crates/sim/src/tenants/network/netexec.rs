//! Kubernetes' own test server, which answers and dials others when asked to.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::dial::Dial;
use super::resolve;
use crate::kube::object::{items, name, namespace, texts};
use crate::kube::{Kube, PodAnswer, PodRequest};
use crate::tenants::Knobs;

/// The port of a test server that is told no other.
const PORT: u16 = 8080;

/// Says whether the test server runs in a pod and listens on a port.
pub(in crate::tenants) fn listens(pod: &Value, port: u16) -> bool {
    items(&pod["spec"]["containers"]).iter().any(|container| {
        let mut words = texts(&container["command"]);
        words.extend(texts(&container["args"]));
        let told = words.iter().find_map(|word| word.strip_prefix("--http-port=")?.parse().ok());
        words.iter().any(|word| word == "netexec") && told.unwrap_or(PORT) == port
    })
}

/// Answers as the test server does.
pub(in crate::tenants) fn answer(
    kube: &Kube,
    knobs: &Knobs,
    turns: &AtomicUsize,
    pod: &Value,
    request: &PodRequest,
) -> PodAnswer {
    match request.path.as_str() {
        "/hostname" | "/hostName" => PodAnswer::text(200, name(pod)),
        "/healthz" => PodAnswer::text(200, ""),
        "/echo" => PodAnswer::text(200, request.query("msg")),
        "/dial" => dial(kube, knobs, turns, pod, request)
            .unwrap_or_else(|why| PodAnswer::text(400, format!("{why}\n"))),
        path => {
            PodAnswer::text(501, format!("{path} is not implemented by this simulated server\n"))
        }
    }
}

fn dial(
    kube: &Kube,
    knobs: &Knobs,
    turns: &AtomicUsize,
    pod: &Value,
    asked: &PodRequest,
) -> Result<PodAnswer, String> {
    let tries = match asked.query("tries") {
        "" => 1,
        text => {
            text.parse::<usize>().map_err(|why| format!("tries parameter is invalid. {why}"))?
        }
    };
    let request = asked.query("request");
    if request.is_empty() {
        return Err("request parameter not specified. <nil>".to_owned());
    }
    if !["", "http"].contains(&asked.query("protocol")) {
        return Err(format!("unsupported protocol. {}", asked.query("protocol")));
    }
    let invalid = |why: String| format!("host and/or port param are invalid. {why}");
    let port = asked.query("port");
    let port = port.parse().map_err(|_| invalid(format!("lookup tcp/{port}: unknown port")))?;
    let address = resolve(kube, knobs, namespace(pod), asked.query("host"));
    let address = address.map_err(|why| invalid(why.to_string()))?;
    let dial = Dial { kube, knobs, from: pod, address: &address, port, request };
    let (mut responses, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..tries {
        match dial.send(turns.fetch_add(1, Ordering::Relaxed)) {
            Ok(response) => responses.push(response),
            Err(error) => errors.push(error),
        }
    }
    let mut said = json!({});
    if responses.last().is_some_and(|last| !last.is_empty()) {
        said["responses"] = json!(responses);
    }
    if !errors.is_empty() {
        said["errors"] = json!(errors);
    }
    Ok(PodAnswer::text(200, said.to_string()))
}
