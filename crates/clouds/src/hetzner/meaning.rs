//! What the words mean that Hetzner refuses a call with.
//!
//! One HTTP status stands for several of them, so that the code counts. The
//! status decides only for a code that is not known here.

use events::{Arrival, Class};
use http::StatusCode;

/// What a code means to somebody who has to decide what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Something else is going on there: the same call may work in a while.
    Busy,
    /// The project has made too many calls.
    TooManyCalls,
    /// The backend failed at it, and nobody knows how far it came.
    BackendFailed,
    /// The type is sold out there: another type or location may have room.
    SoldOut,
    /// The type cannot be ordered, or not any more: another type can.
    NotOffered,
    /// The name, or another thing that must be unique, is taken.
    Taken,
    /// It is so already.
    AlreadyDone,
    /// Something else still needs it.
    InUse,
    /// It is protected from being deleted.
    Protected,
    /// It is not there.
    Gone,
    /// The token is wrong.
    BadToken,
    /// The token may only read.
    ReadOnlyToken,
    /// The project's quota is used up.
    OverQuota,
    /// Hetzner does not take what was asked for.
    Invalid,
    /// This part of the API was removed.
    Removed,
    /// A code that is not known here.
    Unknown,
}

/// The codes with their meanings, as the public API has them.
const CODES: &[(&str, Meaning)] = &[
    ("locked", Meaning::Busy),
    // What networks and load balancers answer while an action runs on them.
    ("conflict", Meaning::Busy),
    ("maintenance", Meaning::Busy),
    ("robot_unavailable", Meaning::Busy),
    ("rate_limit_exceeded", Meaning::TooManyCalls),
    ("bad_gateway", Meaning::BackendFailed),
    ("server_error", Meaning::BackendFailed),
    ("service_error", Meaning::BackendFailed),
    ("timeout", Meaning::BackendFailed),
    ("unavailable", Meaning::BackendFailed),
    ("unknown_error", Meaning::BackendFailed),
    ("no_space_left_in_location", Meaning::SoldOut),
    ("placement_error", Meaning::SoldOut),
    ("resource_unavailable", Meaning::SoldOut),
    ("invalid_server_type", Meaning::NotOffered),
    ("uniqueness_error", Meaning::Taken),
    ("firewall_already_applied", Meaning::AlreadyDone),
    ("load_balancer_already_attached", Meaning::AlreadyDone),
    ("server_already_added", Meaning::AlreadyDone),
    ("server_already_attached", Meaning::AlreadyDone),
    ("source_port_already_used", Meaning::AlreadyDone),
    ("target_already_defined", Meaning::AlreadyDone),
    ("resource_in_use", Meaning::InUse),
    // The label selector holds it, and has to be taken away first.
    ("firewall_managed_by_label_selector", Meaning::InUse),
    ("protected", Meaning::Protected),
    ("firewall_resource_not_found", Meaning::Gone),
    ("not_found", Meaning::Gone),
    ("unauthorized", Meaning::BadToken),
    ("forbidden", Meaning::ReadOnlyToken),
    ("token_readonly", Meaning::ReadOnlyToken),
    ("resource_limit_exceeded", Meaning::OverQuota),
    ("cloud_resource_ip_not_allowed", Meaning::Invalid),
    ("incompatible_network_type", Meaning::Invalid),
    ("invalid_input", Meaning::Invalid),
    ("invalid_load_balancer_type", Meaning::Invalid),
    ("ip_not_available", Meaning::Invalid),
    ("ip_not_owned", Meaning::Invalid),
    ("json_error", Meaning::Invalid),
    ("load_balancer_not_attached_to_network", Meaning::Invalid),
    ("load_balancer_public_interface_disabled", Meaning::Invalid),
    ("method_not_allowed", Meaning::Invalid),
    ("missing_ipv4", Meaning::Invalid),
    ("networks_overlap", Meaning::Invalid),
    ("no_subnet_available", Meaning::Invalid),
    ("private_net_only_server", Meaning::Invalid),
    ("resolve_cloud_private_targets_error", Meaning::Invalid),
    ("resolve_cloud_public_targets_error", Meaning::Invalid),
    // Despite its name nothing that a wait would end: only support unlocks it.
    ("resource_locked", Meaning::Invalid),
    ("server_not_attached_to_network", Meaning::Invalid),
    ("server_not_stopped", Meaning::Invalid),
    ("targets_without_use_private_ip", Meaning::Invalid),
    ("unsupported_error", Meaning::Invalid),
    ("deprecated_api_endpoint", Meaning::Removed),
];

