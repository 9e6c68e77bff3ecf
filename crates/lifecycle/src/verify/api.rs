//! `api`: the API calls itself ready, and all that extends it answers.

use events::{Because, Cause, Evidence, Failure, Verdict};
use objects::{Health, Object, Status};

use super::Verify;
use crate::codes;
use crate::hetzner::explain;

pub(super) async fn look(verify: &Verify) -> Verdict {
    match seen(verify).await {
        Ok((health, _)) if !health.ok => not_ready(&health),
        Ok((_, services)) => judge(verify.version(), &services),
        Err(error) => Verdict::blind(error),
    }
}

async fn seen(verify: &Verify) -> Result<(Health, Vec<Object>), Failure> {
    let health = verify.cluster().await?.readyz().await.map_err(|error| verify.unread(&error))?;
    Ok((health, verify.all("apiregistration.k8s.io/v1", "APIService").await?))
}

fn not_ready(health: &Health) -> Verdict {
    let what = format!("/readyz fails at {}", health.failing.join(", "));
    let cause = Cause::new(codes::API_NOT_READY, "the Kubernetes API is not ready")
        .because([what.clone()])
        .next("kubectl get --raw '/readyz?verbose'", "shows every check")
        .next(explain(codes::API_NOT_READY), "tells more");
    Verdict::not_yet(Because::new(what).in_the_end(cause))
}

/// A server behind the API that does not answer also keeps namespaces from
/// being deleted, and discovery from being whole.
fn judge(version: &str, services: &[Object]) -> Verdict {
    let unwell = |service: &Object| {
        let name = service.id().name.clone();
        Status::of(service).because().map(|because| format!("{name}: {because}"))
    };
    let failing: Vec<String> = services.iter().filter_map(unwell).collect();
    let Some(first) = failing.first() else {
        let summary = match services.len() {
            0 => format!("{version}, /readyz is ok"),
            all => format!("{version}, {all} API services available"),
        };
        let evidence = Evidence::new(summary).fact("version", version).fact("readyz", "ok");
        return Verdict::ready(evidence.fact("API services", services.len()));
    };
    let of = format!("{} of {} API services", failing.len(), services.len());
    let cause = Cause::new(codes::API_SERVICE_UNAVAILABLE, format!("{of} do not answer"))
        .because(failing.clone())
        .next("kubectl get apiservices", "shows which servers are behind them")
        .next(explain(codes::API_SERVICE_UNAVAILABLE), "tells more");
    Verdict::not_yet(Because::new(first.clone()).in_the_end(cause))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(name: &str, available: &str) -> Object {
        Object::new(json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": { "name": name },
            "status": { "conditions": [{ "type": "Available", "status": available,
                "reason": "MissingEndpoints", "message": "no endpoints" }] },
        }))
        .expect("it is an object")
    }

    #[test]
    fn one_that_does_not_answer_is_named() {
        let well = service("v1.apps", "True");
        assert!(matches!(judge("v1.36.3", std::slice::from_ref(&well)), Verdict::Ready { .. }));
        let verdict = judge("v1.36.3", &[well, service("v1beta1.metrics.k8s.io", "False")]);
        assert_eq!(verdict.to_string(), "v1beta1.metrics.k8s.io: MissingEndpoints: no endpoints");
    }
}
