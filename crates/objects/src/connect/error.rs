//! Why there is no access.

use super::SyntaxProblem;
use crate::NoCredential;

/// Why there is no access.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The kubeconfig is no text.
    #[error("the kubeconfig is not valid UTF-8")]
    NotUtf8,
    /// The kubeconfig is not what one looks like. What stands there may be a
    /// secret, and is not shown.
    #[error("the kubeconfig cannot be read: {0}")]
    Syntax(SyntaxProblem),
    /// The kubeconfig names what it does not hold.
    #[error("could not use the kubeconfig")]
    Kubeconfig(#[source] Box<kube::config::KubeconfigError>),
    /// The kubeconfig names a proxy that is none.
    #[error(transparent)]
    Proxy(#[from] peers::NotAProxy),
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
    pub(super) fn kubeconfig(error: kube::config::KubeconfigError) -> Self {
        Self::Kubeconfig(Box::new(error))
    }
}

fn next(reason: &NoCredential) -> String {
    reason.next().map(|next| format!("; {next}")).unwrap_or_default()
}
