//! Where Hetzner is, who we are to it, and whom we believe.

use std::sync::Arc;
use std::time::Duration;

use events::{Clock, ClusterId, Secret};
use http::Uri;
use http::uri::{PathAndQuery, Scheme};
use peers::Route;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// What the client has to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The API's address.
    pub endpoint: Endpoint,
    /// The project's token.
    pub token: Secret,
    /// Whose certificates are believed.
    pub trust: Trust,
    /// How long a call may take, its answer included.
    pub timeout: Duration,
    /// The cluster that everything is made for.
    pub cluster: ClusterId,
    /// The way there: directly, or through a proxy.
    pub route: Route,
    /// The time, by which the pause is reckoned that Hetzner asks for.
    pub clock: Clock,
}

/// The address of the API: HTTPS, with a path before all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(Uri);

/// Whose certificates are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those that the operating system believes.
    System,
    /// Only those of these authorities, in PEM.
    Only(Vec<u8>),
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The endpoint is not an address that a token may be sent to.
    #[error("`{text}` is not an endpoint such as {}", Endpoint::PUBLIC)]
    Endpoint {
        /// What it is.
        text: String,
    },
    /// The token cannot stand in a header.
    #[error("the token holds characters that no token has, such as a line break")]
    Token,
    /// The authorities cannot be read.
    #[error("the certificate authorities for {endpoint} cannot be read")]
    ReadAuthorities {
        /// For which endpoint.
        endpoint: String,
        /// What is wrong.
        source: rustls::pki_types::pem::Error,
    },
    /// There is no authority among them.
    #[error("there is no certificate authority for {endpoint} in the PEM given")]
    NoAuthority {
        /// For which endpoint.
        endpoint: String,
    },
    /// TLS could not be set up.
    #[error("could not set up TLS")]
    Tls {
        /// What is wrong.
        #[from]
        source: rustls::Error,
    },
}

// === impl Endpoint ===

impl Endpoint {
    /// The address of the public API.
    pub const PUBLIC: &'static str = "https://api.hetzner.cloud/v1";

    /// Reads an address. A token must not travel without TLS.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let invalid = || SettingsError::Endpoint { text: peers::without_user_info(text) };
        let uri: Uri = text.trim_end_matches('/').parse().map_err(|_| invalid())?;
        let usable = uri.scheme() == Some(&Scheme::HTTPS)
            && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
            && uri.query().is_none();
        if usable { Ok(Self(uri)) } else { Err(invalid()) }
    }

    /// Returns the address of `path`, which is written as it goes over the wire.
    pub(super) fn join(&self, path: &str) -> Uri {
        let before = self.0.path().trim_end_matches('/');
        let mut parts = self.0.clone().into_parts();
        let whole = format!("{before}{path}");
        let whole = PathAndQuery::try_from(whole).expect("paths are escaped where they are made");
        parts.path_and_query = Some(whole);
        Uri::from_parts(parts).expect("the parts of an address with another path")
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.to_string().trim_end_matches('/'))
    }
}

// === impl Trust ===

impl Trust {
    /// Sets up TLS for a client without a certificate of its own.
    pub(super) fn tls(&self, endpoint: &Endpoint) -> Result<ClientConfig, SettingsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let builder = match self {
            Self::System => builder.with_platform_verifier()?,
            Self::Only(pem) => builder.with_root_certificates(authorities(pem, endpoint)?),
        };
        Ok(builder.with_no_client_auth())
    }
}

fn authorities(pem: &[u8], endpoint: &Endpoint) -> Result<RootCertStore, SettingsError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|source| SettingsError::ReadAuthorities {
            endpoint: endpoint.to_string(),
            source,
        })?;
        roots.add(certificate)?;
    }
    if roots.is_empty() {
        return Err(SettingsError::NoAuthority { endpoint: endpoint.to_string() });
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_https_and_have_no_user_and_no_query() {
        for wrong in
            ["", "api.hetzner.cloud", "http://api/v1", "https://", "https://a@b/", "https://b/?c"]
        {
            let error = Endpoint::parse(wrong).unwrap_err();
            let shown = wrong.replace("a@", "");
            let text = format!("`{shown}` is not an endpoint such as https://api.hetzner.cloud/v1");
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn paths_come_after_the_endpoints_own() {
        let join =
            |endpoint| Endpoint::parse(endpoint).unwrap().join("/servers?page=2").to_string();
        assert_eq!(join(Endpoint::PUBLIC), "https://api.hetzner.cloud/v1/servers?page=2");
        assert_eq!(join("https://127.0.0.1:8443/"), "https://127.0.0.1:8443/servers?page=2");
        assert_eq!(join("https://[::1]/a/b/"), "https://[::1]/a/b/servers?page=2");
    }

    #[test]
    fn a_trust_without_an_authority_is_refused() {
        let endpoint = Endpoint::parse(Endpoint::PUBLIC).unwrap();
        let error = Trust::Only(b"no certificate".to_vec()).tls(&endpoint).unwrap_err();
        assert!(matches!(error, SettingsError::NoAuthority { .. }), "{error}");
        let broken = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
        let error = Trust::Only(broken.to_vec()).tls(&endpoint).unwrap_err();
        assert!(matches!(error, SettingsError::ReadAuthorities { .. }), "{error}");
    }
}
