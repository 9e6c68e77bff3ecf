//! What failed tests have said, to be told again at the end of a run: thousands
//! of lines of others come after it.

use std::collections::VecDeque;
use std::fmt;

/// How much of each is told again. The end says why it failed.
const LINES: usize = 30;

/// The tests that failed.
#[derive(Debug, Default)]
pub(super) struct Failures {
    told: Vec<Failure>,
    /// Whether the harness is telling what the last of them has said.
    is_open: bool,
}

#[derive(Debug)]
struct Failure {
    test: String,
    said: VecDeque<String>,
}

impl Failures {
    /// Reads a line of the harness.
    pub(super) fn read_line(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(test) = told_of(line) {
            self.told.push(Failure { test: test.to_owned(), said: VecDeque::new() });
            self.is_open = true;
        } else if line == "failures:" || line == "stack backtrace:" {
            // What follows are names, of tests or of functions.
            self.is_open = false;
        } else if let Some(last) = self.told.last_mut().filter(|_| self.is_open) {
            last.say(line);
        }
    }
}

impl Failure {
    fn say(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if self.said.len() == LINES {
            self.said.pop_front();
        }
        self.said.push_back(line.to_owned());
    }
}

/// Returns the test whose output follows.
fn told_of(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { test, said } in &self.told {
            writeln!(f, "      failed {test}")?;
            said.iter().try_for_each(|line| writeln!(f, "             {line}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> String {
        let mut failures = Failures::default();
        for line in lines {
            failures.read_line(line);
        }
        failures.to_string()
    }

    #[test]
    fn what_failed_tests_have_said_is_told_again() {
        let told = read(&[
            "test a::b ... FAILED",
            "failures:",
            "",
            "---- a::b stdout ----\n",
            "thread 'a::b' panicked",
            "",
            "it is wrong",
            "stack backtrace:",
            "   0: rust_begin_unwind",
            "---- c stdout ----",
            "too",
            "failures:",
            "    a::b",
            "test result: FAILED. 0 passed; 2 failed",
        ]);
        let expected = "      failed a::b
             thread 'a::b' panicked
             it is wrong
      failed c
             too
";
        assert_eq!(told, expected);
    }

    #[test]
    fn of_much_the_end_is_told() {
        let said: Vec<_> = (0..50).map(|number| format!("line {number}")).collect();
        let said = said.iter().map(String::as_str);
        let told = read(&["---- a stdout ----"].into_iter().chain(said).collect::<Vec<_>>());
        assert!(told.contains("line 20\n") && told.ends_with("line 49\n"), "{told}");
        assert!(!told.contains("line 19\n"), "{told}");
    }
}
