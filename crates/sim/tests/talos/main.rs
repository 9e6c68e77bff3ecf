//! Simulated Talos nodes, seen from outside: with a client that was written
//! for these tests from the recorded facts, and with openssl.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bootstrap;
mod client;
mod configuration;
mod configured;
mod dialects;
mod faults;
mod maintenance;
mod openssl;
mod power;
mod scale;
mod secrets;
mod trustd;
mod world;