impl Meaning {
    /// Returns what a code means.
    pub fn of(code: &str) -> Self {
        let known = CODES.iter().find(|(known, _)| *known == code);
        known.map_or(Self::Unknown, |(_, meaning)| *meaning)
    }

    /// Returns what a code means that came with a status: a code that is not
    /// known here says that the backend failed where the status does.
    pub fn with_status(code: &str, status: StatusCode) -> Self {
        match Self::of(code) {
            Self::Unknown if status.is_server_error() => Self::BackendFailed,
            meaning => meaning,
        }
    }

    /// Returns what may be done about it.
    pub fn class(self) -> Class {
        match self {
            Self::Busy | Self::BackendFailed | Self::InUse => Class::Transient,
            Self::TooManyCalls => Class::RateLimited { after_ms: None },
            // A second look tells whether what is there is ours.
            Self::Taken | Self::AlreadyDone => Class::Conflict,
            Self::SoldOut
            | Self::NotOffered
            | Self::Protected
            | Self::Gone
            | Self::BadToken
            | Self::ReadOnlyToken
            | Self::OverQuota
            | Self::Invalid
            | Self::Removed
            | Self::Unknown => Class::Permanent,
        }
    }

    /// Returns whether the call may have had its effect.
    pub fn arrival(self) -> Arrival {
        match self {
            Self::BackendFailed | Self::Unknown => Arrival::Maybe,
            Self::Busy
            | Self::TooManyCalls
            | Self::SoldOut
            | Self::NotOffered
            | Self::Taken
            | Self::AlreadyDone
            | Self::InUse
            | Self::Protected
            | Self::Gone
            | Self::BadToken
            | Self::ReadOnlyToken
            | Self::OverQuota
            | Self::Invalid
            | Self::Removed => Arrival::No,
        }
    }

    /// Returns what a person should do about it, where waiting does not help.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::SoldOut | Self::NotOffered => {
                Some("add `fallbacks` with another type or location to the cluster file")
            }
            Self::Taken => Some("rename the cluster, or rename what has the name"),
            Self::Protected => {
                Some("lift its delete protection in the Hetzner Console if it may go")
            }
            Self::BadToken => Some("make a token in the Hetzner Console, under Security"),
            Self::ReadOnlyToken => Some("make a token with read and write permission"),
            Self::OverQuota => {
                Some("ask for a higher limit in the Hetzner Console, under Limits, or delete")
            }
            Self::Removed => Some("update seaworthy"),
            Self::Busy
            | Self::TooManyCalls
            | Self::BackendFailed
            | Self::AlreadyDone
            | Self::InUse
            | Self::Gone
            | Self::Invalid
            | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_once() {
        for (index, (code, _)) in CODES.iter().enumerate() {
            assert!(!CODES[index + 1..].iter().any(|(other, _)| other == code), "{code}");
        }
    }

    #[test]
    fn an_unknown_code_is_neither_retried_nor_taken_for_a_no() {
        let meaning = Meaning::of("brand_new_error");
        assert_eq!((meaning.class(), meaning.arrival()), (Class::Permanent, Arrival::Maybe));
    }

    #[test]
    fn what_the_backend_failed_at_may_have_happened() {
        for code in ["timeout", "bad_gateway", "server_error", "service_error", "unavailable"] {
            assert_eq!(Meaning::of(code).arrival(), Arrival::Maybe, "{code}");
            assert_eq!(Meaning::of(code).class(), Class::Transient, "{code}");
        }
    }

    #[test]
    fn waiting_does_not_lift_a_protection() {
        assert_eq!(Meaning::of("protected").class(), Class::Permanent);
        assert_eq!(Meaning::of("resource_in_use").class(), Class::Transient);
        assert_eq!(Meaning::of("resource_locked").class(), Class::Permanent);
    }
}
