//! Asking a world, as its owner.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::time::Duration;

use thiserror::Error;

use super::{Answer, Place, Question};

/// How long a world may take to answer; it has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a world did not do as it was asked.
#[derive(Debug, Error)]
pub enum AskError {
    /// Nobody could be asked.
    #[error("could not ask the world")]
    Ask(#[from] io::Error),
    /// What came back means nothing.
    #[error("could not read the world's answer")]
    Read(#[from] serde_json::Error),
    /// The world said no.
    #[error("the world refused: {0}")]
    Refused(String),
}

/// Asks the world that listens at a place, and waits for its answer.
pub fn ask(place: &Place, question: &Question) -> Result<Answer, AskError> {
    let mut stream = place.connect()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(question)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut said = String::new();
    BufReader::new(stream).read_line(&mut said)?;
    match serde_json::from_str(&said)? {
        Answer::Refused { why } => Err(AskError::Refused(why)),
        answer => Ok(answer),
    }
}
