//! What a plan means at Hetzner: wishes, and what their refusals mean.

mod clerk;
mod refusal;
mod wanted;

pub(crate) use clerk::Clerk;
pub(crate) use refusal::{act_error, blind, explain};
pub(crate) use wanted::{API_PORT, Parts, Wanted, architecture, offers};
