//! Repeating requests outside of a set, at the pace of one.

use std::time::Duration;

use super::Means;
use super::pace::{Hope, Pace};
use crate::ApiError;

/// Repeats requests that may be sent again, all within one patience. While one
/// is to be sent again, [`Means::held_up_by`] says why.
#[derive(Debug)]
pub struct Persistence(Pace);

impl Persistence {
    /// The patience begins now.
    pub fn new(means: &Means, patience: Duration) -> Self {
        Self(Pace::new(means.clone(), patience))
    }

    /// Sends a request until it is answered, its error is one that repeating does
    /// not mend, or the patience is over.
    pub async fn repeat<T>(
        &self,
        mut request: impl AsyncFnMut() -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut tries = self.0.tries(Hope::Usual);
        loop {
            tries.turn().await;
            match request().await {
                Ok(answer) => return Ok(answer),
                Err(error) => tries.again(error).await?,
            }
        }
    }
}
