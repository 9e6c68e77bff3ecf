//! Everything that talks, on a real API server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apply;
mod chain;
mod chain_below;
mod checks;
mod connect;
mod credentials;
mod delete;
mod diff;
mod discovery;
mod errors;
mod harbour;
mod immutable;
mod inventory;
mod inventory_faults;
mod inventory_kinds;
mod kwok;
mod manifests;
mod noop;
mod old_server;
mod policies;
mod real;
mod remove;
mod remove_faults;
mod remove_polled;
mod set;
mod set_compare;
mod set_crashes;
mod set_denied;
mod set_extremes;
mod set_faults;
mod set_in_flight;
mod set_lives;
mod set_memory;
mod set_reach;
mod set_untried;
mod status_real;
mod status_rolled;
mod status_told;
mod wait;
mod wait_blind;
mod wait_faults;
mod wait_untold;
mod wait_workloads;
mod watch;
