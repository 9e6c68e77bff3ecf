//! The SSH key of a cluster. Talos knows no SSH, but a server that is made
//! without a key gets a root password by mail.

use std::fs;
use std::io;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::ActError;
use events::{Failure, private};
use talos::pki::PrivateKey;

use crate::Site;

/// A key whose private half stays in the state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshKeyFile {
    /// The public half, as OpenSSH writes it.
    pub(crate) public: String,
}

impl SshKeyFile {
    /// Reads the key of a cluster, or makes it.
    pub(crate) fn of(site: &Site) -> Result<Self, ActError> {
        let path = site.folder.join("ssh.key");
        let key = Self::load_or_make(site, &path).map_err(|error| {
            Failure::permanent(format!("could not use {}: {error}", path.display()))
        })?;
        Ok(key)
    }

    fn load_or_make(site: &Site, path: &PathBuf) -> io::Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = PrivateKey::ed25519(&mut site.rng());
                let there = private::write_new(path, key.pem().reveal().as_bytes())?;
                String::from_utf8(there).map_err(io::Error::other)?
            }
            Err(error) => return Err(error),
        };
        let key = PrivateKey::from_pem(&text).map_err(io::Error::other)?;
        let public = key.public().map_err(io::Error::other)?;
        Ok(Self { public: openssh(&public) })
    }
}

/// Writes a public key as one line: the name of the algorithm, and both that
/// name and the key with their lengths before them, in base64.
fn openssh(public: &[u8]) -> String {
    const NAME: &str = "ssh-ed25519";
    let mut blob = Vec::new();
    for part in [NAME.as_bytes(), public] {
        blob.extend(u32::try_from(part.len()).expect("a key is short").to_be_bytes());
        blob.extend(part);
    }
    format!("{NAME} {} seaworthy", STANDARD.encode(blob))
}
