//! The binary as people use it, and the journals of real engine runs told by
//! every report.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod apply;
mod apply_wait;
mod canary;
mod cluster_file;
mod delete;
mod detour;
mod differences;
mod down;
mod endless_input;
mod envelope;
mod examples;
mod explain;
mod foreign_cluster;
mod generated;
mod harbour_runs;
mod help;
mod hostile;
mod hostile_api;
mod interruption;
#[path = "../../../objects/tests/objects/kwok.rs"]
mod kwok;
mod machines;
mod middlebox;
mod no_answer;
mod printed_commands;
mod pty;
mod quay;
mod real_sets;
mod recovery;
mod registries;
mod rehearsal;
mod reports;
mod running;
mod shore;
mod standing;
mod talos;
mod talos_gen;
mod talos_gen_judged;
mod verify;
mod wait;
mod workplace;
mod worlds;
mod yard;
