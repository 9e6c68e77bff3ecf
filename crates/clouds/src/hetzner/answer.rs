//! The forms of Hetzner's answers: one thing, a page of things, actions.

use std::fmt;
use std::marker::PhantomData;

use events::Made;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Action, Listed, Resource};

/// One thing, and the actions that work on it.
pub(super) struct One<R> {
    pub resource: R,
    pub actions: Vec<Action>,
}

/// A page of a list.
pub(super) struct Page<R> {
    pub items: Vec<R>,
    /// How many there are on all pages.
    pub total: Option<u64>,
    pub next: Option<u64>,
}

/// The answer to a call that starts actions on something that is there already,
/// or says no more than that it was done.
#[derive(serde::Deserialize)]
pub(super) struct Started {
    #[serde(default)]
    action: Option<Action>,
    #[serde(default)]
    actions: Vec<Action>,
}

#[derive(Default, serde::Deserialize)]
struct Meta {
    #[serde(default)]
    pagination: Option<Pagination>,
}

#[derive(serde::Deserialize)]
struct Pagination {
    #[serde(default)]
    next_page: Option<u64>,
    #[serde(default)]
    total_entries: Option<u64>,
}

// === impl One ===

impl<R: Resource> One<R> {
    /// Returns what the journal keeps of it.
    pub(super) fn made(&self) -> Made {
        with_actions(made(&self.resource), &self.actions)
    }
}

/// Returns what the journal keeps of something that is there.
pub(super) fn made<R: Resource>(resource: &R) -> Made {
    Made::id(R::KIND.to_string(), resource.id().to_string())
}

fn with_actions(made: Made, actions: &[Action]) -> Made {
    actions.iter().fold(made, |made, action| made.action(action.id.to_string()))
}

impl<'de, R: Listed> Deserialize<'de> for One<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OneVisitor(PhantomData))
    }
}

struct OneVisitor<R>(PhantomData<R>);

impl<'de, R: Listed> Visitor<'de> for OneVisitor<R> {
    type Value = One<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", R::SINGULAR)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<One<R>, A::Error> {
        let (mut resource, mut actions) = (None, Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                key if key == R::SINGULAR => resource = Some(map.next_value()?),
                "action" => actions.extend(map.next_value::<Option<Action>>()?),
                "actions" | "next_actions" => actions.extend(map.next_value::<Vec<Action>>()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let resource = resource.ok_or_else(|| serde::de::Error::missing_field(R::SINGULAR))?;
        Ok(One { resource, actions })
    }
}

// === impl Page ===

impl<'de, R: Listed> Deserialize<'de> for Page<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PageVisitor(PhantomData))
    }
}

struct PageVisitor<R>(PhantomData<R>);

impl<'de, R: Listed> Visitor<'de> for PageVisitor<R> {
    type Value = Page<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", R::PLURAL)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Page<R>, A::Error> {
        let (mut items, mut meta) = (None, Meta::default());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                key if key == R::PLURAL => items = Some(map.next_value()?),
                "meta" => meta = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // A list that is not there is not an empty list.
        let items = items.ok_or_else(|| serde::de::Error::missing_field(R::PLURAL))?;
        let pagination = meta.pagination;
        let total = pagination.as_ref().and_then(|pagination| pagination.total_entries);
        Ok(Page { items, total, next: pagination.and_then(|pagination| pagination.next_page) })
    }
}

// === impl Started ===

impl Started {
    /// Returns what the journal keeps, of a call on `resource`.
    pub(super) fn on<R: Resource>(&self, resource: &R) -> Made {
        self.with(made(resource))
    }

    /// Returns what the journal keeps, of a call on what `made` names.
    pub(super) fn with(&self, made: Made) -> Made {
        with_actions(with_actions(made, &self.actions), self.action.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hetzner::{Id, Server, Volume};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn what_nobody_reads_is_left_out_and_null_is_no_action() {
        let answer = json!({ "root_password": "x", "action": null, "next_actions": [],
                             "volume": { "id": 5, "name": "pvc-1", "new_field": { "a": [1] } } });
        let one: One<Volume> = serde_json::from_value(answer).unwrap();
        assert_eq!((one.resource.id, one.actions.len()), (Id::new(5), 0));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z0-9./:-]{0,12}".prop_map(Value::from),
        ];
        let keys = prop_oneof![
            "[a-z_]{1,8}",
            Just("servers".to_owned()),
            Just("server".to_owned()),
            Just("meta".to_owned()),
            Just("pagination".to_owned()),
            Just("action".to_owned()),
            Just("public_net".to_owned()),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(keys.clone(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn foreign_answers_are_refused_and_never_panic(answer in any_json()) {
            let text = answer.to_string();
            let page = serde_json::from_str::<Page<Server>>(&text);
            prop_assert!(page.is_err() || answer["servers"].is_array());
            let one = serde_json::from_str::<One<Server>>(&text);
            prop_assert!(one.is_err() || answer["server"].is_object());
        }
    }
}
