//! How a run looks: on a terminal, as files beside its journal, and on GitHub.
//!
//! ```text
//!                       ┌─► terminal: Plain lines, or a Live view
//!  events ─► Story ─────┼─► report.json · REPORT.md · REPORT.html · junit.xml
//!            (one fold) ├─► trace.json (Perfetto) · timeline.txt
//!                       └─► step-summary.md · pr-comment.md · annotations.txt
//! ```
//!
//! It runs nothing, decides nothing and asks nobody: what is not in an event is
//! not in a report. Whoever runs a command feeds the story, live from a recorder
//! or replayed from a journal, and passes in the terminal's size and the time.
//!
//! ```
//! # fn show(events: &[events::Event], folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! use report::terminal::{Palette, Plain, Printer};
//!
//! let mut story = report::Story::default();
//! let mut printer = Plain::new(Palette::Colour);
//! for event in events {
//!     story.apply(event);
//!     printer.event(&story, event, &mut std::io::stderr())?;
//! }
//! let evidence = events::EvidenceStore::new(folder, events::EvidenceLimits::default());
//! let files = report::write_all(&story, &evidence, folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//! - [`Story::apply`] is the only way in. Renderers are pure functions of the
//!   story (and, for HTML, of the evidence files), so that live and replayed
//!   output is the same, byte for byte.
//! - Foreign words are made harmless where they enter the story: no control
//!   character, escape sequence or mark of direction reaches a renderer, and no
//!   line is longer than a reader can use. Each format then escapes what means
//!   something in it.
//! - The first thing that a failed run says is its first cause.
//! - Every file keeps to its budget, and says what it left out.

mod annotations;
pub mod document;
mod files;
pub mod html;
mod junit;
pub mod markdown;
mod money;
mod span;
mod story;
pub mod terminal;
mod text;
mod timeline;
mod trace;
mod words;

pub use annotations::annotations;
pub use document::json;
pub use files::{WriteError, render_all, write_all};
pub use junit::junit;
pub use money::MicroEuros;
pub use span::Span;
pub use story::{
    Also, Attempt, CallMade, Check, CheckState, Ending, Finding, FirstCause, Moment, Outcome, Pin,
    Probing, Run, Stage, Standing, State, Story, Tally, UnitStory, Warning,
};
pub use timeline::timeline;
pub use trace::trace;
