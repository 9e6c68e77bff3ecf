//! A client's certificate with its key.

use events::Secret;
use jiff::Timestamp;
use rand::CryptoRng;

use super::Role;
use crate::pki::{
    Authority, AuthorityError, Certificate, ClientLeaf, KeyError, Lifetime, PrivateKey,
};
use crate::secrets::Bundle;

/// Who a client is: its certificate, the key to that, and the authority that
/// both sides trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    authority: Certificate,
    certificate: Certificate,
    key: PrivateKey,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No key could be made.
    #[error("could not make a key for the client")]
    Key(#[source] KeyError),
    /// No certificate could be signed.
    #[error("could not sign the client's certificate")]
    Sign(#[source] AuthorityError),
    /// The certificate is for another key.
    #[error("the client's certificate and key do not belong together")]
    Pair,
}

impl Identity {
    /// Makes a client of the Talos API, for a year.
    pub fn talos(
        bundle: &Bundle,
        role: Role,
        at: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, IdentityError> {
        Self::talos_for(bundle, &[role], Lifetime::year(at), rng)
    }

    /// Makes a client of the Talos API, for as long as it is wanted. It may do
    /// what any of its roles may.
    pub fn talos_for(
        bundle: &Bundle,
        roles: &[Role],
        lifetime: Lifetime,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, IdentityError> {
        let organizations: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
        let leaf = ClientLeaf { organizations: &organizations, common_name: None, lifetime };
        let key = PrivateKey::ed25519(rng);
        Self::signed(&bundle.os, leaf, key, rng)
    }

    /// Makes an administrator of the Kubernetes API, for a year.
    pub fn kubernetes_admin(
        bundle: &Bundle,
        at: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, IdentityError> {
        Self::kubernetes_admin_for(bundle, Lifetime::year(at), rng)
    }

    /// Makes an administrator of the Kubernetes API, for as long as it is wanted.
    pub fn kubernetes_admin_for(
        bundle: &Bundle,
        lifetime: Lifetime,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, IdentityError> {
        let leaf =
            ClientLeaf { organizations: &["system:masters"], common_name: Some("admin"), lifetime };
        let key = PrivateKey::p256().map_err(IdentityError::Key)?;
        Self::signed(&bundle.kubernetes, leaf, key, rng)
    }

    /// Puts an identity together that somebody else has made.
    pub fn of(
        authority: Certificate,
        certificate: Certificate,
        key: PrivateKey,
    ) -> Result<Self, IdentityError> {
        if key.spki().map_err(IdentityError::Key)? == certificate.spki() {
            Ok(Self { authority, certificate, key })
        } else {
            Err(IdentityError::Pair)
        }
    }

    fn signed(
        authority: &Authority,
        leaf: ClientLeaf<'_>,
        key: PrivateKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, IdentityError> {
        let certificate = authority.sign_client(leaf, &key, rng).map_err(IdentityError::Sign)?;
        Ok(Self { authority: authority.certificate().clone(), certificate, key })
    }

    /// Returns the authority that the server is trusted by.
    pub fn authority(&self) -> &Certificate {
        &self.authority
    }

    /// Returns the client's certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the client's key.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// Returns the secret of it, for whoever keeps secrets out of what is written.
    pub fn secret(&self) -> &Secret {
        self.key.pem()
    }
}
