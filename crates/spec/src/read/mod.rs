//! Reading: bytes to a tree with places, and problems as people and machines see them.

mod fields;
mod nearest;
mod node;
mod parse;
mod problem;
mod render;
mod shape;
mod source;
mod syntax;
mod wording;

pub use nearest::nearest;
pub use node::{Content, Entry, Node, Scalar as ScalarNode, ScalarKind};
pub use problem::{Problem, ProblemRecord, Related, Severity};
pub use render::Colour;
pub use source::{Position, Source, Span, Spanned};

pub(crate) use fields::Fields;
pub(crate) use parse::{decode_text, parse};
pub(crate) use problem::Problems;
pub(crate) use render::{render, render_problems};
pub(crate) use shape::{Field, Kind, Pick, Shape, optional, required};
