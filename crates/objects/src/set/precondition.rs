//! Which life, or which state, of an object is meant: whoever applied it may
//! remember its uid, and manifests that were taken from a cluster and edited say
//! themselves what they are for.

use super::StepError;
use crate::Object;

/// Checks that the object is the one that is meant. The API would answer a
/// mismatch with a conflict; what is not sent has to be asked here.
pub(super) fn check(wished: &Object, live: Option<&Object>) -> Result<(), StepError> {
    of_life(wished, live)?;
    for (field, wanted, pointer) in [
        ("uid", wished.uid().filter(|uid| !uid.is_empty()), "/metadata/uid"),
        ("resourceVersion", state(wished), "/metadata/resourceVersion"),
    ] {
        let found = live.and_then(|live| live.text(pointer));
        if let Some(wanted) = wanted.filter(|wanted| found != Some(*wanted)) {
            let (wanted, found) = (wanted.to_owned(), found.map(str::to_owned));
            return Err(StepError::Precondition { field, wanted, found });
        }
    }
    Ok(())
}

/// Returns the state that a manifest says it is for. The API takes 0 for any.
pub(super) fn state(wished: &Object) -> Option<&str> {
    wished.text("/metadata/resourceVersion").filter(|state| !["", "0"].contains(state))
}

/// Checks that the object is of the life that somebody remembers; any is, where
/// nobody does.
pub(super) fn of_life(wished: &Object, live: Option<&Object>) -> Result<(), StepError> {
    let Some(expected) = wished.life() else { return Ok(()) };
    let found = live.and_then(Object::uid);
    if found == Some(expected) {
        return Ok(());
    }
    let (expected, found) = (expected.to_owned(), found.map(str::to_owned));
    Err(StepError::AnotherLife { expected, found })
}

#[cfg(test)]
mod tests {
    use crate::manifest;

    use super::*;

    fn told(wished: &str, live: Option<&str>) -> String {
        let read = |metadata: &str| {
            let text = format!("{{apiVersion: v1, kind: T, metadata: {{name: a{metadata}}}}}");
            manifest::read("test", text.as_bytes()).unwrap().remove(0)
        };
        let checked = check(&read(wished), live.map(read).as_ref());
        checked.map_or_else(|error| error.to_string(), |()| "holds".to_owned())
    }

    #[test]
    fn a_manifest_is_for_the_life_and_the_state_that_it_names() {
        let live = Some(", uid: u, resourceVersion: '7'");
        for wished in ["", ", uid: u", ", resourceVersion: '7'", ", resourceVersion: '0'"] {
            assert_eq!(told(wished, live), "holds", "{wished}");
        }
        assert_eq!(told("", None), "holds");
        let changed = told(", uid: u, resourceVersion: '6'", live);
        assert!(
            changed.starts_with("the manifest is for resourceVersion 6, and it is 7 now"),
            "{changed}"
        );
        assert!(told(", uid: v", live).starts_with("the manifest is for uid v, and it is u now"));
        let gone = told(", uid: u", None);
        assert!(
            gone.starts_with("the manifest is for uid u, and the object is not there"),
            "{gone}"
        );
    }
}
