//! Reading many objects at once.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{Place, State};
use crate::kube::object;
use crate::kube::refusal::Refusal;
use crate::kube::selector::Selector;

/// Which objects a list is of.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    pub(crate) selector: Selector,
    /// At most so many; all where it is zero.
    pub limit: usize,
    /// Where the list before this one ended.
    pub proceed: String,
    /// The version to list at.
    pub resource_version: String,
    /// How that version is meant: `Exact` or `NotOlderThan`.
    pub version_match: String,
}

/// Objects, as they were at one version.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// The objects, by namespace and name.
    pub items: Vec<Arc<Value>>,
    /// The version.
    pub revision: u64,
    /// Where to go on; empty at the end.
    pub proceed: String,
    /// How many are left, where that is known.
    pub remaining: Option<usize>,
}

impl State {
    /// Lists objects.
    pub(crate) fn list(&self, place: &Place, options: &ListOptions) -> Result<Listed, Refusal> {
        let newest = self.store.revision();
        let token = Token::read(&options.proceed)?;
        let asked = options.asked()?;
        if asked > newest {
            return Err(Refusal::too_new(asked, newest));
        }
        let revision = match &token {
            Some(token) => token.revision,
            None if options.version_match == "Exact" => asked,
            None => newest,
        };
        let start = token.map(|token| token.after).unwrap_or_default();
        let mut items = self.wanted(place, options, revision, &start)?;
        let mut listed = Listed { revision, ..Listed::default() };
        if options.limit > 0 && items.len() > options.limit {
            let left = items.len() - options.limit;
            items.truncate(options.limit);
            let last = items.last().map(|one| spot(one)).unwrap_or_default();
            listed.proceed = Token { revision, after: last }.text();
            listed.remaining = options.selector.is_empty().then_some(left);
        }
        listed.items = items;
        Ok(listed)
    }

    fn wanted(
        &self,
        place: &Place,
        options: &ListOptions,
        revision: u64,
        start: &(String, String),
    ) -> Result<Vec<Arc<Value>>, Refusal> {
        let matches = |one: &Arc<Value>| {
            (place.namespace.is_empty() || object::namespace(one) == place.namespace)
                && spot(one) > *start
                && options.selector.matches(one)
        };
        if revision == self.store.revision() {
            return Ok(self.store.all(place.key()).filter(|one| matches(one)).cloned().collect());
        }
        let then = self.store.at(place.key(), revision)?;
        Ok(then.into_values().filter(matches).collect())
    }
}

impl ListOptions {
    fn asked(&self) -> Result<u64, Refusal> {
        let text = self.resource_version.as_str();
        if text.is_empty() {
            return Ok(0);
        }
        text.parse().map_err(|_| {
            Refusal::bad_request(format!("invalid resource version \"{text}\": not a number"))
        })
    }
}

/// What a `continue` token says.
struct Token {
    revision: u64,
    after: (String, String),
}

impl Token {
    fn text(&self) -> String {
        let (namespace, name) = &self.after;
        let token = json!({ "v": "meta.k8s.io/v1", "rv": self.revision, "start": format!("{namespace}/{name}") });
        URL_SAFE_NO_PAD.encode(token.to_string())
    }

    fn read(text: &str) -> Result<Option<Self>, Refusal> {
        if text.is_empty() {
            return Ok(None);
        }
        let read = || {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let token: Value = serde_json::from_slice(&bytes).ok()?;
            let (namespace, name) = token["start"].as_str()?.split_once('/')?;
            let after = (namespace.to_owned(), name.to_owned());
            Some(Self { revision: token["rv"].as_u64()?, after })
        };
        let token = read().ok_or_else(|| Refusal::bad_request("continue key is not valid"))?;
        Ok(Some(token))
    }
}

fn spot(object: &Value) -> (String, String) {
    (object::namespace(object).to_owned(), object::name(object).to_owned())
}
