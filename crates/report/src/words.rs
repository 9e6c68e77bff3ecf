//! Phrases that more than one report uses.

use events::Plan;

use crate::{Span, Story};

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

/// Whether a command goes on after a failure, to hear of all of them.
pub(crate) fn hears_all(command: &str) -> bool {
    command == "verify"
}

/// What a command leaves behind when it does not finish, and how to go on.
pub(crate) fn remains(command: &str) -> String {
    let kept = match command {
        "rehearse" => return "this was a rehearsal: nothing real was made".to_owned(),
        "verify" => return "nothing was changed: verify only reads".to_owned(),
        "delete" => "what is left was not touched",
        command if Plan::tears_down(command) => "what is left was not touched",
        _ => "nothing was destroyed",
    };
    format!("{kept}; `seaworthy {command}` goes on from here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_stopped_is_told_the_command_that_goes_on() {
        for (command, expected) in [
            ("up", "nothing was destroyed; `seaworthy up` goes on from here"),
            ("down", "what is left was not touched; `seaworthy down` goes on from here"),
            (
                "rehearse --down",
                "what is left was not touched; `seaworthy rehearse --down` goes on from here",
            ),
            ("rehearse", "this was a rehearsal: nothing real was made"),
        ] {
            assert_eq!(remains(command), expected);
        }
    }
}
