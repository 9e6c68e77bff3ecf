//! Where a sealed value may be opened.

/// Where a sealed value may be opened. It is part of the encryption: a value
/// that was moved elsewhere does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only as the Secret of this name in this namespace.
    Strict {
        /// The namespace.
        namespace: String,
        /// The Secret's name.
        name: String,
    },
    /// As any Secret of this namespace.
    Namespace {
        /// The namespace.
        namespace: String,
    },
    /// Anywhere in the cluster.
    Cluster,
}

impl Scope {
    /// Returns the label under which the session key is encrypted.
    pub fn label(&self) -> String {
        match self {
            Self::Strict { namespace, name } => format!("{namespace}/{name}"),
            Self::Namespace { namespace } => namespace.clone(),
            Self::Cluster => String::new(),
        }
    }

    /// Returns the annotation that tells the controller which label to try.
    pub fn annotation(&self) -> Option<&'static str> {
        match self {
            Self::Strict { .. } => None,
            Self::Namespace { .. } => Some("sealedsecrets.bitnami.com/namespace-wide"),
            Self::Cluster => Some("sealedsecrets.bitnami.com/cluster-wide"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_its_label_and_its_mark() {
        let strict = Scope::Strict { namespace: "shop".into(), name: "db".into() };
        assert_eq!((strict.label().as_str(), strict.annotation()), ("shop/db", None));
        let wide = Scope::Namespace { namespace: "shop".into() };
        assert_eq!(wide.label(), "shop");
        assert_eq!(wide.annotation(), Some("sealedsecrets.bitnami.com/namespace-wide"));
        assert_eq!(Scope::Cluster.label(), "");
        assert_eq!(Scope::Cluster.annotation(), Some("sealedsecrets.bitnami.com/cluster-wide"));
    }
}
