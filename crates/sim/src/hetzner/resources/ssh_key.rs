//! SSH keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A public key that new servers would get.
#[derive(Debug)]
pub(crate) struct SshKey {
    pub(crate) card: Card,
    pub(crate) public_key: String,
    pub(crate) fingerprint: String,
}

impl SshKey {
    /// Returns the fingerprint of a public key, if it is one.
    ///
    /// Hetzner shows MD5; these are the first 16 bytes of SHA-256 in the same
    /// form, because nobody compares them with anything but each other.
    pub(crate) fn fingerprint_of(public_key: &str) -> Result<String, Refusal> {
        let invalid = || Refusal::invalid("public_key", "is not an SSH public key");
        let mut words = public_key.split_whitespace();
        words
            .next()
            .filter(|kind| kind.starts_with("ssh-") || kind.starts_with("ecdsa-"))
            .ok_or_else(invalid)?;
        let key = words.next().and_then(|text| STANDARD.decode(text).ok()).ok_or_else(invalid)?;
        let digest = Sha256::digest(&key);
        let pairs: Vec<String> = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok(pairs.join(":"))
    }
}

impl Resource for SshKey {
    const KIND: &'static str = "ssh_key";
    const PLURAL: &'static str = "ssh_keys";
    const FILTERS: &'static [&'static str] = &["fingerprint"];

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.ssh_keys
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.ssh_keys
    }

    fn view(&self, _: &Project) -> Value {
        json!({
            "id": self.card.id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "fingerprint": self.fingerprint,
            "public_key": self.public_key,
        })
    }
}
