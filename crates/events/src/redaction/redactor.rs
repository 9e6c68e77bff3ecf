//! Replacing secrets by tokens, and counting them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

use super::forms::forms;
use crate::{Evidence, Fact, Observed, Secret, What};

/// Finds known secrets and replaces them by tokens.
///
/// Secrets may be added at any time; what was written before is not searched
/// again, so a secret is added before it is used.
pub struct Redactor {
    key: [u8; 32],
    secrets: Vec<KnownSecret>,
    /// Made when something is searched, since secrets come in bunches.
    search: OnceLock<Search>,
    removed: SecretsLedger,
}

/// How often each secret was kept from the disk, by the name it was added with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsLedger(pub BTreeMap<String, u64>);

/// A secret that is too short to be searched for: it would be found by chance
/// in texts that do not hold it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secret `{name}` has {length} bytes, and at least {} are needed to keep it out of the journal",
    Redactor::SHORTEST
)]
pub struct ShortSecret {
    name: String,
    length: usize,
}

/// Finds the forms of all secrets at once, and knows whose each is.
struct Search {
    forms: AhoCorasick,
    owners: Vec<usize>,
}

struct KnownSecret {
    name: String,
    token: String,
    forms: Vec<Vec<u8>>,
}

// === impl Redactor ===

impl Redactor {
    /// The shortest secret that can be searched for, in bytes.
    pub const SHORTEST: usize = 8;

    /// Returns whether a secret is long enough to be told from other words.
    pub fn can_hide(secret: &Secret) -> bool {
        secret.reveal().trim().len() >= Self::SHORTEST
    }

    /// A redactor that makes its tokens with the cluster's `key`.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            key,
            secrets: Vec::new(),
            search: OnceLock::new(),
            removed: SecretsLedger::default(),
        }
    }

    /// Adds a secret under the name that the ledger counts it by. One that is
    /// known already under that name is not added again: whoever tries again
    /// hides again.
    pub fn add(&mut self, name: impl Into<String>, secret: &Secret) -> Result<(), ShortSecret> {
        let (name, text) = (name.into(), secret.reveal().trim());
        if text.len() < Self::SHORTEST {
            return Err(ShortSecret { name, length: text.len() });
        }
        let token = self.token(text);
        if self.secrets.iter().any(|known| known.name == name && known.token == token) {
            return Ok(());
        }
        self.secrets.push(KnownSecret { name, token, forms: forms(text) });
        self.search = OnceLock::new();
        Ok(())
    }

    /// Returns what was kept from the disk so far.
    pub fn removed(&self) -> &SecretsLedger {
        &self.removed
    }

    /// Replaces typed secrets in the evidence of an event.
    pub fn hide_typed(&mut self, what: &mut What) {
        if let Some(evidence) = what.evidence_mut() {
            self.hide_facts(evidence);
        }
    }

    /// Returns whether `bytes` give any known secret away.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.search().forms.is_match(bytes)
    }

    /// Replaces every known secret in `bytes`.
    pub fn hide_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let search = self.search.get_or_init(|| Search::of(&self.secrets));
        let mut hidden = Vec::with_capacity(bytes.len());
        search.forms.replace_all_with_bytes(bytes, &mut hidden, |found, _, out| {
            let secret = &self.secrets[search.owners[found.pattern().as_usize()]];
            out.extend_from_slice(secret.token.as_bytes());
            *self.removed.0.entry(secret.name.clone()).or_default() += 1;
            true
        });
        hidden
    }

    /// Replaces every known secret in the texts and keys of a JSON value.
    pub fn hide_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_value(item)),
            Value::Object(entries) => {
                *entries = std::mem::take(entries)
                    .into_iter()
                    .map(|(key, mut entry)| {
                        self.hide_value(&mut entry);
                        (self.hide_text(&key), entry)
                    })
                    .collect();
            }
            // A secret of digits may travel as a number.
            Value::Number(number) if self.finds(number.to_string().as_bytes()) => {
                *value = Value::String(self.hide_text(&number.to_string()));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn hide_text(&mut self, text: &str) -> String {
        if !self.finds(text.as_bytes()) {
            return text.to_owned();
        }
        String::from_utf8_lossy(&self.hide_bytes(text.as_bytes())).into_owned()
    }

    fn hide_facts(&mut self, evidence: &mut Evidence) {
        for Fact { name, value } in &mut evidence.facts {
            if let Observed::Secret(secret) = value {
                let token = self.token(secret.reveal());
                *value = Observed::Plain(Value::from(token));
                *self.removed.0.entry(name.clone()).or_default() += 1;
            }
        }
    }

    fn token(&self, secret: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes any key");
        mac.update(secret.as_bytes());
        let tag = mac.finalize().into_bytes();
        let short = u32::from_be_bytes([tag[0], tag[1], tag[2], tag[3]]);
        format!("«secret:{short:08x}»")
    }

    fn search(&self) -> &Search {
        self.search.get_or_init(|| Search::of(&self.secrets))
    }
}

// === impl Search ===

