//! The differences that are known, each with its reason. One that is no more
//! has to go from here.

/// On which side a line is that the other does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Real,
    Simulated,
}

/// A line that only one side has.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) step: &'static str,
    pub(crate) side: Side,
    /// A part of the line.
    pub(crate) line: &'static str,
    /// How many lines there may be that have it.
    pub(crate) at_most: usize,
    #[expect(dead_code, reason = "it is printed with the rest")]
    pub(crate) why: &'static str,
}

const ADDRESS: &str = "the address of a container goes with it, the one of a simulated node stays";
const KERNEL: &str = "a container shows the log of its host's kernel, where Talos does not write";
const CONTAINER: &str = "a container cannot restart or change its version, a simulated machine can";

const FIRST: &str = "a simulated node has its address before it writes its first event";
const BOOT: &str = "a simulated node tells the phases of its end, not those of its boot";
const HOST: &str = "until it has its config a container has the name of its host";

/// The services of a control plane that are looked after.
const SERVICES: usize = 7;

#[rustfmt::skip]
pub(crate) const KNOWN: &[Known] = &[
    Known { step: "S6 certificate before", side: Side::Real, line: "DNS:", at_most: 1, why: HOST },
    Known { step: "S6 certificate before", side: Side::Simulated, line: "DNS:cp-1", at_most: 1, why: HOST },
    Known { step: "S9 kernel", side: Side::Simulated, line: "(Running): Health check successful", at_most: SERVICES, why: KERNEL },
    Known { step: "S9 kinds of events", side: Side::Real, line: "AddressEvent", at_most: 1, why: FIRST },
    Known { step: "S9 kinds of events", side: Side::Real, line: "PhaseEvent", at_most: 1, why: BOOT },
    Known { step: "S9 kinds of events", side: Side::Real, line: "TaskEvent", at_most: 1, why: BOOT },
    Known { step: "S11 reboot", side: Side::Real, line: "method is not supported in container mode", at_most: 1, why: CONTAINER },
    Known { step: "S11 reboot", side: Side::Real, line: "exit code Some(1)", at_most: 1, why: CONTAINER },
    Known { step: "S11 reboot", side: Side::Simulated, line: "exit code Some(0)", at_most: 1, why: CONTAINER },
    Known { step: "S11 upgrade", side: Side::Real, line: "method is not supported in container mode", at_most: 2, why: CONTAINER },
    Known { step: "S11 gone", side: Side::Real, line: "no route to host", at_most: 1, why: ADDRESS },
    Known { step: "S11 gone", side: Side::Simulated, line: "connection refused", at_most: 1, why: ADDRESS },
];

#[test]
fn the_documentation_counts_them() {
    let lines: usize = KNOWN.iter().map(|known| known.at_most).sum();
    let steps: std::collections::BTreeSet<_> = KNOWN.iter().map(|known| known.step).collect();
    let said = format!("but for at most {lines} lines of {} steps", steps.len());
    let documentation = include_str!("../../../../docs/simulators.md");
    assert!(documentation.contains(&said), "{said}");
}
