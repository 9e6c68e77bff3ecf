//! Objects as tables, which is how kubectl prints them.

mod cells;
mod columns;
mod custom;
mod pods;
mod text;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kube::api::Place;
use crate::kube::object;

/// A column: its name, its type, and one where only `-o wide` shows it.
type Column = (&'static str, &'static str, u8);

/// Writes objects as a table. `include` says what of the object goes along:
/// its metadata, all of it, or nothing.
pub(super) fn table(
    place: &Place,
    objects: &[Value],
    now: Timestamp,
    revision: u64,
    include: &str,
) -> Value {
    let (columns, cells): (Vec<Value>, Vec<Vec<Value>>) = if place.resource.custom {
        let own = place.resource.version(&place.version);
        let own = own.map(|version| version.columns.as_slice()).unwrap_or_default();
        let cells = objects.iter().map(|one| custom::cells(own, one, now)).collect();
        (custom::columns(own), cells)
    } else {
        let cells =
            objects.iter().map(|one| cells::cells(&place.resource.kind, one, now)).collect();
        (columns::of(&place.resource.kind).iter().map(definition).collect(), cells)
    };
    let row = |(object, cells): (&Value, Vec<Value>)| {
        let mut row = json!({ "cells": cells });
        match include {
            "None" => {}
            "Object" => row["object"] = object.clone(),
            _ => row["object"] = metadata_only(object),
        }
        row
    };
    let rows: Vec<Value> = objects.iter().zip(cells).map(row).collect();
    json!({ "kind": "Table", "apiVersion": "meta.k8s.io/v1", "columnDefinitions": columns, "rows": rows,
        "metadata": { "resourceVersion": revision.to_string() } })
}

/// Writes an object's metadata alone.
pub(super) fn metadata_only(object: &Value) -> Value {
    let mut metadata = object["metadata"].clone();
    if object::name(object).is_empty() {
        metadata["name"] = json!("");
    }
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata })
}

fn definition((name, kind, priority): &Column) -> Value {
    let format = if *name == "Name" { "name" } else { "" };
    json!({ "name": name, "type": kind, "format": format, "description": "", "priority": priority })
}
