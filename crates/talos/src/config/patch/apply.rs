//! Applying patches to a machine config.

use events::Secret;
use serde_json::Value;

use super::delete::Deletion;
use super::error::{PatchError, Reason};
use super::merge::merge;
use super::read::{self, Mistake};
use super::rules::Place;
use super::steps::{DocumentId, Patch, Step};
use crate::yaml::write;

/// What errors call what is patched.
const CONFIG: &str = "the machine config";

struct Document {
    id: DocumentId,
    value: Value,
}

/// Applies patches to the text of a machine config, one after the other.
pub(in crate::config) fn apply(config: &Secret, patches: &[Patch]) -> Result<Secret, PatchError> {
    let mut documents = documents(config).map_err(|mistake| mistake.within(CONFIG))?;
    for patch in patches {
        for step in &patch.steps {
            take(&mut documents, step).map_err(|mistake| mistake.within(&patch.name))?;
        }
    }
    let texts: Vec<_> = documents.iter().map(|document| write(&document.value)).collect();
    Ok(Secret::new(texts.join("---\n")))
}

fn documents(config: &Secret) -> Result<Vec<Document>, Mistake> {
    let document = |node: super::node::Node| {
        let id = DocumentId::of(&node).map_err(|reason| Mistake {
            line: node.line,
            place: String::new(),
            reason,
        })?;
        let value = node.value(&mut Place::root(&id.kind));
        Ok(Document { id, value })
    };
    read::documents(config.reveal())?.into_iter().map(document).collect()
}

fn take(documents: &mut Vec<Document>, step: &Step) -> Result<(), Mistake> {
    match step {
        Step::Delete(deletion) => delete(documents, deletion),
        Step::Merge { id, document: new } => {
            let mut place = Place::root(&id.kind);
            if let Some(document) = documents.iter_mut().find(|document| document.id == *id) {
                return merge(&mut document.value, new, &mut place)
                    .map_err(|mistake| mistake.in_document(id));
            }
            let value = new.value(&mut place);
            documents.push(Document { id: id.clone(), value });
            Ok(())
        }
        Step::Operate { line, operation } => {
            let mistake =
                |reason| Mistake { line: *line, place: operation.path().to_string(), reason };
            let main = documents.iter_mut().find(|document| document.id.is_main());
            let main = main.ok_or_else(|| mistake(Reason::NoMain))?;
            json_patch::patch(&mut main.value, std::slice::from_ref(operation))
                .map_err(|error| mistake(Reason::Operation(error.kind.to_string())))
        }
    }
}

/// What is not there as a document needs no deletion.
fn delete(documents: &mut Vec<Document>, deletion: &Deletion) -> Result<(), Mistake> {
    let Some(place) = documents.iter().position(|document| document.id == deletion.id) else {
        return Ok(());
    };
    if deletion.path.is_empty() {
        documents.remove(place);
        return Ok(());
    }
    deletion.apply(&mut documents[place].value).map_err(|reason| {
        let (line, place) = (deletion.line, super::rules::written(&deletion.path));
        Mistake { line, place, reason }.in_document(&deletion.id)
    })
}

impl Mistake {
    /// Says which document a path is in, unless it is the main one.
    fn in_document(self, id: &DocumentId) -> Self {
        let place = format!("{id} {}", self.place).trim().to_owned();
        Self { place, ..self }
    }
}
