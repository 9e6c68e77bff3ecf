//! Registries of images, in the form that every version takes.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::{Cluster, RegistryAccess, RegistryCredentials};
use crate::yaml::base64;

#[derive(Serialize)]
pub(super) struct Registries<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mirrors: BTreeMap<&'a str, MirrorPart<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    config: BTreeMap<&'a str, AccessPart<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MirrorPart<'a> {
    endpoints: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skip_fallback: bool,
}

#[derive(Serialize)]
struct AccessPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth: Option<AuthPart<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TlsPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    client_identity: Option<IdentityPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<String>,
}

#[derive(Serialize)]
struct IdentityPart {
    crt: String,
    key: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", untagged)]
enum AuthPart<'a> {
    Password {
        username: &'a str,
        password: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    Token {
        identity_token: &'a str,
    },
}

impl<'a> Registries<'a> {
    pub(super) fn of(cluster: &'a Cluster) -> Option<Self> {
        let mirrors = cluster.mirrors.iter().map(|(registry, mirror)| {
            let skip_fallback = mirror.skip_fallback;
            (registry.as_str(), MirrorPart { endpoints: &mirror.endpoints, skip_fallback })
        });
        let config = cluster.registries.iter();
        let config = config.map(|(host, access)| (host.as_str(), AccessPart::of(access)));
        Some(Self { mirrors: mirrors.collect(), config: config.collect() })
            .filter(|it| !it.mirrors.is_empty() || !it.config.is_empty())
    }
}

impl<'a> AccessPart<'a> {
    fn of(access: &'a RegistryAccess) -> Self {
        let identity = access.identity.as_ref().map(|identity| IdentityPart {
            crt: base64(&identity.certificate),
            key: base64(identity.key.reveal()),
        });
        let tls = TlsPart { client_identity: identity, ca: access.ca.as_deref().map(base64) };
        let auth = access.credentials.as_ref().map(|credentials| match credentials {
            RegistryCredentials::Password { username, password } => {
                AuthPart::Password { username, password: password.reveal() }
            }
            RegistryCredentials::Token(token) => AuthPart::Token { identity_token: token.reveal() },
        });
        let has_tls = tls.client_identity.is_some() || tls.ca.is_some();
        Self { tls: has_tls.then_some(tls), auth }
    }
}
