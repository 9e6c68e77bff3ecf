//! Phrases that more than one report uses.

use events::Plan;

use crate::{Run, Span, Story};

/// `11.8s (6m12s simulated)`
pub(crate) fn took(real_ms: u64, simulated_ms: Option<u64>) -> String {
    let real = Span(real_ms);
    match simulated_ms {
        Some(simulated) => format!("{real} ({} simulated)", Span(simulated)),
        None => real.to_string(),
    }
}

/// How long the run took.
pub(crate) fn duration(story: &Story) -> String {
    took(story.elapsed_ms(), story.simulated_ms())
}

/// `cost €0.05`, or what it would have cost where nothing real was made.
pub(crate) fn cost(story: &Story) -> Option<String> {
    let simulated = story.run()?.simulated_speed.is_some();
    let words = if simulated { "would have cost" } else { "cost" };
    story.cost().map(|cost| format!("{words} {cost}"))
}

/// `rehearsal with stand-in addons`: how a run in a simulated world is called.
pub(crate) fn rehearsal(run: &Run) -> Option<&'static str> {
    run.simulated_speed?;
    Some(if run.stand_ins.is_empty() { "rehearsal" } else { "rehearsal with stand-in addons" })
}

/// What a rehearsal does not prove.
pub(crate) fn rehearsal_limits(run: &Run) -> Option<String> {
    run.simulated_speed?;
    let world = "This was a rehearsal in a simulated world: nothing real was made";
    Some(if run.stand_ins.is_empty() {
        format!("{world}.")
    } else {
        let names = run.stand_ins.join(", ");
        format!("{world}. Stand-in addons took the place of the charts of {names}.")
    })
}

/// Whether a command goes on after a failure, to hear of all of them.
pub(crate) fn hears_all(command: &str) -> bool {
    command == "verify"
}

/// What a run leaves behind when it does not finish, and how to go on.
pub(crate) fn remains(run: &Run) -> String {
    let kept = match run.command.as_str() {
        "rehearse" => return "this was a rehearsal: nothing real was made".to_owned(),
        "verify" => return "nothing was changed: verify only reads".to_owned(),
        "delete" => "what is left was not touched",
        command if Plan::tears_down(command) => "what is left was not touched",
        _ => "nothing was destroyed",
    };
    format!("{kept}; `{}` goes on from here", run.rerun)
}

#[cfg(test)]
mod tests {
    use events::{ClusterId, Event, RunId, Seq, What};
    use jiff::Timestamp;

    use super::*;

    fn run(command: &str, rerun: Option<&str>) -> Run {
        let plan = Plan {
            command: command.to_owned(),
            cluster: "demo".to_owned(),
            cluster_id: ClusterId::NIL,
            title: String::new(),
            tool: String::new(),
            nodes: Vec::new(),
            stages: Vec::new(),
            spec: None,
            monthly_cents: None,
            simulated_speed: None,
            rerun: rerun.map(str::to_owned),
            stand_ins: Vec::new(),
        };
        let (run, at) = (RunId::new(Timestamp::UNIX_EPOCH, 1), Timestamp::UNIX_EPOCH);
        let what = What::RunStarted { plan: Box::new(plan.clone()), resumes: None };
        Run::new(&Event { run, seq: Seq(1), at, elapsed_ms: 0, attempt: 1, what }, &plan, None)
    }

    #[test]
    fn remains_names_the_command_that_goes_on() {
        for (command, rerun, expected) in [
            ("up", None, "nothing was destroyed; `seaworthy up` goes on from here"),
            (
                "up",
                Some("seaworthy up a.yaml --rehearsal"),
                "nothing was destroyed; `seaworthy up a.yaml --rehearsal` goes on from here",
            ),
            ("down", None, "what is left was not touched; `seaworthy down` goes on from here"),
            (
                "rehearse --down",
                Some("seaworthy rehearse a.yaml --down"),
                "what is left was not touched; `seaworthy rehearse a.yaml --down` goes on from here",
            ),
            ("rehearse", None, "this was a rehearsal: nothing real was made"),
        ] {
            assert_eq!(remains(&run(command, rerun)), expected);
        }
    }
}
