//! `workloads`: what the cluster itself consists of runs as it should.

use events::{Because, Cause, Evidence, Failure, Verdict};
use objects::{Object, Status};

use super::Verify;
use super::work::SYSTEM;
use crate::hetzner::explain;
use crate::{codes, kube};

/// What makes pods, and what it is called in a count.
const MAKERS: [(&str, &str); 3] =
    [("DaemonSet", "daemon set"), ("Deployment", "deployment"), ("StatefulSet", "stateful set")];

/// So many are explained; the reasons of the rest are mostly the same.
const EXPLAINED: usize = 3;

pub(super) async fn look(verify: &Verify) -> Verdict {
    let seen = match system(verify).await {
        Ok(seen) => seen,
        Err(error) => return Verdict::blind(error),
    };
    let unwell: Vec<&Object> = seen.iter().filter(|it| !Status::of(it).is_ready()).collect();
    if unwell.is_empty() {
        Verdict::ready(evidence(&seen))
    } else {
        not_ready(verify, &unwell, &seen).await
    }
}

/// Returns all that is judged: what makes pods, and the pods that nothing of
/// it has made, such as static ones.
async fn system(verify: &Verify) -> Result<Vec<Object>, Failure> {
    let mut seen = Vec::new();
    for (kind, _) in MAKERS {
        seen.extend(verify.system(kube::kind("apps/v1", kind)).await?);
    }
    let pods = verify.system(kube::kind("v1", "Pod")).await?;
    seen.extend(pods.into_iter().filter(is_its_own));
    Ok(seen)
}

/// A static pod is owned by its node; what a Job leaves is judged by nobody.
fn is_its_own(pod: &Object) -> bool {
    pod.items("/metadata/ownerReferences").iter().all(|owner| owner["kind"] == "Node")
}

fn evidence(seen: &[Object]) -> Evidence {
    let kinds = MAKERS.into_iter().chain([("Pod", "pod of its own")]);
    let count = |kind: &str| seen.iter().filter(|it| it.kind().kind == kind).count();
    let counted: Vec<String> = kinds
        .map(|(kind, word)| (count(kind), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| many(count, word))
        .collect();
    // Nothing there is nothing unwell, and is said in so many words.
    let summary = match counted.as_slice() {
        [] => format!("{SYSTEM} runs nothing"),
        counted => counted.join(", "),
    };
    seen.iter().fold(Evidence::new(summary), |evidence, it| {
        evidence.fact(name(it), Status::of(it).to_string())
    })
}

fn many(count: usize, word: &str) -> String {
    match (count, word.split_once(' ')) {
        (1, _) => format!("1 {word}"),
        (_, Some(("pod", rest))) => format!("{count} pods {rest}"),
        _ => format!("{count} {word}s"),
    }
}

async fn not_ready(verify: &Verify, unwell: &[&Object], seen: &[Object]) -> Verdict {
    let mut lines = Vec::new();
    for object in unwell.iter().take(EXPLAINED) {
        lines.extend(reasons(verify, object).await);
    }
    lines.extend(unwell.iter().skip(EXPLAINED).map(|object| line(object)));
    let what = unwell.first().map(|object| line(object)).unwrap_or_default();
    let (some, all) = (unwell.len(), seen.len());
    let are = if some == 1 { "is" } else { "are" };
    let message = format!("{some} of {all} system workloads {are} not ready");
    let cause = Cause::new(codes::WORKLOAD_NOT_READY, message)
        .because(lines.clone())
        .seen(evidence(seen))
        .next(format!("kubectl -n {SYSTEM} get pods -o wide"), "shows where they run")
        .next(explain(codes::WORKLOAD_NOT_READY), "tells more");
    let because = lines.into_iter().skip(1).fold(Because::new(what), Because::caused_by);
    Verdict::not_yet(because.in_the_end(cause))
}

/// Returns why one is not ready. That it is not is known; where its reasons
/// may not be seen, that is said beside it.
async fn reasons(verify: &Verify, object: &Object) -> Vec<String> {
    let unseen = |why: String| vec![line(object), format!("its reasons cannot be seen: {why}")];
    let cluster = match verify.cluster().await {
        Ok(cluster) => cluster,
        Err(error) => return unseen(error.to_string()),
    };
    // Reasons end up in the journal and in reports.
    let chain = cluster.why_of(object).await.without_logs();
    if chain.links.is_empty() { vec![line(object)] } else { chain.lines() }
}

fn line(object: &Object) -> String {
    format!("{}: {}", name(object), Status::of(object).because().unwrap_or("ready"))
}

/// `daemonset cilium`
fn name(object: &Object) -> String {
    format!("{} {}", object.kind().kind.to_lowercase(), object.id().name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(owner: Option<&str>) -> Object {
        let owners: Vec<_> = owner.iter().map(|kind| json!({ "kind": kind })).collect();
        Object::new(json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "etcd-a", "ownerReferences": owners } }))
        .expect("it is an object")
    }

    #[test]
    fn only_pods_that_nothing_else_speaks_for_speak_for_themselves() {
        let own =
            [None, Some("Node"), Some("ReplicaSet"), Some("Job")].map(|it| is_its_own(&pod(it)));
        assert_eq!(own, [true, true, false, false]);
    }

    #[test]
    fn an_empty_namespace_is_said_to_be_empty() {
        assert_eq!(evidence(&[]).summary, "kube-system runs nothing");
        assert_eq!(evidence(&[pod(None), pod(None)]).summary, "2 pods of its own");
        assert_eq!(evidence(&[pod(None)]).summary, "1 pod of its own");
    }
}
