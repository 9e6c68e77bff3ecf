//! The few rules that clients rely on: names, and what may not change.

use serde_json::Value;

use super::object::{self, items};
use super::refusal::{Problem, Refusal};
use super::resource::Resource;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// The fields that may not change, by kind.
const IMMUTABLE: &[(&str, &str)] = &[
    ("Deployment", "/spec/selector"),
    ("ReplicaSet", "/spec/selector"),
    ("DaemonSet", "/spec/selector"),
    ("StatefulSet", "/spec/selector"),
    ("Job", "/spec/selector"),
    ("Job", "/spec/template"),
    ("Job", "/spec/completions"),
    ("RoleBinding", "/roleRef"),
    ("ClusterRoleBinding", "/roleRef"),
    ("StorageClass", "/provisioner"),
    ("StorageClass", "/parameters"),
    ("PersistentVolumeClaim", "/spec/accessModes"),
];

/// Checks an object that is to be made.
pub(crate) fn check_new(resource: &Resource, object: &Value) -> Result<(), Refusal> {
    let mut problems = Vec::new();
    problems.extend(check_name(resource, object));
    problems.extend(check_selector(resource, object));
    problems.extend(check_pod(resource, object));
    problems.extend(check_definition(resource, object));
    refuse(resource, object, &problems)
}

/// Checks what an object is to become.
pub(crate) fn check_change(
    resource: &Resource,
    before: &Value,
    after: &Value,
) -> Result<(), Refusal> {
    let rules = IMMUTABLE.iter().filter(|(kind, _)| *kind == resource.kind && !resource.custom);
    let changed = rules.filter(|(_, at)| before.pointer(at) != after.pointer(at));
    let mut problems: Vec<Problem> = changed.map(|(_, at)| immutable(at, after)).collect();
    if ["ConfigMap", "Secret"].contains(&resource.kind.as_str()) && before["immutable"] == true {
        let data =
            |object: &Value| (object.get("data").cloned(), object.get("binaryData").cloned());
        if data(before) != data(after) {
            let why = "field is immutable when `immutable` is set".to_owned();
            problems.push(Problem {
                reason: "FieldValueForbidden",
                field: "data".to_owned(),
                message: format!("Forbidden: {why}"),
            });
        }
    }
    problems.extend(check_selector(resource, after));
    refuse(resource, after, &problems)
}

fn immutable(at: &str, after: &Value) -> Problem {
    let field = at.trim_start_matches('/').replace('/', ".");
    Problem::immutable(&field, after.pointer(at).unwrap_or(&Value::Null))
}

fn refuse(resource: &Resource, object: &Value, problems: &[Problem]) -> Result<(), Refusal> {
    match problems {
        [] => Ok(()),
        problems => Err(Refusal::invalid(resource, object::name(object), problems)),
    }
}

fn check_name(resource: &Resource, object: &Value) -> Option<Problem> {
    let name = object::name(object);
    let value = &object["metadata"]["name"];
    if resource.key.group == "rbac.authorization.k8s.io" {
        let bad = name == "." || name == ".." || name.contains(['/', '%']);
        return bad.then(|| Problem::invalid("metadata.name", value, "may not contain '/' or '%'"));
    }
    if ["Service", "Namespace"].contains(&resource.kind.as_str()) && !resource.custom {
        let fits = is_label(name) && name.len() <= 63;
        return (!fits).then(|| Problem::invalid("metadata.name", value, LABEL));
    }
    let fits = name.len() <= 253 && name.split('.').all(is_label);
    (!fits).then(|| Problem::invalid("metadata.name", value, SUBDOMAIN))
}

fn is_label(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(legal) && !text.starts_with('-') && !text.ends_with('-')
}

/// A workload's selector must find the pods of its own template.
fn check_selector(resource: &Resource, object: &Value) -> Vec<Problem> {
    let kinds = ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"];
    if resource.key.group != "apps" || !kinds.contains(&resource.kind.as_str()) {
        return Vec::new();
    }
    let (spec, mut problems) = (&object["spec"], Vec::new());
    let labels = &spec["template"]["metadata"]["labels"];
    if spec["selector"].is_null() {
        problems.push(Problem::required("spec.selector", ""));
    } else if !super::selector::LabelSelector::of(&spec["selector"]).matches(labels) {
        let why = "`selector` does not match template `labels`";
        problems.push(Problem::invalid("spec.template.metadata.labels", labels, why));
    }
    if items(&spec["template"]["spec"]["containers"]).is_empty() {
        problems.push(Problem::required("spec.template.spec.containers", ""));
    }
    problems
}

fn check_pod(resource: &Resource, object: &Value) -> Vec<Problem> {
    if resource.kind != "Pod" || resource.custom {
        return Vec::new();
    }
    let containers = items(&object["spec"]["containers"]);
    if containers.is_empty() {
        return vec![Problem::required("spec.containers", "")];
    }
    let nameless = containers.iter().enumerate().filter(|(_, one)| one["name"].as_str().is_none());
    nameless.map(|(at, _)| Problem::required(&format!("spec.containers[{at}].name"), "")).collect()
}

fn check_definition(resource: &Resource, object: &Value) -> Option<Problem> {
    if resource.kind != "CustomResourceDefinition" {
        return None;
    }
    let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let wanted = format!("{}.{}", text("/spec/names/plural"), text("/spec/group"));
    let why = "must be spec.names.plural+\".\"+spec.group";
    let value = &object["metadata"]["name"];
    (object::name(object) != wanted).then(|| Problem::invalid("metadata.name", value, why))
}
