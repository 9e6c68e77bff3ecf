//! `schema`: the cluster file, for editors.

use clap::Args;

use crate::command_error::CommandError;
use crate::ui::Ui;

/// Print the JSON Schema of the cluster file
///
/// Editors with a YAML language server complete and check with it:
///
///   # yaml-language-server: $schema=cluster.schema.json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(crate) struct SchemaArgs {}

pub(crate) fn run(_: &SchemaArgs, ui: &Ui) -> Result<(), CommandError> {
    Ok(ui.json(&spec::json_schema())?)
}
