//! The bundle itself.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::{Evidence, Secret};
use jiff::Timestamp;
use rand::CryptoRng;

use super::Token;
use crate::pki::{Authority, AuthorityError, KeyError, Lifetime, PrivateKey, SpkiHash};

/// The secrets of one cluster. Nothing of it is shown but its authorities'
/// certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// What nodes find each other by; not a secret by itself.
    pub cluster_id: String,
    /// What nodes encrypt with what they tell each other.
    pub cluster_secret: Secret,
    /// With which kubelets introduce themselves to Kubernetes.
    pub bootstrap_token: Token,
    /// With which nodes introduce themselves to a control plane's trustd.
    pub trustd_token: Token,
    /// What Kubernetes encrypts its own secrets with, in etcd. A cluster that
    /// was born before Talos 1.3 may have none.
    pub secretbox: Option<Secret>,
    /// What such a cluster encrypted them with, and must go on reading them with.
    pub aescbc: Option<Secret>,
    /// The authority of etcd's members and clients.
    pub etcd: Authority,
    /// The authority of the Kubernetes API and its clients.
    pub kubernetes: Authority,
    /// The authority of what stands behind the Kubernetes API.
    pub aggregator: Authority,
    /// What Kubernetes signs the tokens of service accounts with.
    pub service_account: PrivateKey,
    /// The authority of the Talos API and its clients.
    pub os: Authority,
}

/// Why no bundle could be made.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// No key could be made.
    #[error("could not make a key")]
    Key(#[from] KeyError),
    /// An authority could not be made.
    #[error("could not make the authority `{name}`")]
    Authority {
        /// Its name in the bundle.
        name: &'static str,
        /// Why not.
        source: AuthorityError,
    },
}

impl Bundle {
    /// Makes the secrets of a new cluster.
    ///
    /// The key for service accounts is given, since an RSA key takes seconds
    /// of computing: make it with [`PrivateKey::rsa4096`] in the background.
    /// Talos takes a P-256 key too.
    pub fn generate(
        service_account: PrivateKey,
        at: Timestamp,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, BundleError> {
        let lifetime = Lifetime::ten_years(at);
        let os = PrivateKey::ed25519(rng);
        let mut authority = |name, organization, key| {
            Authority::new(organization, key, lifetime, rng)
                .map_err(|source| BundleError::Authority { name, source })
        };
        Ok(Self {
            etcd: authority("etcd", Some("etcd"), PrivateKey::p256()?)?,
            kubernetes: authority("k8s", Some("kubernetes"), PrivateKey::p256()?)?,
            aggregator: authority("k8saggregator", None, PrivateKey::p256()?)?,
            os: authority("os", Some("talos"), os)?,
            service_account,
            cluster_id: random(rng),
            cluster_secret: Secret::new(random(rng)),
            bootstrap_token: Token::random(rng),
            trustd_token: Token::random(rng),
            secretbox: Some(Secret::new(random(rng))),
            aescbc: None,
        })
    }

    /// Returns the authorities under the names that they have in the file.
    pub fn authorities(&self) -> [(&'static str, &Authority); 4] {
        [
            ("etcd", &self.etcd),
            ("k8s", &self.kubernetes),
            ("k8saggregator", &self.aggregator),
            ("os", &self.os),
        ]
    }

    /// Returns the fingerprint of every authority's key.
    pub fn fingerprints(&self) -> [(&'static str, SpkiHash); 4] {
        self.authorities().map(|(name, authority)| (name, authority.certificate().spki()))
    }

    /// Returns every secret of the bundle with its name, for whoever keeps
    /// secrets out of what is written.
    pub fn secrets(&self) -> Vec<(String, Secret)> {
        let plain = [
            ("cluster.secret", Some(&self.cluster_secret)),
            ("secrets.bootstraptoken", Some(self.bootstrap_token.secret())),
            ("secrets.aescbcencryptionsecret", self.aescbc.as_ref()),
            ("secrets.secretboxencryptionsecret", self.secretbox.as_ref()),
            ("trustdinfo.token", Some(self.trustd_token.secret())),
            ("certs.k8sserviceaccount.key", Some(self.service_account.pem())),
        ];
        let plain = plain
            .into_iter()
            .filter_map(|(name, secret)| secret.map(|secret| (name.to_owned(), secret.clone())));
        let keys = self
            .authorities()
            .map(|(name, authority)| (format!("certs.{name}.key"), authority.key().pem().clone()));
        plain.chain(keys).collect()
    }

    /// Returns what may be told of the bundle: the fingerprints of its authorities.
    pub fn evidence(&self) -> Evidence {
        let fingerprints = self.fingerprints();
        let summary = format!("{} authorities", fingerprints.len());
        fingerprints.into_iter().fold(Evidence::new(summary), |evidence, (name, spki)| {
            evidence.fact(format!("certs.{name}.spki"), spki.to_string())
        })
    }
}

/// Returns 32 random bytes in base64.
fn random(rng: &mut impl CryptoRng) -> String {
    let mut bytes = [0; 32];
    rng.fill_bytes(&mut bytes);
    STANDARD.encode(bytes)
}
