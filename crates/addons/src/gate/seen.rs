//! What was seen of what a gate needs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use events::Failure;
use ipnet::IpNet;
use jiff::Timestamp;
use serde_json::Value;

use super::Look;

/// The answers to a gate's looks, all of about the same time.
#[derive(Clone, Debug)]
pub struct Seen {
    at: Timestamp,
    answers: BTreeMap<Look, Result<Answer, Failure>>,
}

/// What an API answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A list, complete.
    Objects(Vec<Value>),
    /// An object.
    Object(Value),
    /// There is no such thing: no such object, or no such kind.
    Absent,
    /// What a service answered.
    Text(String),
    /// What the cloud has.
    Routes(Vec<Route>),
}

/// A route of the cloud's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where packets want to go.
    pub destination: IpNet,
    /// Which address they are given to.
    pub gateway: IpAddr,
}

impl Seen {
    /// Nothing seen yet, at a time by which the age of things is judged.
    pub fn at(at: Timestamp) -> Self {
        Self { at, answers: BTreeMap::new() }
    }

    /// Adds what a look found, or why it found nothing.
    #[must_use]
    pub fn saw(mut self, look: Look, answer: Result<Answer, Failure>) -> Self {
        self.answers.insert(look, answer);
        self
    }

    /// Returns when it was seen.
    pub fn time(&self) -> Timestamp {
        self.at
    }

    /// Returns the objects of a list. A kind that is not served has none.
    pub(crate) fn list(&self, look: &Look) -> Result<&[Value], Failure> {
        match self.answer(look)? {
            Answer::Objects(objects) => Ok(objects),
            Answer::Absent => Ok(&[]),
            _ => Err(misfit(look)),
        }
    }

    /// Returns the objects of a list that only explains: none if nobody could look.
    pub(crate) fn hints(&self, look: &Look) -> &[Value] {
        self.list(look).unwrap_or_default()
    }

    /// Returns an object, if there is one.
    pub(crate) fn get(&self, look: &Look) -> Result<Option<&Value>, Failure> {
        match self.answer(look)? {
            Answer::Object(object) => Ok(Some(object)),
            Answer::Absent => Ok(None),
            _ => Err(misfit(look)),
        }
    }

    /// Returns what a service answered, if there is one.
    pub(crate) fn text(&self, look: &Look) -> Result<Option<&str>, Failure> {
        match self.answer(look)? {
            Answer::Text(text) => Ok(Some(text)),
            Answer::Absent => Ok(None),
            _ => Err(misfit(look)),
        }
    }

    /// Returns the routes that the cloud has.
    pub(crate) fn routes(&self) -> Result<&[Route], Failure> {
        match self.answer(&Look::Routes)? {
            Answer::Routes(routes) => Ok(routes),
            Answer::Absent => Ok(&[]),
            _ => Err(misfit(&Look::Routes)),
        }
    }

    fn answer(&self, look: &Look) -> Result<&Answer, Failure> {
        match self.answers.get(look) {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(failure)) => Err(failure.clone()),
            // A bug of whoever looks; asking again would not mend it.
            None => Err(Failure::permanent(format!("nobody looked at {look}"))),
        }
    }
}

fn misfit(look: &Look) -> Failure {
    Failure::permanent(format!("the answer about {look} has another shape than was asked for"))
}
