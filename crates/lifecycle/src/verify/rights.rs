//! What the gates have to be allowed, and no more.

use serde_json::{Value, json};

use super::gates;

/// A right to list objects.
struct Right {
    /// The gate that needs it.
    gate: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
}

/// What each gate lists. Nothing is watched, and no secret is read.
const RIGHTS: &[Right] = &[
    right("api", "apiregistration.k8s.io", &["apiservices"]),
    // How many members there should be.
    right("etcd", "", &["nodes"]),
    // Which machines there should be.
    right("machines", "", &["nodes"]),
    right("nodes", "", &["nodes"]),
    right("nodes", "coordination.k8s.io", &["leases"]),
    right("cni", "", &["nodes", "pods", "events"]),
    right("cni", "apps", &["daemonsets"]),
    right("workloads", "", &["pods", "events"]),
    right("workloads", "apps", &["daemonsets", "deployments", "replicasets", "statefulsets"]),
    right("dns", "", &["services"]),
    right("dns", "discovery.k8s.io", &["endpointslices"]),
];

/// What every gate asks for first. Most clusters grant it to everybody who
/// logs in; those that do not need it said.
const PATHS: [&str; 7] =
    ["/version", "/readyz", super::etcd::PATH, "/api", "/api/*", "/apis", "/apis/*"];

const fn right(
    gate: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
) -> Right {
    Right { gate, group, resources }
}

/// Returns the `ClusterRole` that these gates need; all gates where none is named.
pub fn cluster_role(wanted: &[&str]) -> Value {
    let is_wanted = |gate: &str| wanted.is_empty() || wanted.contains(&gate);
    let mut rules = vec![json!({ "nonResourceURLs": PATHS, "verbs": ["get"] })];
    for gate in gates().filter(|gate| is_wanted(gate)) {
        let rights = RIGHTS.iter().filter(|right| right.gate == gate);
        rules.extend(rights.map(|right| {
            json!({ "apiGroups": [right.group], "resources": right.resources, "verbs": ["list"] })
        }));
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": "seaworthy-verify" },
        "rules": rules,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_only_reads_and_never_secrets() {
        let role = cluster_role(&[]);
        let rules = role["rules"].as_array().expect("rules are a list");
        assert_eq!(rules.len(), RIGHTS.len() + 1);
        for rule in rules {
            let verbs = rule["verbs"].as_array().expect("verbs are a list");
            assert!(verbs.iter().all(|verb| *verb == "get" || *verb == "list"), "{rule}");
        }
        assert!(!role.to_string().contains("secrets") && !role.to_string().contains("\"*\""));
    }

    #[test]
    fn fewer_gates_need_less() {
        let role = cluster_role(&["dns"]).to_string();
        assert!(role.contains("endpointslices") && !role.contains("leases"), "{role}");
        let role = cluster_role(&["machines"]).to_string();
        assert!(role.contains("\"nodes\"") && !role.contains("leases"), "{role}");
    }
}
