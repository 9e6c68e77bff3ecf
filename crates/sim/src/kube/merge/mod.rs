//! How two readings of an object become one: the patches, server-side apply,
//! and the record of who owns which field.

mod apply;
mod field_set;
mod managed;
mod ordered;
mod plain;
mod shape;
mod strategic;

pub(crate) use apply::apply;
pub(crate) use managed::{Manager, Operation, record_update};
pub(crate) use plain::{json_patch, merge_patch};
pub(crate) use shape::Shape;
pub(crate) use strategic::strategic_patch;
