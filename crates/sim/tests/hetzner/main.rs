//! The simulated Hetzner Cloud, spoken to over TLS.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cloud;
mod firewalls;
mod gate;
mod insider;
mod judge;
mod lists;
mod load_balancers;
mod networks;
mod seeds;
mod servers;
mod volumes;
