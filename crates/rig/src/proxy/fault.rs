//! Which requests go wrong, how, and how often.

use std::time::Duration;

use super::class::Class;

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is answered here, with this status, and never reaches the server.
    Status(u16),
    /// It is told to come back later: 429 with `Retry-After`.
    Throttle {
        /// When to come back, in whole seconds.
        retry_after: Duration,
    },
    /// It is passed on only after a while.
    Delay(Duration),
    /// Its connection is closed without an answer; it never reaches the server.
    Drop,
    /// It reaches the server and takes effect, and then the connection is
    /// closed without an answer: the client is in doubt.
    LoseAnswer,
    /// The answer's body breaks off after this many bytes.
    CutAfter(usize),
}

/// Which requests are meant; every part that is given must match.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Matching {
    verb: Option<String>,
    resource: Option<String>,
    path: Option<String>,
}

/// A fault for the next requests that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    matching: Matching,
    fault: Fault,
    left: Option<u32>,
}

impl Matching {
    /// Matches every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Matches requests of a class, such as `create`, `configmaps`.
    pub fn class(verb: &str, resource: &str) -> Self {
        Self { verb: Some(verb.into()), resource: Some(resource.into()), path: None }
    }

    /// Matches requests whose path begins like this.
    pub fn path(path: &str) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// Narrows the match to a verb, such as `watch`.
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = Some(verb.into());
        self
    }

    fn meets(&self, class: &Class, path: &str) -> bool {
        self.verb.as_ref().is_none_or(|verb| *verb == class.verb)
            && self.resource.as_ref().is_none_or(|resource| *resource == class.resource)
            && self.path.as_ref().is_none_or(|prefix| path.starts_with(prefix.as_str()))
    }
}

impl Rule {
    /// Meets the next `times` requests that match.
    pub fn next(times: u32, matching: Matching, fault: Fault) -> Self {
        Self { matching, fault, left: Some(times) }
    }

    /// Meets every request that matches, until the proxy is told to behave.
    pub fn always(matching: Matching, fault: Fault) -> Self {
        Self { matching, fault, left: None }
    }

    pub(super) fn meet(&mut self, class: &Class, path: &str) -> Option<Fault> {
        if self.is_used_up() || !self.matching.meets(class, path) {
            return None;
        }
        self.left = self.left.map(|left| left - 1);
        Some(self.fault.clone())
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.left == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_pods() -> Class {
        Class::of("GET", "/api/v1/pods", "")
    }

    #[test]
    fn a_rule_meets_only_as_often_as_it_says() {
        let mut rule = Rule::next(2, Matching::class("list", "pods"), Fault::Status(503));
        for _ in 0..2 {
            assert_eq!(rule.meet(&list_pods(), "/api/v1/pods"), Some(Fault::Status(503)));
        }
        assert_eq!(rule.meet(&list_pods(), "/api/v1/pods"), None);
        assert!(rule.is_used_up());
    }

    #[test]
    fn every_given_part_must_match() {
        let class = list_pods();
        assert!(Matching::any().meets(&class, "/x"));
        assert!(Matching::path("/api/v1").verb("list").meets(&class, "/api/v1/pods"));
        assert!(!Matching::path("/api/v1").verb("watch").meets(&class, "/api/v1/pods"));
        assert!(!Matching::path("/apis").meets(&class, "/api/v1/pods"));
        assert!(!Matching::class("list", "nodes").meets(&class, "/api/v1/pods"));
    }
}
