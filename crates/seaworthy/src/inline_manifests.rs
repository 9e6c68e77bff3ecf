//! The manifests of a cluster file that Talos itself applies.

use std::path::Path;

use ::talos::config::InlineManifest;
use events::Secret;
use objects::manifest::{self, Source};
use spec::Plan;
use spec::plan::InlineManifestPlan;

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Reads all of them; they lie beside the cluster file. What Talos could not
/// read either is told here, before a node gets it.
pub(crate) fn read(plan: &Plan, beside: &Path) -> Result<Vec<InlineManifest>, CommandError> {
    plan.system.inline_manifests.iter().map(|planned| one(planned, beside)).collect()
}

fn one(planned: &InlineManifestPlan, beside: &Path) -> Result<InlineManifest, CommandError> {
    let path = beside.join(&planned.file);
    let refused = |why: String| {
        let message = format!("could not use the inline manifest `{}`: {why}", planned.name);
        CommandError::say(Exit::Usage, message)
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let open = |_: &Source| Ok::<_, std::io::Error>(text.clone().into_bytes());
    let objects = manifest::read_all(vec![Source::File(path.clone())], open)
        .map_err(|errors| refused(errors.to_string()))?;
    if objects.is_empty() {
        return Err(refused(format!("there is no object in {}", path.display())));
    }
    Ok(InlineManifest { name: planned.name.clone(), contents: Secret::new(text) })
}
