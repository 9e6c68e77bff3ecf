//! What can be made to go wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use super::refusal::{Code, Refusal};

/// Faults of the simulated cloud. All are off by default; none is visible to a
/// client other than by what the API does.
#[derive(Clone, Debug, Default)]
pub struct Knobs {
    /// What the token may do.
    pub access: Access,
    /// Server types that cannot be had, with the location, or everywhere.
    pub shortages: Vec<Shortage>,
    /// How many servers the project may hold.
    pub server_limit: Option<usize>,
    /// The next so many calls are told that there were too many.
    pub throttle: Option<Throttle>,
    /// The next so many calls get a 502 from the gateway.
    pub bad_gateways: u32,
    /// The next so many action calls are refused, since something else runs.
    pub busy: Option<(Busy, u32)>,
    /// Commands whose next actions end with an error, and how often.
    pub failing_actions: BTreeMap<String, u32>,
    /// What is wrong with the load balancers' health checks.
    pub health_checks: HealthChecks,
    /// Snapshots never leave `creating`.
    pub stuck_snapshots: bool,
    /// The next so many attachments to a network get another address than the
    /// one that was asked for.
    pub wrong_private_ips: u32,
    /// Firewalls lose the rules for this port, and say nothing of it.
    pub lost_firewall_port: Option<String>,
    /// No volume can be had.
    pub no_volumes: bool,
    /// The currency of the account, where it is not the euro.
    pub currency: Option<String>,
}

/// What the token may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    #[default]
    ReadWrite,
    /// Only look.
    ReadOnly,
    /// Nothing: it is not known.
    Nothing,
}

/// A server type that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The type's name.
    pub server_type: String,
    /// The location's name; everywhere where there is none.
    pub location: Option<String>,
    /// Whether the list of server types admits it.
    pub known: Known,
}

/// Whether the API's lists already tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// `available` is false.
    Listed,
    /// `available` is true, and only the order is refused.
    OnlyWhenOrdered,
    /// The order is taken, and the action that makes the server fails.
    OnlyInTheAction,
    /// `available` is true, but the type ended some time ago.
    Ended,
}

/// Too many calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// How many calls are refused.
    pub calls: u32,
    /// In how much simulated time the limit is said to be full again.
    pub reset: Duration,
}

/// How a busy resource refuses an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// With `conflict`.
    Conflict,
    /// With `locked`.
    Locked,
}

/// How the load balancers check their targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HealthChecks {
    /// As their services say.
    #[default]
    AsConfigured,
    /// With this path instead of the configured one.
    AskFor(String),
    /// Without ever being content.
    NeverHealthy,
}

impl Knobs {
    /// Says whether a type can be had in a place, as far as the lists tell.
    pub(crate) fn lists(&self, server_type: &str, location: &str) -> bool {
        !self.short(server_type, location, |shortage| shortage.known == Known::Listed)
    }

    /// Says whether an order of a type in a place is served.
    pub(crate) fn delivers(&self, server_type: &str, location: &str) -> bool {
        let refused = [Known::Listed, Known::OnlyWhenOrdered];
        !self.short(server_type, location, |shortage| refused.contains(&shortage.known))
    }

    /// Says whether the action of an order fails that was taken.
    pub(crate) fn fails_to_deliver(&self, server_type: &str, location: &str) -> bool {
        self.short(server_type, location, |shortage| shortage.known == Known::OnlyInTheAction)
    }

    /// Says whether a type has ended in a place.
    pub(crate) fn has_ended(&self, server_type: &str, location: &str) -> bool {
        self.short(server_type, location, |shortage| shortage.known == Known::Ended)
    }

    fn short(&self, wanted: &str, place: &str, counts: impl Fn(&Shortage) -> bool) -> bool {
        self.shortages.iter().any(|shortage| {
            shortage.server_type == wanted
                && shortage.location.as_deref().is_none_or(|location| location == place)
                && counts(shortage)
        })
    }

    /// Returns the refusal that the next action call meets, if any.
    pub(crate) fn refuse_action(&mut self) -> Option<Refusal> {
        let (busy, left) = self.busy.as_mut()?;
        *left = left.checked_sub(1)?;
        Some(match busy {
            Busy::Conflict => Code::Conflict.because("resource has changed, please retry"),
            Busy::Locked => Code::Locked.because("resource is locked by another action"),
        })
    }

    /// Says whether an action with this command is to fail, and uses that up.
    pub(crate) fn fails(&mut self, command: &str) -> bool {
        self.failing_actions.get_mut(command).is_some_and(spend)
    }

    pub(crate) fn spend_bad_gateway(&mut self) -> bool {
        spend(&mut self.bad_gateways)
    }

    pub(crate) fn spend_wrong_ip(&mut self) -> bool {
        spend(&mut self.wrong_private_ips)
    }

    /// Returns when the limit is full again, if the next call is refused.
    pub(crate) fn spend_throttle(&mut self) -> Option<Duration> {
        let throttle = self.throttle.as_mut()?;
        spend(&mut throttle.calls).then_some(throttle.reset)
    }
}

fn spend(left: &mut u32) -> bool {
    let any = *left > 0;
    *left = left.saturating_sub(1);
    any
}
