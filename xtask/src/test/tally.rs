//! Counting tests: what the harness printed, and what was skipped inside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use rig::need::Skip;

/// How many tests ran and how they ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    skipped: BTreeMap<String, usize>,
}

impl Tally {
    /// Reads a line of the harness; all but its results are ignored.
    pub(super) fn read_line(&mut self, line: &str) {
        let Some((_, result)) = line.split_once("test result: ") else {
            return;
        };
        self.passed += number_before(result, " passed");
        self.failed += number_before(result, " failed");
        let ignored = number_before(result, " ignored");
        if ignored > 0 {
            *self.skipped.entry("ignored by the harness".into()).or_default() += ignored;
        }
    }

    /// Reads the tests that skipped themselves. The harness has counted them
    /// as passed, which they are not.
    pub(super) fn read_skips(&mut self, path: &Path) -> io::Result<()> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            read => read?,
        };
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            let skip: Skip = serde_json::from_str(line)?;
            if seen.insert((skip.binary, skip.test)) {
                self.passed = self.passed.saturating_sub(1);
                self.skip(&skip.reason);
            }
        }
        Ok(())
    }

    /// Counts something that was not run.
    pub(super) fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }

    /// Returns the reasons for skips, with their counts.
    pub(super) fn reasons(&self) -> impl Iterator<Item = (&str, usize)> {
        self.skipped.iter().map(|(reason, count)| (reason.as_str(), *count))
    }

    /// Decides whether the run was good, given whether cargo thought so.
    pub(super) fn verdict(&self, cargo_succeeded: bool) -> Result<(), &'static str> {
        match (self.passed, self.failed, cargo_succeeded) {
            (_, 1.., _) => Err("tests failed"),
            (0, 0, false) => Err("the tests did not build, or none of them ended"),
            (_, 0, false) => Err("a test program ended without a result"),
            (0, 0, true) => Err("no test ran"),
            (_, 0, true) => Ok(()),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped: usize = self.skipped.values().sum();
        write!(f, "{} passed, {} failed, {skipped} skipped", self.passed, self.failed)
    }
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str = "test result: ok. 7 passed; 0 failed; 2 ignored; 0 measured; 1 filtered out";

    fn tally(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.read_line(line);
        }
        tally
    }

    #[test]
    fn results_of_all_binaries_add_up() {
        let failed = "test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured";
        let tally = tally(&["running 3 tests", OK, failed]);
        assert_eq!(tally.to_string(), "8 passed, 3 failed, 2 skipped");
        assert_eq!(tally.verdict(false), Err("tests failed"));
    }

    #[test]
    fn colours_do_not_confuse() {
        let coloured = "test result: \x1b[32mok\x1b(B\x1b[m. 5 passed; 0 failed; 0 ignored";
        assert_eq!(tally(&[coloured]).to_string(), "5 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn a_test_that_skipped_itself_did_not_pass() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skips");
        let line = |test: &str| {
            let skip = Skip { binary: "b".into(), test: test.into(), reason: "no root".into() };
            serde_json::to_string(&skip).unwrap()
        };
        // The same test may say it twice, for two needs.
        fs::write(&path, [line("a"), line("a"), line("c")].join("\n")).unwrap();
        let mut tally = tally(&[OK]);
        tally.read_skips(&path).unwrap();
        assert_eq!(tally.to_string(), "5 passed, 0 failed, 4 skipped");
        assert!(tally.reasons().any(|reason| reason == ("no root", 2)));
    }

    #[test]
    fn nothing_is_not_a_success() {
        assert_eq!(tally(&[]).verdict(true), Err("no test ran"));
        assert!(tally(&[]).verdict(false).is_err());
        assert_eq!(tally(&[OK]).verdict(true), Ok(()));
        assert!(tally(&[OK]).verdict(false).is_err());
    }

    #[test]
    fn a_missing_skip_file_means_no_skips() {
        let mut tally = tally(&[OK]);
        tally.read_skips(Path::new("/no/such/file")).unwrap();
        assert_eq!(tally.to_string(), "7 passed, 0 failed, 2 skipped");
    }
}
