//! What commands on objects tell machines with `-o json`: one document, and the
//! same envelope around what each of them has to say.
//!
//! ```json
//! { "command": "wait", "exit": 5, "interrupted": true, "afterMs": 1200, "error": null,
//!   "objects": [{ "apiVersion": "v1", "kind": "ConfigMap", "namespace": "app", "name": "a",
//!                 "result": "awaited", "because": "it is not there" }] }
//! ```

use std::io;

use objects::ObjectId;
use serde_json::{Value, json};

use crate::board::span;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Prints what came of each object, and whatever else the command has to say;
/// `more` is an object.
pub(crate) fn print(
    command: &str,
    exit: Exit,
    objects: Vec<Value>,
    more: Value,
    ui: &Ui,
) -> io::Result<()> {
    let mut record = envelope(command, exit, &Value::Null, ui);
    record["objects"] = objects.into();
    if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
        record.extend(more);
    }
    ui.json(&record)
}

/// Prints why a command has ended before it had anything to say of an object.
pub(crate) fn print_error(command: &str, error: &CommandError, ui: &Ui) -> io::Result<()> {
    let message = match error.message() {
        // A second signal does not wait for the sum.
        silent if silent.is_empty() => "ended at once; nobody knows what was under way".to_owned(),
        message => message,
    };
    let told = json!({ "message": message, "hints": error.hints() });
    ui.json(&envelope(command, error.exit(), &told, ui))
}

fn envelope(command: &str, exit: Exit, error: &Value, ui: &Ui) -> Value {
    json!({ "command": command, "exit": exit.code(), "interrupted": exit == Exit::Interrupted,
        "afterMs": span(ui.elapsed()).0, "error": error, "objects": [] })
}

/// The record of an object begins with what it is.
pub(crate) fn identity(id: &ObjectId) -> Value {
    json!({ "apiVersion": id.kind.api_version(), "kind": id.kind.kind,
        "namespace": id.namespace, "name": id.name })
}

/// The record of an object, and what came of it.
pub(crate) fn object(id: &ObjectId, result: &str) -> Value {
    let mut record = identity(id);
    record["result"] = result.into();
    record
}
