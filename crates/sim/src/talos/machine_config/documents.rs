//! The documents of a configuration, one after the other.

use serde_json::{Map, Value};
use thiserror::Error;

use super::keys;
use crate::talos::pki::PkiError;

/// Why a node refuses a configuration; shown as Talos words it.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// It is not text, or not YAML.
    #[error("error decoding config: {0}")]
    Yaml(String),
    /// A document is not a mapping.
    #[error("config documents must be mappings")]
    NotAMapping,
    /// There is no document at all.
    #[error("no configuration documents provided")]
    Empty,
    /// There are keys that nobody knows.
    #[error(
        "error decoding document /{version}/ (line 1): unknown keys found during decoding:\n{keys}"
    )]
    UnknownKeys {
        /// The version of the document.
        version: String,
        /// The keys with what they hold, as YAML.
        keys: String,
    },
    /// A document says no kind.
    #[error("error decoding document {0}// (line 1): missing kind")]
    NoKind(String),
    /// A document says no version.
    #[error("error decoding document /{0}/ (line 1): missing apiVersion")]
    NoVersion(String),
    /// A document is of a kind that nobody knows.
    #[error(
        "error decoding document {version}/{kind}/ (line 1): \"{kind}\" \"{version}\": not registered"
    )]
    UnknownKind {
        /// Its version.
        version: String,
        /// Its kind.
        kind: String,
    },
    /// A value is not what it should be.
    #[error("error decoding document /v1alpha1/ (line 1): {0}")]
    Shape(String),
    /// The main document is there twice.
    #[error("v1alpha1 config is already present")]
    Twice,
    /// What it says does not make a node.
    #[error("{}", list(.0))]
    Invalid(Vec<String>),
    /// A certificate or key in it cannot be used.
    #[error("error decoding document /v1alpha1/ (line 1): {path} is not usable")]
    Pem {
        /// Where it is.
        path: &'static str,
        /// What is wrong with it.
        source: PkiError,
    },
}

/// The first release that takes all of a configuration in many documents.
pub(super) const MANY: (u32, u32) = (1, 14);

/// The keys that tell the main document.
const MAIN_KEYS: [&str; 4] = ["machine", "cluster", "debug", "persist"];

/// The documents of a configuration.
pub(super) struct Documents {
    /// The main document, which has a version and no kind.
    pub(super) main: Option<Map<String, Value>>,
    /// The others.
    pub(super) others: Vec<Document>,
    /// All of them, as they were given.
    pub(super) text: String,
}

/// A document beside the main one.
pub(super) struct Document {
    pub(super) kind: String,
    pub(super) body: Map<String, Value>,
}

impl Documents {
    pub(super) fn read(data: &[u8]) -> Result<Self, ConfigError> {
        let text =
            std::str::from_utf8(data).map_err(|error| ConfigError::Yaml(error.to_string()))?;
        let options = serde_saphyr::options! { with_snippet: false, emit_comments: false };
        let parsed: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
            .map_err(|error| ConfigError::Yaml(first_line(&error.to_string())))?;
        let mut documents = Self { main: None, others: Vec::new(), text: text.to_owned() };
        for document in parsed.into_iter().filter(|document| !document.is_null()) {
            let Value::Object(body) = document else { return Err(ConfigError::NotAMapping) };
            documents.add(body)?;
        }
        if documents.main.is_none() && documents.others.is_empty() {
            return Err(ConfigError::Empty);
        }
        Ok(documents)
    }

    /// Returns the first document of a kind.
    pub(super) fn find(&self, kind: &str) -> Option<&Map<String, Value>> {
        self.others.iter().find(|document| document.kind == kind).map(|document| &document.body)
    }

    /// Returns the documents of a kind.
    pub(super) fn values(&self, kind: &str) -> impl Iterator<Item = Value> {
        let of_kind = self.others.iter().filter(move |document| document.kind == kind);
        of_kind.map(|document| Value::Object(document.body.clone()))
    }

    /// Refuses documents that came later than a release.
    pub(super) fn are_known_to(&self, release: (u32, u32)) -> Result<(), ConfigError> {
        let late = |document: &&Document| release < MANY && keys::came_with_many(&document.kind);
        match self.others.iter().find(late) {
            None => Ok(()),
            Some(document) => {
                let kind = document.kind.clone();
                Err(ConfigError::UnknownKind { version: "v1alpha1".to_owned(), kind })
            }
        }
    }

    fn add(&mut self, body: Map<String, Value>) -> Result<(), ConfigError> {
        if body.contains_key("kind") || body.contains_key("apiVersion") {
            self.others.push(Document::read(body)?);
            return Ok(());
        }
        let mut version = text_at(&body, "version");
        // The main document may leave its version out.
        if MAIN_KEYS.iter().any(|key| body.contains_key(*key)) {
            "v1alpha1".clone_into(&mut version);
        }
        if version != "v1alpha1" {
            return Err(ConfigError::NoKind(version));
        }
        if let Some(unknown) = keys::unknown(&body) {
            let options = serde_saphyr::ser_options! { indent_step: 4 };
            let keys = serde_saphyr::to_string_with_options(&unknown, options).unwrap_or_default();
            return Err(ConfigError::UnknownKeys { version, keys });
        }
        match self.main.replace(body) {
            Some(_) => Err(ConfigError::Twice),
            None => Ok(()),
        }
    }
}

impl Document {
    fn read(body: Map<String, Value>) -> Result<Self, ConfigError> {
        let (version, kind) = (text_at(&body, "apiVersion"), text_at(&body, "kind"));
        if kind.is_empty() {
            return Err(ConfigError::NoKind(version));
        }
        if version.is_empty() {
            return Err(ConfigError::NoVersion(kind));
        }
        if version != "v1alpha1" || !keys::knows(&kind) {
            return Err(ConfigError::UnknownKind { version, kind });
        }
        Ok(Self { kind, body })
    }
}

fn text_at(body: &Map<String, Value>, key: &str) -> String {
    body.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Lists several complaints as Talos does.
fn list(complaints: &[String]) -> String {
    let count = match complaints.len() {
        1 => "1 error".to_owned(),
        more => format!("{more} errors"),
    };
    format!("{count} occurred:\n\t* {}\n\n", complaints.join("\n\t* "))
}
