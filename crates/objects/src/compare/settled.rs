//! Doubts that turned out to be none, remembered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::fields::Owners;
use crate::{FIELD_MANAGER, Object};

/// Raised with every change of what a digest covers.
const FORM: u32 = 1;

/// Doubts that turned out to be none: an apply was sent, and the object was the
/// same behind it. The same doubt need not be sent again, as long as object,
/// wish, owned part and server are the same.
///
/// An empty list that is not owned, such as `imagePullSecrets: []`, makes the
/// API stamp our entry with a new time at every apply, and nothing else. That
/// is no change either, so such a doubt is remembered too: without it the
/// resource version would move for ever.
///
/// It is data: whoever keeps it writes it as JSON, and reads it with
/// [`kept`](Self::kept).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    form: u32,
    server: String,
    footprints: BTreeMap<String, Print>,
}

/// Everything that an apply's effect depends on, as digests.
///
/// There is none of a Secret: a digest of a short password in a file could be
/// tried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    uid: String,
    print: Print,
    /// The object that it was taken of.
    before: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Print {
    desired: String,
    owned: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<i64>,
}

// === impl Footprint ===

impl Footprint {
    /// Takes the footprint of a wish on a live object.
    pub fn of(desired: &Object, live: &Object) -> Option<Self> {
        if desired.kind().is("", "Secret") {
            return None;
        }
        let fields = Owners::of(live).ok()?.fields_applied_by(FIELD_MANAGER);
        if fields.is_empty() {
            return None;
        }
        let desired = digest([desired.body()]);
        let owned = digest([&fields.to_fields_v1(), &fields.pick(live.body())]);
        let (uid, before) = (live.uid()?.to_owned(), digest([&lasting(live)]));
        Some(Self { uid, print: Print { desired, owned, definition: None }, before })
    }

    /// Adds the generation of the custom resource's definition, where it is one.
    #[must_use]
    pub fn defined_by(mut self, generation: Option<i64>) -> Self {
        self.print.definition = generation;
        self
    }
}

// === impl Settled ===

impl Settled {
    /// So many objects are remembered, some megabytes of JSON.
    const MOST: usize = 20_000;

    /// Goes on from the JSON that was kept, if it is in today's form; else from
    /// nothing, which is always safe.
    pub fn kept(json: &[u8]) -> Self {
        let kept: Option<Self> = serde_json::from_slice(json).ok();
        kept.filter(|kept| kept.form == FORM).unwrap_or_default()
    }

    /// Forgets everything unless it was learnt from a server of this version.
    pub fn forget_unless_of(&mut self, server: &str) {
        if self.server != server {
            *self = Self { server: server.to_owned(), ..Self::default() };
        }
    }

    /// Returns whether this doubt has turned out to be none.
    pub fn knows(&self, footprint: &Footprint) -> bool {
        self.footprints.get(&footprint.uid) == Some(&footprint.print)
    }

    /// Learns from an apply: `after` is what came back. Where it is what the
    /// footprint was taken of, the doubt was none and is remembered; else
    /// nothing is known of the object any more.
    pub fn learn(&mut self, footprint: Footprint, after: &Object) {
        if footprint.before != digest([&lasting(after)]) {
            self.footprints.remove(&footprint.uid);
            return;
        }
        // Objects come and go, and nobody tells; whatever is still there comes back.
        if self.footprints.len() >= Self::MOST {
            self.footprints.clear();
        }
        self.footprints.insert(footprint.uid, footprint.print);
    }

    /// Returns how many objects are remembered.
    pub fn len(&self) -> usize {
        self.footprints.len()
    }

    /// Returns whether none is.
    pub fn is_empty(&self) -> bool {
        self.footprints.is_empty()
    }
}

impl Default for Settled {
    fn default() -> Self {
        Self { form: FORM, server: String::new(), footprints: BTreeMap::new() }
    }
}

/// What an apply can change. Controllers may have written the status meanwhile.
fn lasting(object: &Object) -> Value {
    let mut body = object.body().clone();
    if let Some(map) = body.as_object_mut() {
        map.remove("status");
    }
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        let managed = metadata.remove("managedFields").unwrap_or_default();
        metadata.insert("managedFields".to_owned(), timeless(managed));
    }
    body
}

/// The entries that are not about the status, without their times, by which
/// the API sorts them.
fn timeless(managed: Value) -> Value {
    let Value::Array(mut entries) = managed else { return managed };
    entries.retain(|entry| entry["subresource"] != "status");
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    entries.sort_by_cached_key(Value::to_string);
    entries.into()
}

/// Maps are sorted, so equal values have equal digests.
fn digest<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut digest = Sha256::new();
    for value in values {
        let json = value.to_string();
        digest.update(json.len().to_le_bytes());
        digest.update(json);
    }
    let bytes = digest.finalize();
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}
