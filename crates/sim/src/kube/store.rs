//! All objects, one counter of versions, and the log of what happened to them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::object;
use super::refusal::Refusal;
use super::resource::Key;

/// How many changes a watch can go back; older ones are `410 Gone`.
const REMEMBERED: usize = 20_000;

/// Where an object is: its namespace, empty for none, and its name.
pub(crate) type Spot = (String, String);

/// All objects of one cluster.
#[derive(Debug, Default)]
pub(crate) struct Store {
    objects: BTreeMap<Key, BTreeMap<Spot, Arc<Value>>>,
    revision: u64,
    log: VecDeque<Change>,
    /// The newest version that is not in the log any more.
    forgotten: u64,
}

/// One change of one object.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) key: Key,
    pub(crate) before: Option<Arc<Value>>,
    pub(crate) after: Option<Arc<Value>>,
}

impl Store {
    /// Returns the version of the newest change.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns an object.
    pub(crate) fn get(&self, key: &Key, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.objects.get(key)?.get(&(namespace.to_owned(), name.to_owned()))
    }

    /// Returns all objects of a kind, by namespace and name.
    pub(crate) fn all(&self, key: &Key) -> impl Iterator<Item = &Arc<Value>> {
        self.objects.get(key).into_iter().flat_map(BTreeMap::values)
    }

    /// Returns the kinds of which there are objects.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.objects.iter().filter(|(_, objects)| !objects.is_empty()).map(|(key, _)| key)
    }

    /// Puts an object in its place and stamps it with a new version.
    pub(crate) fn put(&mut self, key: &Key, mut value: Value) -> Arc<Value> {
        self.revision += 1;
        let text = self.revision.to_string();
        object::metadata(&mut value).insert("resourceVersion".to_owned(), text.into());
        let spot = (object::namespace(&value).to_owned(), object::name(&value).to_owned());
        let after = Arc::new(value);
        let kind = self.objects.entry(key.clone()).or_default();
        let before = kind.insert(spot, Arc::clone(&after));
        self.log(key, before, Some(Arc::clone(&after)));
        after
    }

    /// Takes an object away, and returns it as it was last.
    pub(crate) fn remove(&mut self, key: &Key, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let spot = (namespace.to_owned(), name.to_owned());
        let before = self.objects.get_mut(key)?.remove(&spot)?;
        self.revision += 1;
        self.log(key, Some(Arc::clone(&before)), None);
        Some(before)
    }

    /// Returns the changes after a version.
    pub(crate) fn since(&self, revision: u64) -> Result<impl Iterator<Item = &Change>, Refusal> {
        if revision < self.forgotten {
            let message = format!("too old resource version: {revision} ({})", self.forgotten);
            return Err(Refusal::expired(message));
        }
        // Versions in the log have no gaps.
        let skip = usize::try_from(revision - self.forgotten).unwrap_or(usize::MAX);
        Ok(self.log.iter().skip(skip))
    }

    /// Returns the objects of a kind as they were at an earlier version.
    pub(crate) fn at(
        &self,
        key: &Key,
        revision: u64,
    ) -> Result<BTreeMap<Spot, Arc<Value>>, Refusal> {
        let mut objects = self.objects.get(key).cloned().unwrap_or_default();
        let later: Vec<&Change> =
            self.since(revision)?.filter(|change| change.key == *key).collect();
        for change in later.into_iter().rev() {
            let spot = change.spot();
            match &change.before {
                Some(before) => objects.insert(spot, Arc::clone(before)),
                None => objects.remove(&spot),
            };
        }
        Ok(objects)
    }

    fn log(&mut self, key: &Key, before: Option<Arc<Value>>, after: Option<Arc<Value>>) {
        self.log.push_back(Change { revision: self.revision, key: key.clone(), before, after });
        if self.log.len() > REMEMBERED {
            self.log.pop_front();
            self.forgotten += 1;
        }
    }
}

impl Change {
    /// Returns the object as it is after the change, or was before its end.
    pub(crate) fn object(&self) -> &Arc<Value> {
        self.after.as_ref().or(self.before.as_ref()).expect("a change is of something")
    }

    fn spot(&self) -> Spot {
        let value = self.object();
        (object::namespace(value).to_owned(), object::name(value).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MAPS: Key = Key::core("configmaps");

    fn map(name: &str, value: u64) -> Value {
        json!({ "metadata": { "namespace": "a", "name": name }, "data": { "v": value } })
    }

    #[test]
    fn the_past_can_be_read_until_it_is_forgotten() {
        let mut store = Store::default();
        store.put(&MAPS, map("one", 1));
        store.put(&MAPS, map("two", 1));
        store.put(&MAPS, map("one", 2));
        store.remove(&MAPS, "a", "two");
        let then = store.at(&MAPS, 2).unwrap();
        assert_eq!(then.len(), 2);
        assert_eq!(then[&("a".to_owned(), "one".to_owned())]["data"]["v"], 1);
        assert_eq!(store.at(&MAPS, 4).unwrap().len(), 1);
        assert_eq!(store.since(3).unwrap().count(), 1);
        for value in 0..REMEMBERED as u64 {
            store.put(&MAPS, map("one", value));
        }
        assert_eq!(store.since(3).err().unwrap().code, 410);
        assert_eq!(store.since(4).unwrap().count(), REMEMBERED);
    }
}
