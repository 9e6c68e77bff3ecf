//! Registries of images.

use super::format::{Complaint, Format, Json, Scalar};
use super::name::DnsName;

/// The host of a registry, with its port where it has one of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryHost(String);

super::format::text_of!(RegistryHost);

impl Scalar for RegistryHost {
    const FORMAT: Format = Format {
        name: "the host of a registry",
        example: "`ghcr.io` or `10.0.0.5:5000`",
        json: Json::Text { pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text.contains("://") {
            return Err(Complaint::label("expected only the host, without `https://`"));
        }
        if text.contains('/') {
            return Err(Complaint::label("expected only the host, without a path"));
        }
        let host = match text.split_once(':') {
            None => text,
            Some((host, port)) => {
                let is_port = !port.starts_with(['0', '+']) && port.parse::<u16>().is_ok();
                if !is_port {
                    return Err(Complaint::label("expected a port from 1 to 65535 behind the `:`"));
                }
                host
            }
        };
        DnsName::read(host)?;
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("localhost".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_a_host_perhaps_with_a_port() {
        for good in ["ghcr.io", "10.0.0.5:5000", "localhost:1", "registry.k8s.io"] {
            assert!(RegistryHost::read(good).is_ok(), "{good}");
        }
        for bad in
            ["https://ghcr.io", "ghcr.io/a", "a:0", "a:", "a:65536", "a:+1", "", ":5000", "A"]
        {
            assert!(RegistryHost::read(bad).is_err(), "{bad}");
        }
    }
}
