//! The bundle out of a control plane's machine config, for a cluster whose
//! `secrets.yaml` is lost or was never kept.

use serde_json::{Map, Value};

use super::{Bundle, FileError};
use crate::yaml::{Document, YamlError, base64, documents};

/// Why a machine config gives no bundle. No secret is in its message.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// It is no YAML.
    #[error("it is not a machine config")]
    Yaml(#[from] YamlError),
    /// Only control planes know all secrets.
    #[error("it is not the machine config of a control plane, which alone holds all secrets")]
    NotControlPlane,
    /// A secret is nowhere.
    #[error("`{secret}` is not in it, looked for at {}", places.join(" and "))]
    Missing {
        /// Its name in the bundle.
        secret: &'static str,
        /// Where it could be.
        places: Vec<String>,
    },
    /// A secret is none.
    #[error("what is in it makes no secrets bundle")]
    Content(#[from] FileError),
}

/// How a config holds a secret.
#[derive(Clone, Copy)]
enum Held {
    /// As the bundle does.
    Alike,
    /// As PEM, of which the bundle has the base64.
    Pem,
}

/// Where a secret can be: the kind of document, and the place in it.
type Source = (&'static str, &'static str, Held);

/// The kind that has no name.
const MAIN: &str = "";
/// The kind that says how etcd's content is encrypted.
const ETCD: &str = "KubeEtcdEncryptionConfig";

/// What Kubernetes encrypts with in etcd: its name in the bundle, its place
/// before Talos 1.14, and its provider since. A cluster has one or both.
const ENCRYPTION: [(&str, &str, &str); 2] = [
    ("secrets.secretboxencryptionsecret", "/cluster/secretboxEncryptionSecret", "secretbox"),
    ("secrets.aescbcencryptionsecret", "/cluster/aescbcEncryptionSecret", "aescbc"),
];

/// Every other secret of the bundle and where it is: before Talos 1.14, and since.
const SECRETS: &[(&str, &[Source])] = &[
    (
        "cluster.id",
        &[
            (MAIN, "/cluster/id", Held::Alike),
            ("DiscoveryIdentityConfig", "/clusterID", Held::Alike),
        ],
    ),
    (
        "cluster.secret",
        &[
            (MAIN, "/cluster/secret", Held::Alike),
            ("DiscoveryIdentityConfig", "/clusterSecret", Held::Alike),
        ],
    ),
    ("secrets.bootstraptoken", &[(MAIN, "/cluster/token", Held::Alike)]),
    ("trustdinfo.token", &[(MAIN, "/machine/token", Held::Alike)]),
    ("certs.etcd.crt", &[(MAIN, "/cluster/etcd/ca/crt", Held::Alike)]),
    ("certs.etcd.key", &[(MAIN, "/cluster/etcd/ca/key", Held::Alike)]),
    (
        "certs.k8s.crt",
        &[
            (MAIN, "/cluster/ca/crt", Held::Alike),
            ("KubeAPIServerCAConfig", "/issuingCA/cert", Held::Pem),
        ],
    ),
    (
        "certs.k8s.key",
        &[
            (MAIN, "/cluster/ca/key", Held::Alike),
            ("KubeAPIServerCAConfig", "/issuingCA/key", Held::Pem),
        ],
    ),
    (
        "certs.k8saggregator.crt",
        &[
            (MAIN, "/cluster/aggregatorCA/crt", Held::Alike),
            ("KubeAggregatorCAConfig", "/issuingCA/cert", Held::Pem),
        ],
    ),
    (
        "certs.k8saggregator.key",
        &[
            (MAIN, "/cluster/aggregatorCA/key", Held::Alike),
            ("KubeAggregatorCAConfig", "/issuingCA/key", Held::Pem),
        ],
    ),
    (
        "certs.k8sserviceaccount.key",
        &[
            (MAIN, "/cluster/serviceAccount/key", Held::Alike),
            ("KubeServiceAccountConfig", "/issuer/privateKey", Held::Pem),
        ],
    ),
    ("certs.os.crt", &[(MAIN, "/machine/ca/crt", Held::Alike)]),
    ("certs.os.key", &[(MAIN, "/machine/ca/key", Held::Alike)]),
];

impl Bundle {
    /// Recovers the bundle from the machine config of a control plane, in the
    /// form of any version of Talos.
    pub fn from_machine_config(text: &str) -> Result<Self, RecoverError> {
        let documents = documents(text)?;
        let machine =
            of_kind(&documents, MAIN).and_then(|main| main.pointer("/machine/type")?.as_str());
        if !machine.is_some_and(|machine| ["controlplane", "init"].contains(&machine)) {
            return Err(RecoverError::NotControlPlane);
        }
        let mut bundle = Value::Object(Map::new());
        for (secret, sources) in SECRETS {
            let found = sources.iter().find_map(|(wanted, place, held)| {
                let text = of_kind(&documents, wanted)?.pointer(place)?.as_str()?;
                Some(match held {
                    Held::Alike => text.to_owned(),
                    Held::Pem => base64(text),
                })
            });
            let found = found.ok_or_else(|| missing(secret, sources))?;
            put(&mut bundle, secret, found);
        }
        for (secret, place, provider) in ENCRYPTION {
            if let Some(found) = encryption(&documents, place, provider) {
                put(&mut bundle, secret, found);
            }
        }
        if bundle.pointer("/secrets/secretboxencryptionsecret").is_none()
            && bundle.pointer("/secrets/aescbcencryptionsecret").is_none()
        {
            let places = [(MAIN, ENCRYPTION[0].1, Held::Alike), (ETCD, "/config", Held::Alike)];
            return Err(missing(ENCRYPTION[0].0, &places));
        }
        Ok(Self::from_document(&Document::of(bundle))?)
    }
}

fn of_kind<'a>(documents: &'a [Value], kind: &str) -> Option<&'a Value> {
    documents.iter().find(|document| document["kind"].as_str().unwrap_or(MAIN) == kind)
}

/// Since 1.14 it is the configuration of Kubernetes itself, which may be
/// anything: the first key of a provider that encrypts Secrets is taken.
fn encryption(documents: &[Value], place: &str, provider: &str) -> Option<String> {
    let before = || of_kind(documents, MAIN)?.pointer(place)?.as_str();
    let since = || {
        let rules = of_kind(documents, ETCD)?.pointer("/config/resources")?.as_array()?;
        let of_secrets = |rule: &&Value| {
            rule["resources"].as_array().is_some_and(|kinds| kinds.iter().any(|it| it == "secrets"))
        };
        let mut providers = rules.iter().find(of_secrets)?["providers"].as_array()?.iter();
        providers.find_map(|it| it.get(provider)?.pointer("/keys/0/secret")?.as_str())
    };
    before().or_else(since).filter(|found| !found.is_empty()).map(str::to_owned)
}

fn put(bundle: &mut Value, secret: &str, text: String) {
    let place = secret.split('.').fold(bundle, |value, key| &mut value[key]);
    *place = text.into();
}

fn missing(secret: &'static str, sources: &[Source]) -> RecoverError {
    let place = |(kind, place, _): &Source| {
        let place = place.trim_start_matches('/').replace('/', ".");
        format!("`{}`", format!("{kind} {place}").trim())
    };
    RecoverError::Missing { secret, places: sources.iter().map(place).collect() }
}
