//! What the health checks have found.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The health of every target, by load balancer, listen port and server.
#[derive(Debug, Default)]
pub(crate) struct Healths(BTreeMap<(i64, u16, i64), Record>);

/// What a client is told about a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Unknown,
    Healthy,
    Unhealthy,
}

/// Why a check did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    NoConnection,
    NoConnectionInTime,
    NoAnswerInTime,
    Status(u16),
    Content(u16),
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    health: Health,
    /// How many checks in a row have failed, and how many have passed.
    failures: u16,
    passes: u16,
    last: Option<Failure>,
}

impl Failure {
    fn detail(self) -> &'static str {
        match self {
            Self::NoConnection => "layer4_no_connection",
            Self::NoConnectionInTime => "layer4_timeout",
            Self::NoAnswerInTime => "layer7_timeout",
            Self::Status(_) => "unexpected_http_status",
            Self::Content(_) => "unexpected_http_content",
            Self::Other => "unspecified",
        }
    }

    fn http_status(self) -> Option<u16> {
        match self {
            Self::Status(status) | Self::Content(status) => Some(status),
            _ => None,
        }
    }
}

impl Health {
    fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Healthy => "healthy",
            Self::Unhealthy => "unhealthy",
        }
    }
}

impl Healths {
    pub(crate) fn of(&self, balancer: i64, port: u16, server: i64) -> Health {
        self.0.get(&(balancer, port, server)).map_or(Health::Unknown, |record| record.health)
    }

    /// Returns what a client sees; why it failed only where it is unhealthy.
    pub(crate) fn view(&self, balancer: i64, port: u16, server: i64) -> Value {
        let record = self.0.get(&(balancer, port, server));
        let health = self.of(balancer, port, server);
        let last = record.filter(|_| health == Health::Unhealthy).and_then(|it| it.last);
        json!({
            "listen_port": port,
            "status": health.name(),
            "detail": last.map(Failure::detail),
            "http_status_code": last.and_then(Failure::http_status),
        })
    }

    /// Takes note of a check. A target is unhealthy after so many failures in a
    /// row as the service says, and healthy again after as many successes; one
    /// that was never unhealthy needs only one.
    pub(crate) fn note(
        &mut self,
        target: (i64, u16, i64),
        found: Result<(), Failure>,
        retries: u16,
    ) {
        let fresh = Record { health: Health::Unknown, failures: 0, passes: 0, last: None };
        let record = self.0.entry(target).or_insert(fresh);
        match found {
            Ok(()) => {
                record.passes = record.passes.saturating_add(1);
                record.failures = 0;
                if record.health != Health::Unhealthy || record.passes >= retries {
                    record.health = Health::Healthy;
                }
            }
            Err(failure) => {
                record.failures = record.failures.saturating_add(1);
                record.passes = 0;
                record.last = Some(failure);
                if record.failures >= retries {
                    record.health = Health::Unhealthy;
                }
            }
        }
    }

    pub(crate) fn forget_server(&mut self, server: i64) {
        self.0.retain(|(_, _, it), _| *it != server);
    }

    pub(crate) fn forget_balancer(&mut self, balancer: i64) {
        self.0.retain(|(it, _, _), _| *it != balancer);
    }

    pub(crate) fn forget_port(&mut self, balancer: i64, port: u16) {
        self.0.retain(|(it, at, _), _| (*it, *at) != (balancer, port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_unhealthy_only_after_the_retries() {
        let mut healths = Healths::default();
        let target = (1, 6443, 2);
        let now = |healths: &Healths| healths.of(1, 6443, 2);
        healths.note(target, Err(Failure::Status(404)), 2);
        assert_eq!(now(&healths), Health::Unknown);
        healths.note(target, Err(Failure::Status(404)), 2);
        assert_eq!(now(&healths), Health::Unhealthy);
        let view = healths.view(1, 6443, 2);
        assert_eq!(
            (&view["detail"], &view["http_status_code"]),
            (&json!("unexpected_http_status"), &json!(404))
        );
        healths.note(target, Ok(()), 2);
        assert_eq!(now(&healths), Health::Unhealthy, "as many successes make it healthy again");
        healths.note(target, Ok(()), 2);
        assert_eq!(now(&healths), Health::Healthy);
        healths.note(target, Err(Failure::Status(404)), 2);
        assert_eq!(now(&healths), Health::Healthy);
        healths.forget_server(2);
        assert_eq!(now(&healths), Health::Unknown);
    }
}
