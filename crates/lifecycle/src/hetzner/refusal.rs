//! From what Hetzner says to what a stage says: the cause that has a name, or
//! a failure with its class.

use clouds::hetzner::{HetznerError, Meaning};
use engine::{ActError, SendError};
use events::{Cause, Failure, Verdict};

use crate::codes;

/// Says why a look at Hetzner failed.
pub(crate) fn blind(error: HetznerError) -> Verdict {
    match cause(&error) {
        Some(cause) => Verdict::failed(cause),
        None => Verdict::blind(error.into()),
    }
}

/// Says why a look before a call failed.
pub(crate) fn act_error(error: HetznerError) -> ActError {
    match cause(&error) {
        Some(cause) => cause.into(),
        None => ActError::Failed(error.into()),
    }
}

pub(super) fn send_error(error: &HetznerError) -> SendError {
    let failure = Failure::of(error.class(), error);
    SendError::new(failure, error.arrival()).named(cause(error))
}

/// Returns the cause that an answer stands for, where waiting does not help.
fn cause(error: &HetznerError) -> Option<Cause> {
    if let HetznerError::Foreign { kind, name, .. } = error {
        let message = format!("{kind} {name} exists and is not ours");
        return Some(named(codes::NOT_OURS, message, error));
    }
    meant(error.meaning()?, error)
}

/// Returns the cause that a code of Hetzner stands for, where waiting does not
/// help; `said` is what Hetzner said in full.
pub(super) fn meant(meaning: Meaning, said: &impl ToString) -> Option<Cause> {
    let (code, message) = match meaning {
        Meaning::BadToken => (codes::TOKEN_REFUSED, "Hetzner does not accept the token"),
        Meaning::ReadOnlyToken => (codes::TOKEN_READ_ONLY, "the token may only read"),
        Meaning::OverQuota => (codes::PROJECT_LIMIT, "the project's limit is reached"),
        Meaning::SoldOut => (codes::SOLD_OUT, "none of the wanted server types is available"),
        Meaning::NotOffered => (codes::SOLD_OUT, "the server type cannot be ordered"),
        _ => return None,
    };
    Some(named(code, message, said))
}

fn named(code: events::Code, message: impl Into<String>, said: &impl ToString) -> Cause {
    Cause::new(code, message).because([said.to_string()]).next(explain(code), "tells more")
}

/// The command that every cause ends with.
pub(crate) fn explain(code: events::Code) -> String {
    format!("seaworthy explain {code}")
}
