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

/// An entry is `namespace_name_group_kind`, with the version beside it.
fn entry(one: &Value) -> Option<ObjectId> {
    let parts: Vec<&str> = one["id"].as_str()?.split('_').collect();
    let [namespace, name, group, kind] = parts[..] else { return None };
    let version = one["v"].as_str()?.to_owned();
    let kind = Kind { group: group.to_owned(), version, kind: kind.to_owned() };
    // Names of RBAC objects may have colons, which are written twice.
    let name = name.replace("__", ":");
    Some(kind.named(Some(namespace).filter(|namespace| !namespace.is_empty()), name))
}
