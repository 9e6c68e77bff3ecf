//! Ordering servers, and what can be done with them.

mod networks;
mod order;
mod power;

pub(super) use networks::{Attachment, attach, detach};
pub(super) use order::create;
pub(super) use power::{console, delete, off, on, reboot, reset, shutdown};
