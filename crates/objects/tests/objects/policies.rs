//! What the cluster's own policies say no to.

use objects::{Object, Ownership, Trouble};
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};

#[tokio::test]
async fn a_policy_says_no_by_its_name() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let (group, name) = ("admissionregistration.k8s.io/v1", harbour.namespace.name());
    let here = json!({ "matchLabels": { "kubernetes.io/metadata.name": name } });
    let rules = json!([{ "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
        "operations": ["CREATE", "UPDATE"] }]);
    // Without a reason, the API calls its no invalid (422).
    let validations = json!([
        { "expression": "!has(object.data.bad)", "message": "no bad maps" },
        { "expression": "!has(object.data.worse)", "message": "no worse", "reason": "Forbidden" },
    ]);
    let policy = json!({ "apiVersion": group, "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": name }, "spec": { "validations": validations,
            "matchConstraints": { "resourceRules": rules, "namespaceSelector": here } } });
    let binding = json!({ "apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": name },
        "spec": { "policyName": name, "validationActions": ["Deny"] } });
    for object in [policy, binding] {
        harbour.apply(&Object::new(object).unwrap()).await.unwrap();
    }
    for (key, words) in [("bad", "no bad maps"), ("worse", "no worse")] {
        let map = harbour.config_map("a", json!({ key: "1" }));
        // The API server takes a moment to know the policy.
        let said_no = async {
            loop {
                if let Err(error) = harbour.cluster.preview(&map, Ownership::Respect, None).await {
                    return error;
                }
                tokio::task::yield_now().await;
            }
        };
        let error = tokio::time::timeout(PATIENCE, said_no).await.unwrap();
        let Trouble::Denied(message) = error.trouble() else { panic!("{error:?}") };
        let who =
            format!("ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request");
        assert!(message.contains(&format!("{who}: {words}")), "{message}");
        assert!(error.to_string().ends_with("; change the object or the policy"), "{error}");
    }
    harbour.kubectl(&["delete", "validatingadmissionpolicybinding", name]);
    harbour.kubectl(&["delete", "validatingadmissionpolicy", name]);
}
