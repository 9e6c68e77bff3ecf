//! Taking things away: one step at a time, of what is provably ours.

use events::{Call, Made};
use serde::Deserialize as _;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::answer::Started;
use super::client::Pass;
use super::{AppliedTo, Firewall, Hetzner, HetznerError, Id, Kind, Wish};
use crate::Item;

/// The wish that the next step of taking an item away is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remove {
    /// The item, as the last look has seen it.
    pub item: Item,
}

impl Remove {
    fn path(&self) -> String {
        let kind = Kind::TEARDOWN.into_iter().find(|kind| kind.word() == self.item.kind);
        let kind = kind.expect("items of other clouds are never given to this one");
        format!("/{}/{}", kind.plural(), self.item.id)
    }

    async fn is_gone(&self, hetzner: &Hetzner) -> Result<bool, HetznerError> {
        let attempt = format!("look at {}", self.item);
        match hetzner.read::<IgnoredAny>(&attempt, &self.path()).await {
            Ok(_) => Ok(false),
            Err(error) if error.is_gone() => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// A firewall is released when it is on nothing any more that it was to be taken off.
    async fn is_released(&self, hetzner: &Hetzner, release: &Value) -> Result<bool, HetznerError> {
        let off = Vec::<AppliedTo>::deserialize(&release["remove_from"])
            .expect("only inventories of Hetzner make items, in this form");
        let id = self.item.id.parse().expect("Hetzner's ids are numbers");
        let firewall = hetzner.get(Id::<Firewall>::new(id)).await?;
        Ok(firewall.is_none_or(|firewall| !off.iter().any(|to| firewall.applied_to.contains(to))))
    }

    fn made(&self) -> Made {
        Made::id(self.item.kind, &self.item.id)
    }
}

impl Wish for Remove {
    fn call(&self) -> Call {
        self.item.call()
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let is_done = match &self.item.release {
            Some(release) => self.is_released(hetzner, release).await?,
            None => self.is_gone(hetzner).await?,
        };
        Ok(is_done.then(|| self.made()))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let started = match &self.item.release {
            Some(body) => {
                let path = format!("{}/actions/remove_from_resources", self.path());
                hetzner.post::<Started>(pass, &path, body).await
            }
            None => hetzner.delete(pass, &self.path()).await,
        };
        match started {
            Ok(started) => Ok(started.with(self.made())),
            // It went between the look and the call, which is all that was wanted.
            Err(error) if error.is_gone() => Ok(self.made()),
            Err(error) => Err(error),
        }
    }
}
