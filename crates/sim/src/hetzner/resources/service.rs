//! A service of a load balancer, and how the health of its targets is checked.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::hetzner::refusal::Refusal;

/// A port that a load balancer forwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) listen_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) health_check: HealthCheck,
}

/// How a target proves its health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HealthCheck {
    pub(crate) port: u16,
    /// Seconds between checks.
    pub(crate) interval: u16,
    /// Seconds that a check may take.
    pub(crate) timeout: u16,
    /// How many checks in a row must fail until a target is unhealthy.
    pub(crate) retries: u16,
    /// What is asked for; a connection is enough where there is nothing.
    pub(crate) http: Option<HttpCheck>,
}

/// The request of a health check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpCheck {
    /// The Host header, where one is asked for.
    pub(crate) domain: Option<String>,
    pub(crate) path: String,
    /// What the body must contain.
    pub(crate) response: String,
    /// Statuses that are fine, with `?` for any digit.
    pub(crate) status_codes: Vec<String>,
    pub(crate) tls: bool,
}

/// A service as a request describes it: what is absent stays as it was.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ServiceRequest {
    pub(crate) protocol: Option<String>,
    pub(crate) listen_port: Option<u16>,
    destination_port: Option<u16>,
    proxyprotocol: Option<bool>,
    health_check: Option<HealthCheckRequest>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct HealthCheckRequest {
    protocol: Option<String>,
    port: Option<u16>,
    interval: Option<u16>,
    timeout: Option<u16>,
    retries: Option<u16>,
    http: Option<HttpRequest>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct HttpRequest {
    domain: Option<String>,
    path: Option<String>,
    response: Option<String>,
    status_codes: Option<Vec<String>>,
    tls: Option<bool>,
}

impl ServiceRequest {
    /// Makes a new service.
    pub(crate) fn make(&self) -> Result<Service, Refusal> {
        if self.protocol.is_none() {
            return Err(Refusal::invalid("protocol", "is required"));
        }
        let required = |port: Option<u16>, field: &str| {
            port.filter(|it| *it > 0).ok_or_else(|| Refusal::invalid(field, "is required"))
        };
        let listen_port = required(self.listen_port, "listen_port")?;
        let destination_port = required(self.destination_port, "destination_port")?;
        let health_check = HealthCheck {
            port: destination_port,
            interval: 15,
            timeout: 10,
            retries: 3,
            http: None,
        };
        self.change(&Service { listen_port, destination_port, health_check })
    }

    /// Changes a service.
    pub(crate) fn change(&self, service: &Service) -> Result<Service, Refusal> {
        match self.protocol.as_deref() {
            None | Some("tcp") => {}
            Some("http" | "https") => {
                return Err(Refusal::not_implemented("a service that speaks HTTP itself"));
            }
            Some(_) => return Err(Refusal::invalid("protocol", "must be tcp, http or https")),
        }
        if self.proxyprotocol == Some(true) {
            return Err(Refusal::not_implemented("the proxy protocol"));
        }
        let mut service = service.clone();
        service.destination_port = self.destination_port.unwrap_or(service.destination_port);
        if let Some(request) = &self.health_check {
            service.health_check = request.change(&service.health_check)?;
        }
        Ok(service)
    }
}

impl HealthCheckRequest {
    fn change(&self, check: &HealthCheck) -> Result<HealthCheck, Refusal> {
        let http = match self.protocol.as_deref() {
            Some("tcp") => None,
            Some("http") => Some(check.http.clone().unwrap_or_default()),
            None => check.http.clone(),
            Some(_) => {
                return Err(Refusal::invalid("health_check.protocol", "must be tcp or http"));
            }
        };
        let check = HealthCheck {
            port: self.port.unwrap_or(check.port),
            interval: self.interval.unwrap_or(check.interval),
            timeout: self.timeout.unwrap_or(check.timeout),
            retries: self.retries.unwrap_or(check.retries),
            http: http.map(|http| self.http.clone().unwrap_or_default().change(http)),
        };
        check.validated()
    }
}

impl HttpRequest {
    fn change(self, http: HttpCheck) -> HttpCheck {
        HttpCheck {
            domain: self.domain.filter(|it| !it.is_empty()).or(http.domain),
            path: self.path.unwrap_or(http.path),
            response: self.response.unwrap_or(http.response),
            status_codes: self.status_codes.unwrap_or(http.status_codes),
            tls: self.tls.unwrap_or(http.tls),
        }
    }
}

impl HttpCheck {
    /// Returns the field that the API would not take, and why.
    fn fault(&self) -> Option<(&'static str, &'static str)> {
        if !self.path.starts_with('/') || self.path.contains(' ') || self.path.len() > 256 {
            Some(("http.path", "must begin with a slash, without spaces, up to 256 characters"))
        } else if self
            .domain
            .as_ref()
            .is_some_and(|it| it.contains([' ', '%', '\\']) || it.len() > 128)
        {
            Some(("http.domain", "must have no space, percent or backslash, up to 128 characters"))
        } else if self.response.len() > 256 {
            Some(("http.response", "must have at most 256 characters"))
        } else if self.status_codes.len() > 20 {
            Some(("http.status_codes", "must be at most 20"))
        } else {
            None
        }
    }
}

impl Default for HttpCheck {
    fn default() -> Self {
        Self {
            domain: None,
            path: "/".to_owned(),
            response: String::new(),
            status_codes: vec!["2??".to_owned(), "3??".to_owned()],
            tls: false,
        }
    }
}

impl HealthCheck {
    fn validated(self) -> Result<Self, Refusal> {
        let refuse = |field: &str, message: &str| {
            Err(Refusal::invalid(&format!("health_check.{field}"), message))
        };
        if !(3..=60).contains(&self.interval) {
            refuse("interval", "must be 3 to 60 seconds")
        } else if !(1..=self.interval).contains(&self.timeout) {
            refuse("timeout", "must be 1 second to the interval")
        } else if !(1..=5).contains(&self.retries) {
            refuse("retries", "must be 1 to 5")
        } else if let Some((field, message)) = self.http.as_ref().and_then(HttpCheck::fault) {
            refuse(field, message)
        } else {
            Ok(self)
        }
    }

    /// Writes it as a client sees it; `http` is there only where it is checked.
    fn view(&self) -> Value {
        let mut view = json!({
            "protocol": if self.http.is_some() { "http" } else { "tcp" },
            "port": self.port,
            "interval": self.interval,
            "timeout": self.timeout,
            "retries": self.retries,
        });
        if let Some(http) = &self.http {
            view["http"] = json!({
                "domain": http.domain,
                "path": http.path,
                "response": http.response,
                "status_codes": http.status_codes,
                "tls": http.tls,
            });
        }
        view
    }
}

impl Service {
    pub(crate) fn view(&self) -> Value {
        json!({
            "protocol": "tcp",
            "listen_port": self.listen_port,
            "destination_port": self.destination_port,
            "proxyprotocol": false,
            "health_check": self.health_check.view(),
        })
    }
}
