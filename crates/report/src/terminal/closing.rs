//! The last lines of a run: they fit a screen, whatever happened.

use events::RunOutcome;

use super::ink::Ink;
use super::line::Line;
use super::{cause, columns};
use crate::{Outcome, Run, State, Story, text, words};

const MISSING: usize = 10;

/// Returns the lines that close the run.
pub(crate) fn lines(story: &Story) -> Vec<Line> {
    let (Some(ending), Some(run)) = (story.ending(), story.run()) else {
        return Vec::new();
    };
    let mut lines: Vec<_> = not_run(story).into_iter().collect();
    if words::hears_all(&run.command) {
        lines.extend(not_checked(story));
    }
    lines.push(headline(story, run));
    match &ending.outcome {
        RunOutcome::Proven => {}
        RunOutcome::NotProven { missing } => lines.extend(self::missing(missing)),
        RunOutcome::Failed { .. } => {
            lines.push(Line::default());
            lines.extend(cause::block(story));
            lines.extend(cause::note(story));
        }
        RunOutcome::Interrupted { .. } => lines.extend(cause::note(story)),
    }
    lines
}

fn headline(story: &Story, run: &Run) -> Line {
    let (ink, verb) = match story.outcome() {
        Outcome::Open => (Ink::Busy, "Running"),
        Outcome::Proven => (Ink::Good, "Proven"),
        Outcome::Healthy => (Ink::Good, "Healthy"),
        Outcome::Removed => (Ink::Good, "Removed"),
        Outcome::NotProven => (Ink::Caution, "Not proven"),
        Outcome::Failed if words::hears_all(&run.command) => (Ink::Bad, "Not healthy"),
        Outcome::Failed => (Ink::Bad, "Failed"),
        Outcome::Unknown => (Ink::Caution, "Unknown"),
        Outcome::Stopped => (Ink::Caution, "Stopped"),
        Outcome::CutOff => (Ink::Bad, "Cut off"),
    };
    let rehearsal = words::rehearsal(run).map(|words| format!(", a {words},"));
    let rehearsal = rehearsal.unwrap_or_default();
    let words = format!("{rehearsal} in {}{}", words::duration(story), particulars(story));
    Line::verb(ink, verb).and(Ink::Strong, run.cluster.clone()).and(Ink::Text, words)
}

/// `: 7 stages passed, 1 failed, 8 not run, 2 retries`
fn particulars(story: &Story) -> String {
    let tally = story.tally();
    let looks = story.run().is_some_and(|run| words::hears_all(&run.command));
    let counted = [
        (tally.stages_failed, " failed"),
        (tally.stages_unknown, " unknown"),
        (tally.stages_stopped, " stopped"),
        (tally.stages_not_run, " not run"),
        (tally.stages_skipped, if looks { " not checked" } else { " skipped" }),
    ];
    let mut parts = vec![format!("{} passed", text::count(tally.stages_passed, "stage"))];
    let some = counted.iter().filter(|(number, _)| *number > 0);
    parts.extend(some.map(|(number, word)| format!("{number}{word}")));
    if tally.retries > 0 {
        parts.push(text::count(tally.retries, "failed attempt"));
    }
    let hidden: u64 = story.hidden().values().sum();
    if hidden > 0 {
        parts.push(format!("{hidden} times a secret kept out"));
    }
    if tally.warnings > 0 {
        parts.push(text::count(tally.warnings, "warning"));
    }
    parts.extend(words::cost(story));
    format!(": {}", parts.join(", "))
}

fn not_run(story: &Story) -> Option<Line> {
    let stages = || story.stages().iter().filter(|stage| stage.state() == State::NotRun);
    // A stage that ran on some nodes has had its line.
    let untouched: Vec<_> = stages().filter(|stage| stage.span(0).is_none()).collect();
    let because = untouched.first()?.units.first()?.summary().to_owned();
    let names: Vec<_> = untouched.iter().map(|stage| stage.name.as_str()).collect();
    let (ink, verb) = columns::verb(State::NotRun);
    let names = text::clip(&names.join(", "), 200);
    Some(Line::verb(ink, verb).and(Ink::Text, names).and(Ink::Faint, format!(" ({because})")))
}

/// `Not checked machines, etcd-members: no --talosconfig`
fn not_checked(story: &Story) -> Vec<Line> {
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, reason) in story.not_checked() {
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    let line = |(reason, names): (&str, Vec<String>)| {
        let names = Line::verb(Ink::Caution, "Not checked").and(Ink::Text, names.join(", "));
        names.and(Ink::Faint, format!(" ({reason})"))
    };
    by_reason.into_iter().map(line).collect()
}

/// `Missing ready, cni, proof: not asked for`: those that lack for the same reason share
/// a line.
fn missing(missing: &[String]) -> Vec<Line> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for what in missing {
        let (name, reason) = what.rsplit_once(": ").unwrap_or((what, ""));
        match by_reason.iter_mut().find(|(known, _)| *known == reason && !reason.is_empty()) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    // `proof, datapath` is one of them.
    let between = if missing.iter().any(|it| it.contains(", ")) { "; " } else { ", " };
    let words = |(reason, names): &(&str, Vec<&str>)| match *reason {
        "" => names.join(between),
        reason => format!("{}: {reason}", text::clip(&names.join(between), 150)),
    };
    let line = |what: String| Line::verb(Ink::Caution, "Missing").and(Ink::Text, what);
    let mut lines: Vec<_> = by_reason.iter().take(MISSING).map(words).map(line).collect();
    if by_reason.len() > MISSING {
        lines.push(line(format!("{} more, in the report", by_reason.len() - MISSING)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_names_a_shared_reason_once() {
        let all = ["ready: not asked for", "cni: not asked for", "seal: no answer", "proof"];
        let lines = missing(&all.map(str::to_owned));
        let told: Vec<_> = lines.iter().map(|line| format!("{line:?}")).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("ready, cni: not asked for"), "{}", told[0]);
        assert!(told[1].contains("seal: no answer") && told[2].contains("proof"), "{told:?}");
    }
}
