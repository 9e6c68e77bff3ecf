//! Sample runs, rendered to every format.
#![expect(
    clippy::unwrap_used,
    reason = "what fails here is a test's failure, and the line says which"
)]

mod anything;
mod browser;
mod formats;
mod page;
mod pictures;
mod replay;
mod samples;
mod terminal;
