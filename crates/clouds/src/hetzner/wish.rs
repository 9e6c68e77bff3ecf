//! One change that is wanted: how it is called, how to see it, how to make it.

use std::fmt;
use std::future::Future;

use events::{Call, CallClass, Made};
use serde::Serialize;

use super::client::Pass;
use super::{Hetzner, HetznerError};

/// One change that is wanted, as `Hands::ensure` takes it: a call for the
/// journal, a look, and one request. [`Hetzner::look`] and [`Hetzner::send`]
/// carry it out.
pub trait Wish: Send + Sync + 'static {
    /// Returns the call, whose digest tells a changed wish from a repeated one.
    fn call(&self) -> Call;

    /// Looks whether it is fulfilled, and by what.
    fn look(
        &self,
        hetzner: &Hetzner,
    ) -> impl Future<Output = Result<Option<Made>, HetznerError>> + Send;

    /// Makes the request.
    fn send(
        &self,
        hetzner: &Hetzner,
        pass: Pass,
    ) -> impl Future<Output = Result<Made, HetznerError>> + Send;
}

/// Returns the call of a wish that can be told by its name.
pub(super) fn named(kind: &str, name: impl Into<String>, request: &impl Serialize) -> Call {
    call(CallClass::Named, kind, name, request)
}

/// Returns the call of a wish that may be sent any number of times.
pub(super) fn idempotent(kind: &str, name: impl Into<String>, request: &impl Serialize) -> Call {
    call(CallClass::Idempotent, kind, name, request)
}

/// Says what something is instead of what it should be, if it is not that.
pub(super) fn differs<T: PartialEq + fmt::Display>(
    what: &str,
    is: &T,
    wanted: &T,
) -> Option<String> {
    (is != wanted).then(|| format!("{what} is {is}, not {wanted}"))
}

fn call(class: CallClass, kind: &str, name: impl Into<String>, request: &impl Serialize) -> Call {
    let request = serde_json::to_vec(request).expect("requests are plain data");
    Call::new(class, kind, name, &request)
}
