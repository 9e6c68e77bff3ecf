//! Words for what is stuck: for how long, why, and what to do.

use events::NextStep;
use objects::{Finalizer, Impatience, Waiting};
use report::terminal::Mishap;

use crate::board::span;

/// Tells of one that is stuck; `not_forced` is why it was not forced, where that was wished.
pub(super) fn mishap(
    waiting: &Waiting,
    because: Vec<String>,
    not_forced: Option<&String>,
) -> Mishap {
    let id = &waiting.doomed.id;
    let (waited, quiet) = (span(waiting.waited), span(waiting.quiet).roughly());
    let message = match waiting.ended {
        // The error names the object and what to do.
        Some(Impatience::Refused) if because.len() == 1 => {
            return Mishap { message: because[0].clone(), ..Mishap::default() };
        }
        Some(Impatience::Refused) => format!("could not delete {id}"),
        Some(Impatience::Deadline) => format!("{id} is not gone after {waited}"),
        _ => format!("{id} is stuck: no change for {quiet}, {waited} in all"),
    };
    let story = waiting.story();
    let story = (!story.is_empty()).then(|| ("so far", story.join(", ")));
    let refused = not_forced.map(|error| ("forced", format!("no: {error}")));
    let notes = story.into_iter().chain(refused).collect();
    let mut next = vec![waiting.next()];
    next.extend(force_step(waiting));
    Mishap { message, because, notes, next }
}

/// Suggests the last resort, where there is something to force. Of a namespace
/// that is what its content waits for: the namespace itself only after it. A
/// definition waits for its objects, and is never forced on advice.
fn force_step(waiting: &Waiting) -> Option<NextStep> {
    let id = &waiting.doomed.id;
    let holds = ["kubernetes", Finalizer::OF_INSTANCES];
    let finalizers = &waiting.remains.as_ref()?.finalizers;
    let kept = finalizers.iter().any(|one| !holds.contains(&one.name.as_str()));
    let inside = id.namespace.as_ref().map(|name| format!(" -n {name}")).unwrap_or_default();
    let own = kept.then(|| format!("{}/{}{inside}", id.kind, id.name));
    let held = waiting.content.iter().find(|one| !one.finalizers.is_empty());
    let held = held.map(|one| format!("{} -n {}", one.what, id.name));
    let command = format!("seaworthy delete {} --force-finalizers", held.or(own)?);
    let tells = "removes what keeps it; what that guards stays behind".to_owned();
    Some(NextStep { command, tells })
}

/// Why something is stuck, each line caused by the next.
pub(super) fn reasons(waiting: &Waiting) -> Vec<String> {
    let because = waiting.because();
    let what = match (&waiting.remains, &waiting.errors.last) {
        (Some(remains), _) => remains.says(),
        (None, Some(error)) => return vec![error.to_string()],
        (None, None) => because.what,
    };
    // A finalizer that is all there is is told with who set it.
    let told = because.chain.first().is_some_and(|line| what == format!("{} is left", name(line)));
    let what = (!told).then_some(what);
    what.into_iter().chain(because.chain).collect()
}

fn name(finalizer: &str) -> &str {
    finalizer.split_once(',').map_or(finalizer, |(name, _)| name)
}
