//! What can be done with objects: the verbs of the API, for clients on the
//! wire and for the simulator's own controllers alike.

mod create;
mod delete;
mod list;
mod options;
mod parts;
mod patch;
mod place;
mod state;
mod update;
mod watch;

pub(crate) use create::NAMESPACES;
pub(crate) use parts::set_condition;

pub use delete::{DeleteOptions, Deleted, Preconditions, Propagation};
pub use list::{ListOptions, Listed};
pub use options::{Strictness, Write};
pub use patch::Patch;
pub use place::Place;
pub(crate) use state::State;
pub use watch::{Watch, WatchEvent, WatchOptions};
