//! What the API says when it will not do something.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};

/// A refused call: what ends up in the body's `error`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    message: String,
    details: Option<Value>,
}

/// The API's error codes, as far as they can occur here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Conflict,
    DeprecatedApiEndpoint,
    FirewallAlreadyApplied,
    FirewallManagedByLabelSelector,
    FirewallResourceNotFound,
    Forbidden,
    InvalidInput,
    InvalidServerType,
    IpNotAvailable,
    JsonError,
    LoadBalancerAlreadyAttached,
    LoadBalancerNotAttachedToNetwork,
    Locked,
    MissingIpv4,
    NoSubnetAvailable,
    NotFound,
    NotImplemented,
    PlacementError,
    PrivateNetOnlyServer,
    Protected,
    RateLimitExceeded,
    ResourceInUse,
    ResourceLimitExceeded,
    ResourceUnavailable,
    ServerAlreadyAttached,
    ServerNotAttachedToNetwork,
    ServiceError,
    SourcePortAlreadyUsed,
    TargetAlreadyDefined,
    Unauthorized,
    UniquenessError,
    VolumeAlreadyAttached,
}

impl Code {
    /// Returns the code as it is written, and the HTTP status that carries it.
    ///
    /// Clients must go by the code: Hetzner documents only a few statuses.
    const fn on_the_wire(self) -> (&'static str, u16) {
        match self {
            Self::Conflict => ("conflict", 409),
            Self::DeprecatedApiEndpoint => ("deprecated_api_endpoint", 410),
            Self::FirewallAlreadyApplied => ("firewall_already_applied", 422),
            Self::FirewallManagedByLabelSelector => ("firewall_managed_by_label_selector", 422),
            Self::FirewallResourceNotFound => ("firewall_resource_not_found", 404),
            // Until the summer of 2026 a token that may only read got `token_readonly`.
            Self::Forbidden => ("forbidden", 403),
            Self::InvalidInput => ("invalid_input", 422),
            Self::InvalidServerType => ("invalid_server_type", 422),
            Self::IpNotAvailable => ("ip_not_available", 422),
            Self::JsonError => ("json_error", 400),
            Self::LoadBalancerAlreadyAttached => ("load_balancer_already_attached", 422),
            Self::LoadBalancerNotAttachedToNetwork => {
                ("load_balancer_not_attached_to_network", 422)
            }
            Self::Locked => ("locked", 423),
            Self::MissingIpv4 => ("missing_ipv4", 422),
            Self::NoSubnetAvailable => ("no_subnet_available", 422),
            Self::NotFound => ("not_found", 404),
            Self::NotImplemented => ("not_implemented", 501),
            Self::PlacementError => ("placement_error", 422),
            Self::PrivateNetOnlyServer => ("private_net_only_server", 422),
            Self::Protected => ("protected", 423),
            Self::RateLimitExceeded => ("rate_limit_exceeded", 429),
            Self::ResourceInUse => ("resource_in_use", 422),
            Self::ResourceLimitExceeded => ("resource_limit_exceeded", 403),
            Self::ResourceUnavailable => ("resource_unavailable", 412),
            Self::ServerAlreadyAttached => ("server_already_attached", 422),
            Self::ServerNotAttachedToNetwork => ("server_not_attached_to_network", 422),
            Self::ServiceError => ("service_error", 422),
            Self::SourcePortAlreadyUsed => ("source_port_already_used", 412),
            Self::TargetAlreadyDefined => ("target_already_defined", 422),
            Self::Unauthorized => ("unauthorized", 401),
            Self::UniquenessError => ("uniqueness_error", 409),
            Self::VolumeAlreadyAttached => ("volume_already_attached", 422),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.on_the_wire().0
    }

    pub(crate) fn status(self) -> StatusCode {
        StatusCode::from_u16(self.on_the_wire().1).expect("the table holds valid statuses")
    }

    /// Makes a refusal with this code.
    pub(crate) fn because(self, message: impl Into<String>) -> Refusal {
        Refusal { code: self, message: message.into(), details: None }
    }
}

impl Refusal {
    /// A field of the request that cannot be.
    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let details = json!({ "fields": [{ "name": field, "messages": [message] }] });
        Self {
            details: Some(details),
            ..Code::InvalidInput.because(format!("invalid input in field '{field}': {message}"))
        }
    }

    pub(crate) fn not_found(kind: &str, id: impl std::fmt::Display) -> Self {
        Code::NotFound.because(format!("{kind} with ID '{id}' not found"))
    }

    pub(crate) fn not_implemented(what: &str) -> Self {
        Code::NotImplemented.because(format!("{what} is not simulated"))
    }

    /// Writes it as the error of an action that failed so.
    pub(crate) fn in_action(&self) -> Value {
        json!({ "code": self.code.name(), "message": self.message })
    }

    pub(crate) fn gone(announcement: &str, message: &str) -> Self {
        Self {
            details: Some(json!({ "announcement": announcement })),
            ..Code::DeprecatedApiEndpoint.because(message)
        }
    }
}

impl std::fmt::Display for Refusal {
    /// Writes it as Hetzner's own clients do.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code.name())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self { code, message, details } = self;
        let error = json!({ "code": code.name(), "message": message, "details": details });
        (code.status(), Json(json!({ "error": error }))).into_response()
    }
}
