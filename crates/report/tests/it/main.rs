//! Sample runs, rendered to every format.

mod browser;
mod page;
mod samples;
mod terminal;
