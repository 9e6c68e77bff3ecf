//! Which lives are to end.

use std::collections::HashSet;

use futures::stream::{self, StreamExt as _};
use objects::{ApiError, Cluster, Doomed, Object, ObjectId, Propagation, Scope, Subject};

use super::shown::Shown;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reading::Reader;
use crate::selection::{NamedIn, Selected};

/// How many questions are under way at the same time.
const AT_ONCE: usize = 32;

/// What was found.
pub(super) struct Found {
    pub(super) objects: Vec<Target>,
    /// What was named and is not there, where that is no mistake.
    pub(super) absent: Vec<ObjectId>,
}

/// One life that is to end.
pub(super) struct Target {
    pub(super) doomed: Doomed,
    /// The group and kind that it defines, where it is a definition.
    pub(super) defines: Option<(String, String)>,
}

/// Whoever names a namespace means what is in it: a kind that is in none would
/// go from the whole cluster.
pub(super) fn within(selected: &[Selected], namespace: Option<&str>) -> Result<(), CommandError> {
    let Some(namespace) = namespace else { return Ok(()) };
    let everywhere = |one: &Selected| match &one.subject {
        Subject::Each(scope) if scope.namespace().is_none() => Some(scope.to_string()),
        _ => None,
    };
    let Some(scope) = selected.iter().find_map(everywhere) else { return Ok(()) };
    let message = format!(
        "{scope} is in no namespace, so `-n {namespace}` would not keep the others; nothing was \
         deleted"
    );
    Err(CommandError::say(Exit::Usage, message)
        .hint("name those that are meant: KIND/NAME")
        .hint(format!("leave `-n {namespace}` out to delete every {scope} of the cluster")))
}

/// Finds all that is to go. A name on the command line that is not there is
/// probably a slip: then nothing is deleted.
pub(super) async fn find(
    selected: Vec<Selected>,
    reader: &Reader,
    ignore_not_found: bool,
) -> Result<Found, CommandError> {
    let (mut objects, mut named) = (Vec::new(), Vec::new());
    for Selected { subject, named_in } in selected {
        match subject {
            Subject::One(id) => named.push((id, named_in)),
            Subject::Each(scope) => {
                objects.extend(reader.ask(async || listed(&reader.cluster, &scope).await).await?);
            }
        }
    }
    let ids: Vec<ObjectId> = named.iter().map(|(id, _)| id.clone()).collect();
    let find = async || reader.cluster.find(&ids, |object| Target::of(&object)).await;
    let there: Vec<Target> = reader.ask(find).await?.into_iter().flatten().collect();
    let found: HashSet<&ObjectId> = there.iter().map(|target| &target.doomed.id).collect();
    let absent: Vec<_> = named.into_iter().filter(|(id, _)| !found.contains(id)).collect();
    if !ignore_not_found {
        no_slips(&absent)?;
    }
    objects.extend(there);
    Ok(Found { objects, absent: absent.into_iter().map(|(id, _)| id).collect() })
}

/// A list that broke off begins anew, and nothing of it is kept.
async fn listed(cluster: &Cluster, scope: &Scope) -> Result<Vec<Target>, ApiError> {
    let mut targets = Vec::new();
    cluster.list_each(scope, |object| targets.extend(Target::of(&object))).await?;
    Ok(targets)
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
    reader: &Reader,
    waves: &[Vec<Doomed>],
    propagation: Propagation,
    mut shown: Shown<'_>,
) -> Result<(), CommandError> {
    let ask = |doomed| async move {
        let ask = async || reader.cluster.preview_deletion(doomed, propagation).await;
        (doomed, reader.ask(ask).await)
    };
    let mut asked = stream::iter(waves.iter().flatten()).map(ask).buffered(AT_ONCE);
    while let Some((doomed, would)) = asked.next().await {
        match would {
            Ok(deleted) => shown.would_delete(&doomed.id, &deleted.warnings)?,
            Err(error) => shown.would_fail(&doomed.id, &error.message())?,
        }
    }
    shown.end()
}

// === impl Target ===

impl Target {
    pub(super) fn of(object: &Object) -> Option<Self> {
        let doomed = Doomed { id: object.id().clone(), uid: object.uid()?.to_owned() };
        let is_definition = object.kind().is("apiextensions.k8s.io", "CustomResourceDefinition");
        let text = |pointer| object.text(pointer).filter(|_| is_definition).map(str::to_owned);
        let defines = text("/spec/group").zip(text("/spec/names/kind"));
        Some(Self { doomed, defines })
    }
}
