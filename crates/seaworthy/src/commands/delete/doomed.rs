//! Which lives are to end.

use std::collections::HashSet;

use objects::{Cluster, Doomed, Object, ObjectId, Propagation, Subject};

use super::shown::Shown;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::selection::{NamedIn, Selected, Selection, refused};

/// What was found.
pub(super) struct Found {
    pub(super) objects: Vec<Object>,
    /// What was named and is not there, where that is no mistake.
    pub(super) absent: Vec<ObjectId>,
}

/// Finds all that is to go. A name on the command line that is not there is
/// probably a slip: then nothing is deleted.
pub(super) async fn find(
    selection: &Selection,
    cluster: &Cluster,
    namespace: &str,
    ignore_not_found: bool,
) -> Result<Found, CommandError> {
    let selected = selection.resolve(cluster, namespace).await?;
    let (mut objects, mut named) = (Vec::new(), Vec::new());
    for Selected { subject, named_in } in selected {
        match subject {
            Subject::One(id) => named.push((id, named_in)),
            Subject::Each(scope) => {
                let listed = cluster.list(&scope).await.map_err(|error| refused(&error))?;
                objects.extend(listed.objects);
            }
        }
    }
    let ids: Vec<ObjectId> = named.iter().map(|(id, _)| id.clone()).collect();
    let there = cluster.find(&ids).await.map_err(|error| refused(&error))?;
    let found: HashSet<&ObjectId> = there.iter().map(Object::id).collect();
    let absent: Vec<_> = named.into_iter().filter(|(id, _)| !found.contains(id)).collect();
    if !ignore_not_found {
        no_slips(&absent)?;
    }
    objects.extend(there);
    Ok(Found { objects, absent: absent.into_iter().map(|(id, _)| id).collect() })
}

fn no_slips(absent: &[(ObjectId, NamedIn)]) -> Result<(), CommandError> {
    let slips = absent.iter().filter(|(_, named_in)| *named_in == NamedIn::Words);
    let slips: Vec<String> = slips.map(|(id, _)| id.to_string()).collect();
    let message = match &slips[..] {
        [] => return Ok(()),
        [one] => format!("{one} is not there"),
        many => format!("{} are not there", many.join(", ")),
    };
    Err(CommandError::say(Exit::Refused, format!("{message}; nothing was deleted"))
        .hint("`--ignore-not-found` deletes the others"))
}

/// Asks the API of every object whether it would delete it.
pub(super) async fn preview(
    cluster: &Cluster,
    waves: &[Vec<Doomed>],
    propagation: Propagation,
    mut shown: Shown<'_>,
) -> Result<(), CommandError> {
    for doomed in waves.iter().flatten() {
        match cluster.preview_deletion(doomed, propagation).await {
            Ok(deleted) => shown.would_delete(&doomed.id, &deleted.warnings)?,
            Err(error) => shown.would_fail(&doomed.id, &error)?,
        }
    }
    shown.end()
}
