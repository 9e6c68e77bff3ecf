//! How a run looks: on a terminal, as files, and on GitHub.
mod money;
mod span;
mod story;
pub mod terminal;
mod text;
pub use money::MicroEuros;
pub use span::Span;
pub use story::*;
