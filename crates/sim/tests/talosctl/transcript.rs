//! What talosctl printed, and how two of them differ.

use crate::differences::{KNOWN, Known, Side};

/// What talosctl printed at each step, without what differs in every run.
pub(crate) type Transcript = Vec<(&'static str, Vec<String>)>;

/// Returns the differences that nobody knows of, and the known ones that are
/// none any more.
pub(crate) fn compare(real: &Transcript, simulated: &Transcript) -> Vec<String> {
    beside(KNOWN, real, simulated)
}

/// The same, where other differences are known.
pub(crate) fn beside(known: &[Known], real: &Transcript, simulated: &Transcript) -> Vec<String> {
    let mut said = Vec::new();
    let mut met = vec![0; known.len()];
    for ((step, real), (other, simulated)) in real.iter().zip(simulated) {
        assert_eq!(step, other, "the script is the same on both");
        assert!(!(real.is_empty() && simulated.is_empty()), "{step}: nothing was compared");
        for (side, mark, lines, others) in
            [(Side::Real, '-', real, simulated), (Side::Simulated, '+', simulated, real)]
        {
            for line in missing(lines, others) {
                let place = known.iter().position(|known| known.is(step, side, line));
                match place {
                    Some(place) if met[place] < known[place].at_most => met[place] += 1,
                    _ => said.push(format!("{step}: {mark} {line}")),
                }
            }
        }
    }
    let stale = known.iter().zip(met).filter(|(_, met)| *met == 0);
    said.extend(stale.map(|(known, _)| format!("{known:?} differs no more")));
    said
}

/// Returns the lines that the others do not have, or not as often.
fn missing<'a>(lines: &'a [String], others: &[String]) -> Vec<&'a str> {
    let mut left: Vec<_> = others.iter().collect();
    let mut missing = Vec::new();
    for line in lines {
        match left.iter().position(|other| *other == line) {
            Some(place) => drop(left.swap_remove(place)),
            None => missing.push(line.as_str()),
        }
    }
    missing
}

impl Known {
    fn is(&self, step: &str, side: Side, line: &str) -> bool {
        self.step == step && self.side == side && line.contains(self.line)
    }
}

#[test]
fn a_known_difference_covers_its_lines_and_no_more() {
    let known =
        |line, at_most| Known { step: "S1", side: Side::Real, line, at_most, why: "a test" };
    let said = |lines: &[&str]| -> Transcript {
        vec![("S1", lines.iter().map(|line| (*line).to_owned()).collect())]
    };
    let (real, simulated) = (said(&["same", "odd 1", "odd 2"]), said(&["same"]));
    assert_eq!(beside(&[known("odd", 2)], &real, &simulated), Vec::<String>::new());
    assert_eq!(beside(&[known("odd", 1)], &real, &simulated), ["S1: - odd 2"]);
    let stale = beside(&[known("odd", 2), known("gone", 1)], &real, &simulated);
    assert!(stale.len() == 1 && stale[0].ends_with("differs no more"), "{stale:?}");
}
