//! New cluster files: the questions, and the text that the answers give.
//!
//! A command line asks the [`questions`] on a terminal or takes flags of the
//! same names, and hands the answers to [`cluster_file`]. The text is always
//! valid by this crate's own rules.

mod proposal;
mod question;
mod refusal;
mod text;

pub use question::{Answers, InvalidAnswer, Question, clouds, questions};
pub use refusal::Refusal;
pub use text::{InitError, cluster_file};
