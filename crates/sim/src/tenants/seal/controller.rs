//! The controller's work, and what it remembers while it runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::keys::{self, SECRETS, SealingKey};
use super::unseal;
use crate::kube::api::set_condition;
use crate::kube::controllers::{About, record};
use crate::kube::object::{has_condition, is_terminating, items, name, namespace, uid};
use crate::kube::{Key, Kube, PodAnswer, Write};
use crate::tenants::Knobs;
use crate::tenants::object::{complain, find, replace, report};
use crate::tenants::presence::{self, Labels, leader};

/// How long the controller takes to see an object and to open it.
pub(in crate::tenants) const REACTION: Duration = Duration::from_millis(500);

/// The controller's pods.
pub(in crate::tenants) const PODS: Labels = &[("app.kubernetes.io/name", "sealed-secrets")];

const SEALED: Key = Key::new("bitnami.com", "sealedsecrets");
const NAME: &str = "sealed-secrets";

/// The kinds by which its start is seen.
pub(in crate::tenants) const STARTED_BY: &[Key] = &[presence::PODS];

/// The kinds that it follows.
pub(in crate::tenants) const FOLLOWED: &[Key] = &[presence::PODS, SEALED, SECRETS];

/// What one start of the controller knows.
#[derive(Default)]
pub(in crate::tenants) struct Seals(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    /// The pod in which it was started.
    pod: String,
    /// Whether the key that it seals for is its own.
    foreign: bool,
    keys: Arc<Vec<SealingKey>>,
    /// The objects that it has dealt with, and in which form.
    done: BTreeMap<String, Value>,
}

impl Seals {
    /// Starts the controller, if its pod is a new one.
    pub(in crate::tenants) fn start(&self, kube: &Kube, knobs: &Knobs) {
        if let Some(pod) = leader(kube, PODS) {
            self.keys(kube, &pod, knobs);
        }
    }

    /// Returns the certificate for which things are to be sealed now.
    pub(in crate::tenants) fn certificate(
        &self,
        kube: &Kube,
        pod: &Value,
        knobs: &Knobs,
    ) -> PodAnswer {
        match self.keys(kube, pod, knobs).first() {
            Some(key) => PodAnswer {
                status: 200,
                content_type: "application/x-pem-file",
                body: key.certificate.clone(),
            },
            None => PodAnswer::text(500, "Internal server error\n"),
        }
    }

    /// Opens what has not been opened yet.
    pub(in crate::tenants) fn pass(&self, kube: &Kube, knobs: &Knobs) {
        let Some(pod) = leader(kube, PODS).filter(|_| !knobs.seals_stay_shut) else { return };
        let keys = self.keys(kube, &pod, knobs);
        for sealed in kube.all(&SEALED, "") {
            let lost = has_condition(&sealed, "Synced", "True")
                && find(kube, &SECRETS, namespace(&sealed), name(&sealed)).is_none();
            let generation = &sealed["metadata"]["generation"];
            let known = self.memory().done.get(uid(&sealed)) == Some(generation);
            if is_terminating(&sealed) || (known && !lost) {
                continue;
            }
            if open(kube, &sealed, &keys) {
                self.memory().done.insert(uid(&sealed).to_owned(), generation.clone());
            }
        }
    }

    /// Returns the keys that a pod's controller found when it started.
    fn keys(&self, kube: &Kube, pod: &Value, knobs: &Knobs) -> Arc<Vec<SealingKey>> {
        let mut memory = self.memory();
        let foreign = knobs.foreign_sealing_key;
        if memory.pod != uid(pod) || memory.foreign != foreign {
            let keys =
                if foreign { keys::foreign(kube) } else { keys::at_start(kube, namespace(pod)) };
            let (pod, done) = (uid(pod).to_owned(), BTreeMap::new());
            *memory = Memory { pod, foreign, keys: Arc::new(keys), done };
        }
        Arc::clone(&memory.keys)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens one object and says how it went; says whether that could be said.
fn open(kube: &Kube, sealed: &Value, keys: &[SealingKey]) -> bool {
    let result = unseal::secret(sealed, keys).and_then(|secret| keep(kube, sealed, secret));
    if let Err(why) = &result {
        let why = format!("Failed to unseal: {why}");
        complain(kube, sealed, "ErrUnsealFailed", &why, NAME);
    }
    let now = kube.clock().stamp();
    let mut told = sealed.clone();
    told["status"]["observedGeneration"] = sealed["metadata"]["generation"].clone();
    let mut condition = json!({ "type": "Synced", "lastUpdateTime": now, "lastTransitionTime": now,
        "status": if result.is_ok() { "True" } else { "False" } });
    if let Err(why) = result {
        condition["message"] = json!(why);
    }
    set_condition(&mut told, condition);
    report(kube, &SEALED, sealed, told, "controller")
}

/// Makes the Secret, or brings the one in line that came of the same object.
fn keep(kube: &Kube, sealed: &Value, secret: Value) -> Result<(), String> {
    let place =
        kube.place(&SECRETS, namespace(sealed), name(sealed)).map_err(|why| why.to_string())?;
    let write = Write::by("controller");
    let Ok(current) = kube.get(&place) else {
        kube.create(&place.named(""), secret, &write).map_err(|why| why.to_string())?;
        let (kind, reason) = ("Normal", "Unsealed");
        let message = "SealedSecret unsealed successfully";
        record(kube, &About { object: sealed, kind, reason, message, source: NAME });
        return Ok(());
    };
    let owners = items(&current["metadata"]["ownerReferences"]);
    if !owners.iter().any(|owner| owner["uid"] == uid(sealed)) {
        let name = name(sealed);
        return Err(format!(
            "Resource \"{name}\" already exists and is not managed by SealedSecret"
        ));
    }
    let mut wanted = current.clone();
    wanted["data"] = secret["data"].clone();
    replace(kube, &SECRETS, &current, wanted, "controller");
    Ok(())
}
