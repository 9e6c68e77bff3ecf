//! The question before something is removed for good.

use super::Asked;
use crate::command_error::CommandError;
use crate::exit::Exit;

impl Asked<'_> {
    /// Asks for the cluster's name, unless `--yes` was given. `what` says what
    /// is about to happen, such as `removes 11 resources`.
    pub(super) fn confirm(&self, what: &str) -> Result<(), CommandError> {
        if self.args.yes {
            return Ok(());
        }
        let cluster = self.cluster;
        if !self.ui.can_ask() {
            let message = format!("`down` {what} and needs a confirmation");
            return Err(CommandError::say(Exit::Usage, message)
                .hint("nothing was changed: there is no terminal to ask on")
                .hint(format!("`{} --yes` does it without asking", self.command())));
        }
        let prompt = format!("This {what}. Type the cluster's name, {cluster}, to go on:");
        if self.ui.ask(&prompt)?.as_deref() == Some(cluster) {
            return Ok(());
        }
        Err(CommandError::say(Exit::Usage, "not confirmed: nothing was changed"))
    }
}

/// Counts things, such as `1 resource` or `11 resources`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
