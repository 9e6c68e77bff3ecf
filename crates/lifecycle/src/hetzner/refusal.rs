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
    let (code, message) = match (error, error.meaning()) {
        (HetznerError::Foreign { kind, name, .. }, _) => {
            (codes::NOT_OURS, format!("{kind} {name} exists and is not ours"))
        }
        (_, Some(Meaning::BadToken)) => {
            (codes::TOKEN_REFUSED, "Hetzner does not accept the token".to_owned())
        }
        (_, Some(Meaning::ReadOnlyToken)) => {
            (codes::TOKEN_READ_ONLY, "the token may only read".to_owned())
        }
        (_, Some(Meaning::OverQuota)) => {
            (codes::PROJECT_LIMIT, "the project's limit is reached".to_owned())
        }
        (_, Some(Meaning::SoldOut)) => {
            (codes::SOLD_OUT, "none of the wanted server types is available".to_owned())
        }
        (_, Some(Meaning::NotOffered)) => {
            (codes::SOLD_OUT, "the server type cannot be ordered".to_owned())
        }
        _ => return None,
    };
    Some(Cause::new(code, message).because([error.to_string()]).next(explain(code), "tells more"))
}

/// The command that every cause ends with.
pub(crate) fn explain(code: events::Code) -> String {
    format!("seaworthy explain {code}")
}
