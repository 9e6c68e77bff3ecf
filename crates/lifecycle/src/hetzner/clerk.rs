//! Who brings wishes to Hetzner, and waits until they are carried out.

use std::sync::Arc;
use std::time::Duration;

use clouds::hetzner::{Action, ActionError, ActionStatus, Hetzner, Id, Ours, Resource, Wish};
use engine::{ActError, Ensured, Hands, Sight};
use events::{Failure, Made};

use super::refusal::{act_error, meant, send_error};

/// Brings the wishes of one unit to Hetzner.
#[derive(Clone, Copy)]
pub(crate) struct Clerk<'a> {
    pub(crate) hands: &'a Hands,
    pub(crate) hetzner: &'a Hetzner,
    /// How many times faster than real the cloud is, where it is simulated.
    pub(crate) speed: Option<u32>,
}

/// The pause between two looks at an action: at first, and at most. Hetzner
/// allows 3600 calls an hour.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

impl Clerk<'_> {
    /// Makes sure that a wish is fulfilled, and waits until what was started by
    /// it is over: Hetzner refuses other calls meanwhile.
    pub(crate) async fn ensure<W: Wish>(&self, wish: W) -> Result<(), ActError> {
        let wish = Arc::new(wish);
        let look = async |_| match self.hetzner.look(&*wish).await {
            Ok(Some(made)) => Ok(Sight::There(made)),
            Ok(None) => Ok(Sight::NotThere),
            Err(error) => Err(act_error(error)),
        };
        let (client, wanted) = (self.hetzner.clone(), Arc::clone(&wish));
        let send = move |permit| async move {
            client.send(permit, &*wanted).await.map_err(|error| send_error(&error))
        };
        match self.hands.ensure(wish.call(), look, send).await? {
            Ensured::Sent(made) => self.finished(&made).await,
            Ensured::Found(_) | Ensured::Pending(_) => Ok(()),
        }
    }

    /// Returns what was just made or found.
    pub(crate) async fn there<R: Resource>(&self, name: &str) -> Result<Ours<R>, ActError> {
        let found = self.hetzner.find::<R>(name).await.map_err(act_error)?;
        let missing = || Failure::transient(format!("{} {name} is not to be seen yet", R::KIND));
        Ok(found.ok_or_else(missing)?)
    }

    async fn finished(&self, made: &Made) -> Result<(), ActError> {
        let actions: Vec<_> =
            made.actions.iter().filter_map(|id| id.parse().ok()).map(Id::<Action>::new).collect();
        let mut pause = FIRST_PAUSE;
        while !actions.is_empty() {
            let now = self.hetzner.actions(&actions).await.map_err(act_error)?;
            if let Some(failed) = now.iter().find(|it| it.status == ActionStatus::Error) {
                return Err(failure(failed));
            }
            if now.iter().all(|it| it.status == ActionStatus::Success) {
                break;
            }
            self.hands.go_on()?;
            self.hands.eyes().clock().sleep(pause / self.speed.unwrap_or(1).max(1)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(())
    }
}

/// An action that failed may work when it is tried again, unless what it says
/// has a cause of its own: then a fallback is tried, or a person is asked.
fn failure(action: &Action) -> ActError {
    let said = action.error.as_ref().map(|it| format!(": {} ({})", it.message, it.code));
    let message = format!("Hetzner could not {}{}", action.command, said.unwrap_or_default());
    let meaning = action.error.as_ref().map(ActionError::meaning);
    match meaning.and_then(|meaning| meant(meaning, &message)) {
        Some(cause) => cause.into(),
        None => Failure::transient(message).into(),
    }
}
