//! What people see while a run goes on.
//!
//! ```text
//!  event ─► Telling ─► lines that stay ─┬─► Plain: lines, and what a long wait waits for
//!                                       └─► Live:  lines scroll up, below them a moving frame
//! ```
//!
//! A verb stands right-aligned in thirteen columns, then the stage, its share
//! of nodes, the time it took, and a line. Colour repeats what the verb says.

mod canvas;
mod cause;
mod closing;
mod columns;
mod frame;
mod ink;
mod line;
mod live;
mod mishap;
mod plain;
mod printer;
mod telling;

pub use canvas::Canvas;
pub(crate) use cause::explain;
pub use frame::{Screen, frame};
pub use ink::Palette;
pub use live::Live;
pub use mishap::Mishap;
pub use plain::Plain;
pub use printer::{Printer, say, told};
