//! Nodes into objects, with lists taken apart.

use super::error::{ManifestError, Place};
use super::node::{Content, Mapping, Node};
use crate::Object;

/// An object, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The object.
    pub object: Object,
    /// Where it begins.
    pub place: Place,
}

/// Makes objects of documents, and adds what is none to the errors.
pub(super) fn gather(
    file: &str,
    documents: Vec<Node>,
    errors: &mut Vec<ManifestError>,
) -> Vec<Placed> {
    let mut placed = Vec::new();
    for document in documents {
        unfold(file, document, &mut placed, errors);
    }
    placed
}

/// Takes lists apart: what kubectl calls `kind: List`, and the typed lists too.
fn unfold(
    file: &str,
    mut document: Node,
    placed: &mut Vec<Placed>,
    errors: &mut Vec<ManifestError>,
) {
    let place = document.at.within(file);
    if let Content::Map(map) = &mut document.content
        && let Some(items) = items(map)
    {
        let list = map.text("kind").unwrap_or_default().to_owned();
        let version = map.text("apiVersion").unwrap_or_default().to_owned();
        for mut item in items.into_iter().filter(|item| !item.is_null()) {
            name_kind(&mut item, &list, &version);
            unfold(file, item, placed, errors);
        }
        return;
    }
    match Object::new(document.into_value()) {
        Ok(object) => placed.push(Placed { object, place }),
        Err(problem) => errors.push(ManifestError::NotAnObject { place, problem }),
    }
}

/// The items of a list. Go writes an empty one as null, or not at all.
fn items(map: &mut Mapping) -> Option<Vec<Node>> {
    let is_list = map.text("kind").is_some_and(|kind| kind.ends_with("List"));
    let is_plain = map.text("kind") == Some("List");
    match map.get("items").map(|items| &items.content) {
        Some(Content::List(_)) if is_list => match map.take("items")?.content {
            Content::List(items) => Some(items),
            Content::Scalar(_) | Content::Map(_) => None,
        },
        Some(Content::Scalar(null)) if is_list && null.is_null() => Some(Vec::new()),
        None if is_plain => Some(Vec::new()),
        _ => None,
    }
}

/// The items of a typed list need not say their kind.
fn name_kind(item: &mut Node, list: &str, version: &str) {
    let at = item.at;
    let Some(kind) = list.strip_suffix("List").filter(|kind| !kind.is_empty()) else { return };
    if let Content::Map(map) = &mut item.content
        && map.get("kind").is_none()
    {
        map.set_text("kind", kind, at);
        map.set_text("apiVersion", version, at);
    }
}
