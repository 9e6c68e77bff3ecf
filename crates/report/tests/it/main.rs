//! Sample runs, rendered to every format.

mod samples;
mod terminal;
