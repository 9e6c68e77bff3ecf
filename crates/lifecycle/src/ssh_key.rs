//! The SSH keys of a cluster, whose private halves stay in its state folder.
//!
//! Its servers have one although Talos knows no SSH: a server that is made
//! without a key gets a root password by mail. Flux has one where the cluster
//! file names none.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::{Failure, Secret, private};
use talos::pki::PrivateKey;

use crate::Site;

/// A key that is made once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshKeyFile {
    /// The public half, as OpenSSH writes it.
    pub(crate) public: String,
    /// The private half, in PKCS#8.
    pub(crate) private: Secret,
}

impl SshKeyFile {
    /// Reads the key of a cluster's servers, or makes it.
    pub(crate) fn of(site: &Site) -> Result<Self, Failure> {
        Self::named(site, "ssh.key")
    }

    /// Reads the key by which Flux gets into the repository, or makes it.
    pub(crate) fn for_flux(site: &Site) -> Result<Self, Failure> {
        Self::named(site, "flux.key")
    }

    fn named(site: &Site, name: &str) -> Result<Self, Failure> {
        let path = site.folder.join(name);
        Self::load_or_make(site, &path).map_err(|error| {
            Failure::permanent(format!("could not use {}: {error}", path.display()))
        })
    }

    fn load_or_make(site: &Site, path: &Path) -> io::Result<Self> {
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
        // Talos alone has a label of its own for this form.
        let private = text.replace(key.kind().label(), "PRIVATE KEY");
        Ok(Self { public: openssh(&public), private: Secret::new(private) })
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
