//! `dns`: names can be asked for at an address behind which somebody answers.

use events::{Because, Cause, Evidence, Verdict};
use objects::{Object, Scope};

use super::Verify;
use super::work::SYSTEM;
use crate::hetzner::explain;
use crate::{codes, kube};

pub(super) async fn look(verify: &Verify) -> Verdict {
    let services = match verify.system(kube::kind("v1", "Service")).await {
        Ok(services) => services,
        Err(error) => return Verdict::blind(error),
    };
    let Some(service) = services.iter().find(|service| is_dns(service)) else {
        return none(format!("{SYSTEM} has no Service named or labelled kube-dns"), Vec::new());
    };
    let slices = Scope::all(kube::kind("discovery.k8s.io/v1", "EndpointSlice"))
        .within(SYSTEM)
        .labelled(format!("kubernetes.io/service-name={}", service.id().name));
    match verify.listed(&slices).await {
        Ok(slices) => behind(verify, service, judge(service, &slices)).await,
        Err(error) => Verdict::blind(error),
    }
}

/// Adds why the service has no ready endpoint, down to what its pods say.
async fn behind(verify: &Verify, service: &Object, mut verdict: Verdict) -> Verdict {
    let Some(cause) = verdict.cause_mut() else { return verdict };
    let why = async { verify.cluster().await.ok()?.why(service.id()).await.ok() };
    if let Some(why) = why.await {
        cause.because.extend(why.with_last_log_line().lines());
    }
    verdict
}

/// Distributions name it as they like, but keep the label.
fn is_dns(service: &Object) -> bool {
    service.id().name == "kube-dns" || service.text("/metadata/labels/k8s-app") == Some("kube-dns")
}

fn judge(service: &Object, slices: &[Object]) -> Verdict {
    let name = &service.id().name;
    let address = service.text("/spec/clusterIP").filter(|it| !it.is_empty() && *it != "None");
    let Some(address) = address else {
        return none(format!("service {name} has no address in the cluster"), Vec::new());
    };
    let endpoints = || slices.iter().flat_map(|slice| slice.items("/endpoints"));
    // Nothing said counts as ready, as the API has it.
    let is_ready = |it: &&serde_json::Value| it["conditions"]["ready"] != false;
    let (all, ready) = (endpoints().count(), endpoints().filter(is_ready).count());
    if ready == 0 {
        let what = format!("service {name} has no ready endpoint");
        return none(what, vec![format!("{all} endpoints are there, none is ready")]);
    }
    let of = if all == 1 { "endpoint" } else { "endpoints" };
    Verdict::ready(
        Evidence::new(format!("{address}, {ready} of {all} {of} ready"))
            .fact("service", name.clone())
            .fact("address", address)
            .fact("endpoints", all)
            .fact("endpoints ready", ready),
    )
}

fn none(what: String, behind: Vec<String>) -> Verdict {
    let because = Because::new(what.clone());
    let cause = Cause::new(codes::DNS_NOT_READY, "the cluster has no DNS")
        .because([what])
        .because(behind)
        .so("pods find nothing by its name")
        .next("kubectl -n kube-system get services,endpointslices,pods", "shows what is there")
        .next(without_dns(), "leaves it out, where none is wanted")
        .next(explain(codes::DNS_NOT_READY), "tells more");
    Verdict::not_yet(because.in_the_end(cause))
}

/// Machines are left out, too: not everybody has what they are asked with.
fn without_dns() -> String {
    let left_out = ["dns", super::MACHINES];
    let others: Vec<_> = super::gates().filter(|gate| !left_out.contains(gate)).collect();
    format!("seaworthy verify --gate {}", others.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn service(address: &str) -> Object {
        Object::new(json!({ "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "dns", "labels": { "k8s-app": "kube-dns" } },
            "spec": { "clusterIP": address } }))
        .expect("it is an object")
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value on the spot")]
    fn slice(endpoints: Value) -> Object {
        Object::new(json!({ "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": { "name": "dns-1" }, "endpoints": endpoints }))
        .expect("it is an object")
    }

    #[test]
    fn an_address_is_not_enough() {
        assert!(is_dns(&service("10.96.0.10")));
        let unready = slice(json!([{ "conditions": { "ready": false } }]));
        let verdict = judge(&service("10.96.0.10"), &[unready]);
        assert_eq!(verdict.to_string(), "service dns has no ready endpoint");
        let ready = slice(json!([{ "conditions": { "ready": true } }, { "conditions": {} }]));
        let verdict = judge(&service("10.96.0.10"), std::slice::from_ref(&ready));
        assert_eq!(verdict.to_string(), "10.96.0.10, 2 of 2 endpoints ready");
        let verdict = judge(&service("None"), &[ready]);
        assert_eq!(verdict.to_string(), "service dns has no address in the cluster");
    }
}
