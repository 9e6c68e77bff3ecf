//! The crate as its users see it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "what was skipped is said")]

mod answers;
mod any_patch;
mod client;
mod config;
mod credentials;
mod dry_run;
mod every_call;
mod handshakes;
mod hidden;
mod hostile;
mod judged;
mod network_documents;
mod newest_form;
mod node;
mod openssl;
mod patches;
mod permits;
mod probe;
mod rules;
mod sample;
mod secrets;
mod talosctl;
