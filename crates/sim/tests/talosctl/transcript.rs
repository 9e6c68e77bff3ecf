//! What talosctl printed, and how two of them differ.

use crate::differences::{KNOWN, Known, Side};

/// What talosctl printed at each step, without what differs in every run.
pub(crate) type Transcript = Vec<(&'static str, Vec<String>)>;

/// Returns the differences that nobody knows of, and the known ones that are
/// none any more.
pub(crate) fn compare(real: &Transcript, simulated: &Transcript) -> Vec<String> {
    let mut said = Vec::new();
    let mut met = vec![false; KNOWN.len()];
    for ((step, real), (other, simulated)) in real.iter().zip(simulated) {
        assert_eq!(step, other, "the script is the same on both");
        assert!(!(real.is_empty() && simulated.is_empty()), "{step}: nothing was compared");
        for (side, mark, lines, others) in
            [(Side::Real, '-', real, simulated), (Side::Simulated, '+', simulated, real)]
        {
            for line in missing(lines, others) {
                let known = KNOWN.iter().position(|known| known.is(step, side, line));
                match known {
                    Some(place) => met[place] = true,
                    None => said.push(format!("{step}: {mark} {line}")),
                }
            }
        }
    }
    let stale = KNOWN.iter().zip(met).filter(|(_, met)| !met);
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
