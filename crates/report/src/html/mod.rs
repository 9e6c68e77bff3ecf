//! `REPORT.html`: one file that opens from disk, without a network.
//!
//! Rust writes what a reader needs first (verdict, first cause) and the data;
//! `report.js` draws the timeline from the data and shows a gate's evidence.
//! The script only ever sets text, never markup, and the page's policy lets no
//! other script, style or request through, whatever a foreign word contains.

mod data;
mod page;

use events::EvidenceStore;

use crate::Story;

/// The largest page: what a mail or a browser takes easily.
pub const LIMIT_BYTES: usize = 5_000_000;

/// Returns `REPORT.html`.
pub fn html(story: &Story, evidence: &EvidenceStore) -> String {
    let data = data::Data::of(story, evidence);
    page::page(story, &data).into_string()
}
