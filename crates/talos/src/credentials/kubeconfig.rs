//! The file that kubectl finds its clusters by.

use std::io::Read as _;

use events::Secret;
use flate2::read::GzDecoder;
use serde::Serialize;

use super::Identity;
use crate::yaml::{base64, write};

/// More than any kubeconfig has, so that a broken node cannot fill our memory.
const LARGEST: u64 = 1 << 20;

/// A kubeconfig of an administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubeconfig(Secret);

/// Why what a node sent is no kubeconfig.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// It is no archive.
    #[error("the node sent no archive")]
    Archive(#[source] std::io::Error),
    /// The archive holds something else.
    #[error("the archive that the node sent holds no file `kubeconfig`")]
    Missing,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KubeconfigFile<'a> {
    api_version: &'static str,
    kind: &'static str,
    clusters: [NamedCluster<'a>; 1],
    users: [NamedUser<'a>; 1],
    contexts: [NamedContext<'a>; 1],
    #[serde(rename = "current-context")]
    current_context: &'a str,
}

#[derive(Serialize)]
struct NamedCluster<'a> {
    name: &'a str,
    cluster: ClusterPart<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ClusterPart<'a> {
    server: &'a str,
    certificate_authority_data: String,
}

#[derive(Serialize)]
struct NamedUser<'a> {
    name: &'a str,
    user: UserPart,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct UserPart {
    client_certificate_data: String,
    client_key_data: String,
}

#[derive(Serialize)]
struct NamedContext<'a> {
    name: &'a str,
    context: ContextPart<'a>,
}

#[derive(Serialize)]
struct ContextPart<'a> {
    cluster: &'a str,
    namespace: &'static str,
    user: &'a str,
}

impl Kubeconfig {
    /// Writes the kubeconfig of `admin` (see [`Identity::kubernetes_admin`])
    /// for the cluster whose API answers at `server`, a URL. The names in it
    /// are those that Talos gives.
    pub fn new(cluster: &str, server: &str, admin: &Identity) -> Self {
        let user = format!("admin@{cluster}");
        let authority = base64(admin.authority().pem());
        Self(Secret::new(write(&KubeconfigFile {
            api_version: "v1",
            kind: "Config",
            clusters: [NamedCluster {
                name: cluster,
                cluster: ClusterPart { server, certificate_authority_data: authority },
            }],
            users: [NamedUser {
                name: &user,
                user: UserPart {
                    client_certificate_data: base64(admin.certificate().pem()),
                    client_key_data: base64(admin.key().pem().reveal()),
                },
            }],
            contexts: [NamedContext {
                name: &user,
                context: ContextPart { cluster, namespace: "default", user: &user },
            }],
            current_context: &user,
        })))
    }

    /// Unpacks what a node sends: a compressed archive with one file.
    pub(crate) fn unpack(archive: &[u8]) -> Result<Self, KubeconfigError> {
        let mut archive = tar::Archive::new(GzDecoder::new(archive).take(LARGEST));
        for entry in archive.entries().map_err(KubeconfigError::Archive)? {
            let mut entry = entry.map_err(KubeconfigError::Archive)?;
            if entry.path_bytes().as_ref() == b"kubeconfig" {
                let mut text = String::new();
                entry.read_to_string(&mut text).map_err(KubeconfigError::Archive)?;
                return Ok(Self(Secret::new(text)));
            }
        }
        Err(KubeconfigError::Missing)
    }

    /// Returns the text of it, which holds the administrator's key.
    pub fn yaml(&self) -> &Secret {
        &self.0
    }
}
