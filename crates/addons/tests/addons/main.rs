//! What is delivered, and how it is judged.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod api_server;
mod gates;
mod laws;
mod real_cluster;
mod renderings;
mod samples;
mod seal;
mod world;
