//! What the gates have to be allowed, and no more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// A right to list objects.
struct Right {
    /// The gate that needs it.
    gate: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
}

/// Who is granted the rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grantee {
    /// A user, by the name that the API knows them by.
    User(String),
    /// A group of users.
    Group(String),
    /// A service account that is made for it.
    Account,
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

/// The name of the role, of its binding and of the account.
const NAME: &str = "seaworthy-verify";

/// Where the account is made.
const NAMESPACE: &str = "kube-system";

const RBAC: &str = "rbac.authorization.k8s.io";

const fn right(
    gate: &'static str,
    group: &'static str,
    resources: &'static [&'static str],
) -> Right {
    Right { gate, group, resources }
}

/// Returns the objects that grant what these gates need, all gates where none is named.
pub fn rbac(wanted: &[&str], grantee: &Grantee) -> Vec<Value> {
    let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": { "name": NAME, "namespace": NAMESPACE } });
    let account = (*grantee == Grantee::Account).then_some(account);
    [cluster_role(wanted), binding(grantee)].into_iter().chain(account).collect()
}

fn cluster_role(wanted: &[&str]) -> Value {
    let is_wanted = |gate: &str| wanted.is_empty() || wanted.contains(&gate);
    let mut resources: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for right in RIGHTS.iter().filter(|right| is_wanted(right.gate)) {
        resources.entry(right.group).or_default().extend(right.resources);
    }
    let lists = resources.iter().map(|(group, resources)| {
        json!({ "apiGroups": [group], "resources": resources, "verbs": ["list"] })
    });
    let paths = json!({ "nonResourceURLs": PATHS, "verbs": ["get"] });
    let rules: Vec<_> = [paths].into_iter().chain(lists).collect();
    json!({
        "apiVersion": format!("{RBAC}/v1"),
        "kind": "ClusterRole",
        "metadata": { "name": NAME },
        "rules": rules,
    })
}

fn binding(grantee: &Grantee) -> Value {
    let subject = match grantee {
        Grantee::User(name) => json!({ "kind": "User", "apiGroup": RBAC, "name": name }),
        Grantee::Group(name) => json!({ "kind": "Group", "apiGroup": RBAC, "name": name }),
        Grantee::Account => {
            json!({ "kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE })
        }
    };
    json!({
        "apiVersion": format!("{RBAC}/v1"),
        "kind": "ClusterRoleBinding",
        "metadata": { "name": NAME },
        "roleRef": { "apiGroup": RBAC, "kind": "ClusterRole", "name": NAME },
        "subjects": [subject],
    })
}

#[cfg(test)]
mod tests {
    use super::super::gates;
    use super::*;

    #[test]
    fn every_gate_has_its_rights() {
        let with = |gate: &str| RIGHTS.iter().any(|right| right.gate == gate);
        let without: Vec<_> = gates().filter(|gate| !with(gate)).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    #[test]
    fn cluster_role_only_reads_and_never_secrets() {
        let role = cluster_role(&[]);
        let rules = role["rules"].as_array().expect("rules are a list");
        let groups: Vec<_> =
            rules.iter().filter_map(|rule| rule["apiGroups"][0].as_str()).collect();
        let unique: BTreeSet<_> = groups.iter().collect();
        assert_eq!(groups.len(), unique.len(), "one rule per API group: {groups:?}");
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

    #[test]
    fn rbac_binds_the_role_to_whoever_is_named() {
        let kinds = |objects: &[Value]| {
            objects
                .iter()
                .map(|it| it["kind"].as_str().unwrap_or("").to_owned())
                .collect::<Vec<_>>()
        };
        let ann = rbac(&[], &Grantee::User("ann".to_owned()));
        assert_eq!(kinds(&ann), ["ClusterRole", "ClusterRoleBinding"]);
        assert_eq!(ann[1]["subjects"][0]["name"], "ann");
        assert_eq!(ann[1]["roleRef"]["name"], ann[0]["metadata"]["name"]);
        let account = rbac(&[], &Grantee::Account);
        assert_eq!(kinds(&account), ["ClusterRole", "ClusterRoleBinding", "ServiceAccount"]);
        assert_eq!(account[1]["subjects"][0]["name"], account[2]["metadata"]["name"]);
    }
}
