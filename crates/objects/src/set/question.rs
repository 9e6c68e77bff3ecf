//! Asking the API about one object of a set that may differ from what is there.

use super::finding::Finding;
use super::look::{comes_with_the_set, repair};
use super::pace::Hope;
use super::survey::{IfAbsent, Survey};
use super::{StepError, Walk, taken, untried};
use crate::fields::OwnersError;
use crate::{ApiError, Object};

impl<J, T> Survey<'_, J>
where
    J: Fn(Option<&Object>, &Object) -> Result<T, OwnersError> + Sync,
    T: Send,
{
    /// Compares one object with what is there of it.
    pub(super) async fn find(
        &self,
        place: usize,
        live: Option<&Object>,
    ) -> Result<Finding<T>, StepError> {
        let wished = &self.order.objects()[place];
        if live.is_none() && self.if_absent == IfAbsent::Say {
            return Ok(Finding::Absent);
        }
        self.meets(wished, live)?;
        if let Some(live) = live {
            if live.at("/metadata/deletionTimestamp").is_some() {
                return Err(StepError::Terminating { kept_by: None });
            }
            self.settings.adopt.allows(live, self.inventory)?;
            let walks = matches!(self.settings.walk, Walk::Compare);
            if walks && self.is_settled(wished, live).await {
                return Ok(Finding::Same);
            }
        }
        self.try_out(place, live).await
    }

    /// Returns whether this doubt has turned out to be none before.
    async fn is_settled(&self, wished: &Object, live: &Object) -> bool {
        let Some(footprint) = self.recall.footprint(wished, live) else { return false };
        let footprint = self.recall.whole(wished.kind(), footprint).await;
        footprint.is_some_and(|footprint| self.recall.knows(&footprint))
    }

    async fn try_out(&self, place: usize, live: Option<&Object>) -> Result<Finding<T>, StepError> {
        let wished = &self.order.objects()[place];
        let repair = live.and_then(|live| repair(self.cluster, wished, live));
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let room = self.room.acquire().await;
            let ownership = self.settings.ownership;
            let preview =
                taken::try_out(self.cluster, wished, live, repair.as_ref(), ownership).await;
            drop(room);
            match preview {
                Ok(preview) => {
                    let warnings = preview.warnings;
                    let answer = match live.zip(repair.as_ref()) {
                        Some((live, repair)) => {
                            let (live, after) = taken::play(live, preview.object, repair)?;
                            (self.judge)(Some(&live), &after)?
                        }
                        None => (self.judge)(live, &preview.object)?,
                    };
                    return Ok(Finding::Told { answer, warnings });
                }
                Err(error) if comes_with_the_set(self.order, place, &error) => {
                    return Ok(Finding::Unchecked { because: error.trouble().to_string() });
                }
                Err(error) if untried::is_untried(&error) => {
                    return self.guess(place, live, &error);
                }
                Err(error) => tries.again(error).await?,
            }
        }
    }

    /// Says of an object that cannot be tried out what can be said all the same.
    fn guess(
        &self,
        place: usize,
        live: Option<&Object>,
        error: &ApiError,
    ) -> Result<Finding<T>, StepError> {
        let Some(live) = live else {
            return Ok(Finding::Unchecked { because: error.trouble().to_string() });
        };
        let guessed = untried::guess(&self.order.objects()[place], live)?;
        let answer = (self.judge)(Some(live), &guessed)?;
        Ok(Finding::Told { answer, warnings: vec![untried::warning(error)] })
    }
}
