//! The object that carries sealed values.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rand::CryptoRng;
use serde_json::{Value, json};

use super::{Certificate, Scope, SealError};

/// A Secret whose values are sealed, so that it may lie in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    namespace: String,
    name: String,
    scope: Scope,
    labels: BTreeMap<String, String>,
    sealed: BTreeMap<String, String>,
}

impl SealedSecret {
    /// A sealed secret without values, for exactly this name and namespace.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        let (namespace, name) = (namespace.into(), name.into());
        let scope = Scope::Strict { namespace: namespace.clone(), name: name.clone() };
        Self { namespace, name, scope, labels: BTreeMap::new(), sealed: BTreeMap::new() }
    }

    /// Puts a label on it, and on the Secret that comes of it.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Adds a value, sealed for a certificate.
    pub fn value(
        mut self,
        key: impl Into<String>,
        value: &[u8],
        certificate: &Certificate,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SealError> {
        let sealed = certificate.seal(value, &self.scope, rng)?;
        self.sealed.insert(key.into(), BASE64_STANDARD.encode(sealed));
        Ok(self)
    }

    /// Returns it as an object for the API.
    pub fn object(&self) -> Value {
        let metadata = json!({
            "name": self.name,
            "namespace": self.namespace,
            "labels": self.labels,
        });
        json!({
            "apiVersion": "bitnami.com/v1alpha1",
            "kind": "SealedSecret",
            "metadata": metadata,
            "spec": {
                "encryptedData": self.sealed,
                "template": { "metadata": metadata, "type": "Opaque" },
            },
        })
    }
}
