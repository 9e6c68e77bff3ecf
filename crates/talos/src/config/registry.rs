//! Registries of images: their mirrors, and how nodes get in.

use events::Secret;

/// Where images of a registry are pulled from instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The mirrors, tried in this order.
    pub endpoints: Vec<String>,
    /// Whether the registry itself is never asked.
    pub skip_fallback: bool,
}

/// How nodes get into a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryAccess {
    /// Who they say they are.
    pub credentials: Option<RegistryCredentials>,
    /// The authorities that its certificate is signed by, in PEM.
    pub ca: Option<String>,
    /// The certificate that they show.
    pub identity: Option<RegistryIdentity>,
}

/// Who nodes say to a registry that they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryCredentials {
    /// A user with a password.
    Password {
        /// The user.
        username: String,
        /// The password.
        password: Secret,
    },
    /// An identity token.
    Token(Secret),
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryIdentity {
    /// The certificate, in PEM.
    pub certificate: String,
    /// The private key, in PEM.
    pub key: Secret,
}

impl RegistryAccess {
    /// Returns what of it nobody may see.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let said = self.credentials.as_ref().map(|credentials| match credentials {
            RegistryCredentials::Password { password, .. } => password,
            RegistryCredentials::Token(token) => token,
        });
        said.into_iter().chain(self.identity.as_ref().map(|identity| &identity.key))
    }
}
