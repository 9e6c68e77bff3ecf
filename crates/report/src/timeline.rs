//! `timeline.txt`: a chart of the stages, then everything that happened, in order.

use std::fmt::Write as _;

use events::CallOutcome;
use unicode_width::UnicodeWidthStr;

use crate::{Check, Moment, Span, Stage, Story, UnitStory, text, words};

const BAR: usize = 60;

/// Returns `timeline.txt`.
pub fn timeline(story: &Story) -> String {
    let mut page = String::new();
    let cluster = story.run().map_or("", |run| run.cluster.as_str());
    let mut head = format!("{cluster}: {} in {}", story.outcome().word(), words::duration(story));
    if let Some(cost) = words::cost(story) {
        head = format!("{head}, {cost}");
    }
    let _ = writeln!(page, "{head}\n");
    chart(&mut page, story);
    let _ = writeln!(page);
    for Entry { moment, place, words } in entries(story) {
        let at = Span(moment.at_ms).to_string();
        let _ = writeln!(page, "{at:>8}  {place}  {words}");
    }
    page
}

fn chart(page: &mut String, story: &Story) {
    let name = |stage: &Stage| stage.name.as_str().width();
    let width = story.stages().iter().map(name).max().unwrap_or(0).min(24);
    for stage in story.stages() {
        let name = text::fit(stage.name.as_str(), width);
        let pad = " ".repeat(width.saturating_sub(name.width()));
        let took = stage.took_ms(story.elapsed_ms());
        let took = took.map_or_else(|| "-".to_owned(), |ms| Span(ms).to_string());
        let bar = bar(stage, story.elapsed_ms());
        let (state, share) = (stage.state().word(), stage.share());
        let _ = writeln!(page, "{name}{pad}  {state:<7}  {share:>7}  {took:>7}  |{bar}|");
    }
}

fn bar(stage: &Stage, total_ms: u64) -> String {
    let Some(span) = stage.span(total_ms) else {
        return " ".repeat(BAR);
    };
    let column =
        |ms: u64| usize::try_from(u128::from(ms) * BAR as u128 / u128::from(total_ms.max(1)));
    let from = column(span.start).unwrap_or(0).min(BAR - 1);
    let to = column(span.end).unwrap_or(BAR).clamp(from + 1, BAR);
    format!("{}{}{}", " ".repeat(from), "█".repeat(to - from), " ".repeat(BAR - to))
}

struct Entry {
    moment: Moment,
    place: String,
    words: String,
}

fn entries(story: &Story) -> Vec<Entry> {
    let mut entries = Vec::new();
    for unit in story.units() {
        of_unit(&mut entries, unit);
    }
    let warnings = story.warnings().iter().map(|warning| Entry {
        moment: warning.moment,
        place: warning.unit.as_ref().map_or("run".to_owned(), ToString::to_string),
        words: format!("warning: {}", warning.message),
    });
    let pins = story.pins().iter().map(|pin| Entry {
        moment: pin.moment,
        place: "run".to_owned(),
        words: format!("pinned {} to {}", pin.key, pin.value),
    });
    entries.extend(warnings.chain(pins));
    entries.extend(story.ending().map(|ending| Entry {
        moment: ending.moment,
        place: "run".to_owned(),
        words: story.outcome().word().to_owned(),
    }));
    entries.sort_by_key(|entry| entry.moment);
    entries
}

fn of_unit(entries: &mut Vec<Entry>, unit: &UnitStory) {
    let mut add = |moment: Option<Moment>, words: String| {
        entries.extend(moment.map(|moment| Entry { moment, place: unit.unit.to_string(), words }));
    };
    add(unit.started, "started".to_owned());
    for attempt in &unit.attempts {
        if let Some(after) = &attempt.after {
            add(Some(attempt.moment), format!("try {}, after: {after}", attempt.number));
        }
    }
    for call in &unit.calls {
        add(Some(call.moment), format!("calls: {}", call.call));
        if let Some((moment, outcome)) = &call.result {
            add(Some(*moment), format!("{}: {}", answer(outcome), call.call));
        }
    }
    for (check, finding) in unit.checks.iter().flat_map(findings) {
        add(Some(finding.moment), format!("{}: {}", check.name, finding.verdict));
    }
    let words = match unit.summary() {
        "" => unit.state().word().to_owned(),
        summary => format!("{}: {summary}", unit.state().word()),
    };
    add(unit.ended, words);
}

fn findings(check: &Check) -> impl Iterator<Item = (&Check, &crate::Finding)> {
    check.findings.iter().map(move |finding| (check, finding))
}

fn answer(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Done { .. } => "done".to_owned(),
        CallOutcome::Refused { error } => format!("refused, {error}"),
        CallOutcome::InDoubt { error } => format!("in doubt, {error}"),
    }
}
