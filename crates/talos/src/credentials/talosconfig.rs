//! The file that talosctl finds its clusters by.

use std::collections::BTreeMap;

use events::Secret;
use serde::Serialize;

use super::{Identity, IdentityError};
use crate::pki::{Certificate, CertificateError, KeyError, PrivateKey};
use crate::yaml::{Document, YamlError, base64, write};

/// A talosconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Talosconfig {
    /// The context that is used where none is asked for.
    pub current: String,
    /// The clusters, by name.
    pub contexts: BTreeMap<String, Context>,
}

/// How one cluster is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The control planes that are asked.
    pub endpoints: Vec<String>,
    /// The nodes that are meant where none is named.
    pub nodes: Vec<String>,
    /// Who asks.
    pub identity: Identity,
}

/// Why a text is no talosconfig. No secret is in its message.
#[derive(Debug, thiserror::Error)]
pub enum TalosconfigError {
    /// It is no YAML, or something is missing.
    #[error("it is not a talosconfig")]
    Yaml(#[from] YamlError),
    /// The context gets in without certificates.
    #[error("the context `{0}` signs in by other means than certificates, as those of Omni do")]
    OtherAuth(String),
    /// A certificate is none.
    #[error("`contexts.{context}.{field}` is no good")]
    Certificate {
        /// The context's name.
        context: String,
        /// Where it stands.
        field: &'static str,
        /// Why.
        source: CertificateError,
    },
    /// A key is none.
    #[error("`contexts.{context}.key` is no good")]
    Key {
        /// The context's name.
        context: String,
        /// Why.
        source: KeyError,
    },
    /// Its parts do not fit together.
    #[error("the context `{context}` is no good")]
    Identity {
        /// The context's name.
        context: String,
        /// Why.
        source: IdentityError,
    },
}

#[derive(Serialize)]
struct TalosconfigFile<'a> {
    context: &'a str,
    contexts: BTreeMap<&'a str, ContextPart<'a>>,
}

#[derive(Serialize)]
struct ContextPart<'a> {
    endpoints: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    nodes: &'a [String],
    ca: String,
    crt: String,
    key: String,
}

impl Talosconfig {
    /// A talosconfig with one cluster.
    pub fn new(name: impl Into<String>, context: Context) -> Self {
        let name = name.into();
        Self { current: name.clone(), contexts: BTreeMap::from([(name, context)]) }
    }

    /// Writes it as talosctl does. The text holds the key of every context.
    pub fn to_yaml(&self) -> Secret {
        let contexts = self.contexts.iter();
        Secret::new(write(&TalosconfigFile {
            context: &self.current,
            contexts: contexts.map(|(name, it)| (name.as_str(), ContextPart::of(it))).collect(),
        }))
    }

    /// Reads a talosconfig. Only the current context has to be whole: people
    /// have one file for many clusters, and those that we could not use are
    /// left out.
    pub fn from_yaml(text: &str) -> Result<Self, TalosconfigError> {
        let file = Document::read(text)?;
        let names = file.get(&["contexts"]).and_then(|it| it.as_object());
        let names = names.ok_or_else(|| YamlError::Missing("contexts".to_owned()))?.keys();
        let current = file.text(&["context"])?.to_owned();
        let mut contexts = BTreeMap::new();
        for name in names {
            match Context::read(&file, name) {
                Ok(context) => drop(contexts.insert(name.clone(), context)),
                Err(error) if *name == current => return Err(error),
                Err(_) => {}
            }
        }
        Ok(Self { current, contexts })
    }

    /// Returns the context that is used where none is asked for.
    pub fn current(&self) -> Option<&Context> {
        self.contexts.get(&self.current)
    }
}

impl Context {
    fn read(file: &Document, name: &str) -> Result<Self, TalosconfigError> {
        let has = |field| file.get(&["contexts", name, field]).is_some();
        if has("auth") && !has("crt") {
            return Err(TalosconfigError::OtherAuth(name.to_owned()));
        }
        let certificate = |field| {
            Certificate::from_pem(&file.base64(&["contexts", name, field])?).map_err(|source| {
                TalosconfigError::Certificate { context: name.to_owned(), field, source }
            })
        };
        let key = PrivateKey::from_pem(&file.base64(&["contexts", name, "key"])?)
            .map_err(|source| TalosconfigError::Key { context: name.to_owned(), source })?;
        let identity = Identity::of(certificate("ca")?, certificate("crt")?, key)
            .map_err(|source| TalosconfigError::Identity { context: name.to_owned(), source })?;
        Ok(Self {
            endpoints: file.texts(&["contexts", name, "endpoints"])?,
            nodes: file.texts(&["contexts", name, "nodes"])?,
            identity,
        })
    }
}

impl<'a> ContextPart<'a> {
    fn of(context: &'a Context) -> Self {
        Self {
            endpoints: &context.endpoints,
            nodes: &context.nodes,
            ca: base64(context.identity.authority().pem()),
            crt: base64(context.identity.certificate().pem()),
            key: base64(context.identity.key().pem().reveal()),
        }
    }
}
