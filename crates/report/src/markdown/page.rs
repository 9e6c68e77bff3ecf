//! A page with a byte budget.

use crate::text;

/// A page that takes sections as long as they fit.
pub(super) struct Page {
    text: String,
    budget: usize,
    left_out: Vec<String>,
}

/// Room for the note that says what was left out.
const NOTE_BYTES: usize = 1_024;

impl Page {
    pub(super) fn new(budget: usize) -> Self {
        Self { text: String::new(), budget: budget - NOTE_BYTES, left_out: Vec::new() }
    }

    /// Adds a line or paragraph. Callers add only few and short ones this way.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a section of rows under a heading, as many rows as fit.
    pub(super) fn section(&mut self, heading: &str, head: &str, rows: &[String]) {
        if rows.is_empty() {
            return;
        }
        let opening = format!("\n## {heading}\n\n{head}");
        let mut room = self.room().saturating_sub(opening.len());
        let fitting = rows
            .iter()
            .take_while(|row| {
                let fits = row.len() < room;
                room = room.saturating_sub(row.len() + 1);
                fits
            })
            .count();
        if fitting < rows.len() {
            let missing = text::count(rows.len() - fitting, "row");
            self.left_out.push(format!("{missing} of “{heading}”"));
        }
        if fitting > 0 {
            self.text.push_str(&opening);
            rows.iter().take(fitting).for_each(|row| self.line(row));
        }
    }

    /// Returns the page, with a note of what did not fit.
    pub(super) fn finish(mut self) -> String {
        if !self.left_out.is_empty() {
            let what = self.left_out.join(", ");
            self.line(&format!("\nLeft out for size: {what}. `report.json` has everything."));
        }
        self.text
    }

    fn room(&self) -> usize {
        self.budget.saturating_sub(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let mut page = Page::new(NOTE_BYTES + 60);
        page.section("First", "", &["a".repeat(20), "b".repeat(20), "c".repeat(20)]);
        page.section("Second", "", &["d".repeat(40)]);
        let text = page.finish();
        assert!(text.contains(&"b".repeat(20)) && !text.contains("ccc"), "{text}");
        assert!(text.ends_with(
            "Left out for size: 1 row of “First”, 1 row of “Second”. `report.json` has everything.\n"
        ));
    }
}
