//! Ordering SSH keys.

use serde::Deserialize;

use super::call::{Call, Changed};
use super::generic;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::SshKey;
use crate::hetzner::selector::Labels;

/// `POST /ssh_keys`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        name: String,
        public_key: String,
        labels: Option<Labels>,
    }
    let Order { name, public_key, labels } = call.read()?;
    let fingerprint = SshKey::fingerprint_of(&public_key)?;
    if project.ssh_keys.iter().any(|it| it.fingerprint == fingerprint) {
        return Err(Code::UniquenessError.because("SSH key with the same fingerprint exists"));
    }
    let card = project.new_card::<SshKey>(&name, labels)?;
    let id = card.id;
    project.ssh_keys.put(SshKey { card, public_key, fingerprint });
    generic::created::<SshKey>(project, id, None)
}
