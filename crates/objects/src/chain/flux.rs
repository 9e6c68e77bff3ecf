//! What Flux's objects refer to.

use serde_json::Value;

use super::leads::Lead;
use crate::{Kind, Object, ObjectId};

const APPLIERS: [&str; 2] = ["kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"];
const SOURCES: &str = "source.toolkit.fluxcd.io";

/// So many objects of an inventory are looked at: one that is not ready is
/// enough, and an inventory may have thousands.
const INVENTORY: usize = 100;

/// What it depends on comes first, then where it comes from, then what it made.
pub(super) fn leads(object: &Object) -> Vec<Lead> {
    if !APPLIERS.contains(&object.kind().group.as_str()) {
        return Vec::new();
    }
    let depends = object.items("/spec/dependsOn").iter();
    let depends = depends.filter_map(|one| reference(object, one, object.kind()));
    let sources = ["/spec/sourceRef", "/spec/chart/spec/sourceRef", "/spec/chartRef"];
    let sources = sources.iter().filter_map(|place| object.at(place));
    let sources = sources.filter_map(|one| reference(object, one, &source_kind(one)?));
    let made = object.items("/status/inventory/entries").iter().filter_map(entry);
    let leads = [depends.collect(), sources.collect(), made.take(INVENTORY).collect::<Vec<_>>()];
    leads.into_iter().filter(|ids| !ids.is_empty()).map(Lead::Unwell).collect()
}

fn source_kind(reference: &Value) -> Option<Kind> {
    let api_version = reference["apiVersion"].as_str();
    let api_version = api_version.map_or_else(|| format!("{SOURCES}/v1"), str::to_owned);
    Kind::new(&api_version, reference["kind"].as_str()?).ok()
}

fn reference(from: &Object, one: &Value, kind: &Kind) -> Option<ObjectId> {
    let namespace = one["namespace"].as_str().or(from.id().namespace.as_deref());
    Some(kind.named(namespace, one["name"].as_str()?))
}

/// An entry is `namespace_name_group_kind`, with the version beside it. Only
/// the name may have more of these lines: its colons are written as two.
fn entry(one: &Value) -> Option<ObjectId> {
    let (namespace, rest) = one["id"].as_str()?.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    let version = one["v"].as_str()?.to_owned();
    let kind = Kind { group: group.to_owned(), version, kind: kind.to_owned() };
    let name = name.replace("__", ":");
    Some(kind.named(Some(namespace).filter(|namespace| !namespace.is_empty()), name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_of_an_inventory_are_objects() {
        let rbac = "rbac.authorization.k8s.io";
        let table = [
            ("shop_web_apps_Deployment", ("apps", "Deployment", Some("shop"), "web")),
            ("shop_prices__ConfigMap", ("", "ConfigMap", Some("shop"), "prices")),
            ("_shop__Namespace", ("", "Namespace", None, "shop")),
            (
                "_system__metrics__read_rbac.authorization.k8s.io_ClusterRole",
                (rbac, "ClusterRole", None, "system:metrics:read"),
            ),
            (
                "shop___edge___rbac.authorization.k8s.io_Role",
                (rbac, "Role", Some("shop"), ":edge:"),
            ),
        ];
        for (id, (group, kind, namespace, name)) in table {
            let kind =
                Kind { group: group.to_owned(), version: "v1".to_owned(), kind: kind.to_owned() };
            let wanted = Some(kind.named(namespace, name));
            assert_eq!(entry(&json!({ "id": id, "v": "v1" })), wanted, "{id}");
        }
        assert_eq!(entry(&json!({ "id": "shop_web", "v": "v1" })), None);
    }
}
