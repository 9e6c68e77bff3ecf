//! Why there is no access.

use crate::NoCredential;

/// Why there is no access.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The kubeconfig is no text.
    #[error("the kubeconfig is not valid UTF-8")]
    NotUtf8,
    /// The kubeconfig is not what one looks like. What stands there may be a
    /// secret, and is not shown.
    #[error("the kubeconfig cannot be read at line {line}, column {column}")]
    Syntax {
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
    },
    /// The kubeconfig names what it does not hold.
    #[error("could not use the kubeconfig")]
    Kubeconfig(#[source] Box<kube::config::KubeconfigError>),
    /// The address is none.
    #[error("`{0}` is not an address such as https://192.0.2.1:6443")]
    Address(String),
    /// The certificates or keys cannot be used.
    #[error("could not use the certificates for {server}")]
    Certificates {
        /// The address.
        server: String,
        /// What is wrong with them.
        #[source]
        source: Box<kube::Error>,
    },
    /// There is nothing to show to the API.
    #[error("could not get a token for {server}: {reason}{}", next(reason))]
    NoCredential {
        /// The address.
        server: String,
        /// Why.
        reason: NoCredential,
    },
}

// === impl AccessError ===

impl AccessError {
    pub(super) fn syntax(error: &serde_saphyr::Error) -> Self {
        let location = error.location();
        let line = location.map_or(0, |location| location.line());
        Self::Syntax { line, column: location.map_or(0, |location| location.column()) }
    }

    pub(super) fn kubeconfig(error: kube::config::KubeconfigError) -> Self {
        Self::Kubeconfig(Box::new(error))
    }

    /// The credential is fetched while the client is made.
    pub(super) fn of_client(server: &str, command: &str, error: kube::Error) -> Self {
        let server = server.to_owned();
        match NoCredential::behind(&error, command) {
            Some(reason) => Self::NoCredential { server, reason },
            None => Self::Certificates { server, source: Box::new(error) },
        }
    }
}

fn next(reason: &NoCredential) -> String {
    reason.next().map(|next| format!("; {next}")).unwrap_or_default()
}
