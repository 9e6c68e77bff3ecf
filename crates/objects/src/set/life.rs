//! Which life of an object is meant, where somebody remembers its uid.

use super::StepError;
use crate::Object;

/// Says whether what is there is the life that is meant; anything is, where
/// nobody knows a uid.
pub(super) fn is_meant(wished: &Object, live: Option<&Object>) -> Result<(), StepError> {
    let Some(expected) = wished.life() else { return Ok(()) };
    let found = live.and_then(Object::uid);
    if found == Some(expected) {
        return Ok(());
    }
    let (expected, found) = (expected.to_owned(), found.map(str::to_owned));
    Err(StepError::AnotherLife { expected, found })
}