impl Search {
    /// Leftmost-longest, so that a secret that begins with another one is
    /// replaced as a whole.
    fn of(secrets: &[KnownSecret]) -> Self {
        let patterns = secrets.iter().enumerate();
        let (owners, forms): (Vec<_>, Vec<_>) = patterns
            .flat_map(|(owner, secret)| secret.forms.iter().map(move |form| (owner, form)))
            .unzip();
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms);
        let forms = search.expect("some thousands of short patterns can be built");
        Self { forms, owners }
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.secrets.iter().map(|secret| &secret.name).collect();
        f.debug_struct("Redactor").field("secrets", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    fn redactor(secret: &str) -> Redactor {
        let mut redactor = Redactor::new([7; 32]);
        redactor.add("canary", &Secret::new(secret)).unwrap();
        redactor
    }

    #[test]
    fn a_secret_that_is_added_again_is_known_once() {
        let mut redactor = redactor("swordfish");
        redactor.add("canary", &Secret::new("swordfish")).unwrap();
        redactor.add("another name", &Secret::new("swordfish")).unwrap();
        assert_eq!(redactor.secrets.len(), 2);
        assert!(redactor.finds(b"a swordfish"));
        redactor.add("late", &Secret::new("barracuda")).unwrap();
        assert!(redactor.finds(b"a barracuda"), "what comes later is found, too");
    }

    #[test]
    fn every_form_becomes_the_same_token() {
        let secret = "p\"ss/w+rd \u{e4} 42";
        let json = serde_json::to_string(secret).unwrap();
        let texts = [
            secret.to_owned(),
            json.clone(),
            serde_json::to_string(&json).unwrap(),
            STANDARD.encode(format!("user:{secret}@host")),
            "p%22ss%2Fw%2Brd%20%C3%A4%2042".to_owned(),
            "p%22ss%2fw%2brd%20%c3%a4%2042".to_owned(),
        ];
        for text in texts {
            let mut redactor = redactor(secret);
            let hidden = String::from_utf8(redactor.hide_bytes(text.as_bytes())).unwrap();
            assert!(hidden.contains(&redactor.token(secret)), "{text} → {hidden}");
            assert!(!redactor.finds(hidden.as_bytes()), "{text} → {hidden}");
            assert_eq!(redactor.removed().0["canary"], 1);
        }
    }

    #[test]
    fn what_gos_encoder_and_forms_write_is_found() {
        let secret = "a&b <c> \u{e4}=42";
        let texts = [
            r"a\u0026b \u003cc\u003e \u00e4=42",
            r"a\u0026b \u003cc\u003e ä=42",
            r"a&b <c> \u00e4=42",
            r"a\\u0026b \\u003cc\\u003e ä=42",
            "a%26b+%3Cc%3E+%C3%A4%3D42",
            "a&b+%3cc%3e+%c3%a4=42",
        ];
        for text in texts {
            let hidden = redactor(secret).hide_bytes(format!("x {text} y").as_bytes());
            let hidden = String::from_utf8(hidden).unwrap();
            assert!(
                hidden.starts_with("x «secret:") && hidden.ends_with("» y"),
                "{text} → {hidden}"
            );
        }
    }

    #[test]
    fn a_secret_of_digits_is_found_as_a_number() {
        let mut value = serde_json::json!({"pin": 12_345_678_901_u64, "port": 6443});
        redactor("12345678901").hide_value(&mut value);
        assert!(value["pin"].as_str().unwrap().starts_with("«secret:"), "{value}");
        assert_eq!(value["port"], 6443);
    }

    #[test]
    fn a_secret_that_begins_with_another_is_replaced_as_a_whole() {
        let mut redactor = redactor("12345678");
        redactor.add("longer", &Secret::new("12345678abc")).unwrap();
        let hidden = String::from_utf8(redactor.hide_bytes(b"x 12345678abc y")).unwrap();
        assert!(hidden.starts_with("x «secret:") && hidden.ends_with("» y"), "{hidden}");
    }

    #[test]
    fn tokens_differ_between_clusters_and_agree_within_one() {
        let [one, other] = [[1; 32], [2; 32]].map(Redactor::new);
        assert_eq!(one.token("correct horse"), Redactor::new([1; 32]).token("correct horse"));
        assert_ne!(one.token("correct horse"), other.token("correct horse"));
    }

    #[test]
    fn short_secrets_are_refused_by_name() {
        let error = Redactor::new([0; 32]).add("pin", &Secret::new("1234")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the secret `pin` has 4 bytes, and at least 8 are needed to keep it out of the journal"
        );
    }

    #[test]
    fn keys_and_deep_values_are_searched() {
        let mut value = serde_json::json!({"hunter22-key": [{"a": "x hunter22 y"}, 7, null]});
        redactor("hunter22").hide_value(&mut value);
        assert!(!value.to_string().contains("hunter22"), "{value}");
    }

    proptest! {
        #[test]
        fn nothing_is_left_and_nothing_else_is_touched(
            before in "[ -~]{0,30}", secret in "[A-Z0-9]{12,40}", after in "[a-z ]{0,30}"
        ) {
            prop_assume!(!before.contains(&secret));
            let mut redactor = redactor(&secret);
            let hidden = redactor.hide_bytes(format!("{before}{secret}{after}").as_bytes());
            prop_assert!(!redactor.finds(&hidden));
            let hidden = String::from_utf8(hidden).unwrap();
            prop_assert!(hidden.ends_with(&after), "{hidden}");
        }
    }
}
